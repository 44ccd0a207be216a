import { type Bytes, decryptFor, encryptFor } from '../../auth/index.ts'
import { Alarm } from '../../registry/index.ts'
import { EXPIRY_INTERVAL_MS, type Ids, type Owners, OwnerTable, type Started } from './owner-table.ts'

/**
 * The beginning of a page of a caller's tasks: the token of the agent's page, empty for its first; how many of the
 * caller's own tasks on that page were on earlier pages of the caller; and the number of tasks on all earlier pages.
 */
export type PagePosition = { token: string; skip: number; seen: number }

/** A page of the agent's tasks: their ids, the agent's token of the next one, and the part that the caller gets. */
export type AgentPage = { tasks: string[]; next: string; position: PagePosition; size: number }

/** The tasks on a page that the caller sees, the number of tasks on all pages, and the token of the next page. */
type OwnedPage = { own: string[]; totalSize: number; nextPageToken: string }

const PAGE_KEY = 'page-key'

/** Creates the owners of an agent's tasks in a Durable Object: the table, the key for page tokens and a daily alarm. */
export const createOwnerStore = (storage: DurableObjectStorage) => {
  const alarm = new Alarm(storage)
  let table = new OwnerTable(storage.sql)
  const started: Started[] = []
  let recording: Promise<boolean[]> | undefined

  const recordStarted = async (): Promise<boolean[]> => {
    // The requests that have arrived come before a timer.
    await new Promise(resolve => setTimeout(resolve, 0))
    const recorded = started.splice(0)
    recording = undefined
    await alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return table.record(recorded)
  }

  /** Encrypts a position for one caller: the agent's token often contains the id of a task of another caller. */
  const encrypt = async (position: PagePosition, caller: string): Promise<string> => {
    const stored = await storage.get<Bytes>(PAGE_KEY)
    const key = stored ?? crypto.getRandomValues(new Uint8Array(32))
    if (!stored) await storage.put(PAGE_KEY, key)
    return encryptFor(caller, position, key)
  }

  return {
    use: async (caller: string, ids: Ids, claim: boolean): Promise<Owners | null> => {
      if (claim) await alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
      return table.use(caller, ids, claim)
    },
    /** Records ids together with those of all responses that wait: they share a statement, and its commit. */
    record: async (caller: string, ids: Ids): Promise<boolean> => {
      const index = started.push({ caller, ids }) - 1
      recording ??= recordStarted()
      return (await recording)[index] === true
    },
    /** Returns what a caller may see of a page of the agent's tasks. */
    page: async (caller: string, { tasks, next, position, size }: AgentPage): Promise<OwnedPage> => {
      const { token, skip, seen } = position
      const { own, total } = table.own(caller, tasks)
      const shown = own.slice(skip, skip + size)
      const isWithin = skip + size < own.length
      const after = { token: isWithin ? token : next, skip: isWithin ? skip + size : 0, seen: seen + shown.length }
      // How many tasks match a filter is known only where the agent has one page.
      const totalSize = token === '' && next === '' ? own.length : total
      // Once the caller has seen all of its tasks, further pages would only show how many the others have.
      const isLast = (after.token === '' && after.skip === 0) || after.seen >= total
      return { own: shown, totalSize, nextPageToken: isLast ? '' : await encrypt(after, caller) }
    },
    /** Returns where a page begins; null if the token is not this caller's. */
    openPage: async (caller: string, pageToken: string): Promise<PagePosition | null> => {
      const key = await storage.get<Bytes>(PAGE_KEY)
      return key === undefined ? null : ((await decryptFor<PagePosition>(caller, pageToken, key)) ?? null)
    },
    /** Deletes everything: the agent was removed. */
    clear: async (): Promise<void> => {
      await storage.deleteAlarm()
      await storage.deleteAll()
      table = new OwnerTable(storage.sql)
      alarm.clear()
    },
    /** Releases all tasks and contexts, for an agent that uses its ids again. */
    release: async (): Promise<void> => alarm.wakeAt(table.release(Date.now())),
    /** Deletes ids that are unused or were released for too long. */
    alarm: async (): Promise<void> => {
      alarm.clear()
      const next = table.deleteExpired(Date.now())
      if (next !== undefined) await alarm.wakeAt(next)
    },
  }
}

/** The owners of an agent's tasks, as its object offers them. */
export type OwnerStore = ReturnType<typeof createOwnerStore>
