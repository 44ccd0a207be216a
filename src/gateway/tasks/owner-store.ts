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

/** The owners of an agent's tasks in a Durable Object: the table, the key for page tokens and a daily alarm. */
export class OwnerStore {
  readonly #storage: DurableObjectStorage
  readonly #alarm: Alarm
  #table: OwnerTable
  readonly #started: Started[] = []
  #recording: Promise<boolean[]> | undefined

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#alarm = new Alarm(storage)
    this.#table = new OwnerTable(storage.sql)
  }

  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    if (claim) await this.#alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return this.#table.use(caller, ids, claim)
  }

  /** Records ids together with those of all responses that wait: they share a statement, and its commit. */
  async record(caller: string, ids: Ids): Promise<boolean> {
    const index = this.#started.push({ caller, ids }) - 1
    this.#recording ??= this.#recordStarted()
    return (await this.#recording)[index] === true
  }

  /** Returns what a caller may see of a page of the agent's tasks. */
  async page(caller: string, { tasks, next, position, size }: AgentPage): Promise<OwnedPage> {
    const { token, skip, seen } = position
    const { own, total } = this.#table.own(caller, tasks)
    const shown = own.slice(skip, skip + size)
    const isWithin = skip + size < own.length
    const after = { token: isWithin ? token : next, skip: isWithin ? skip + size : 0, seen: seen + shown.length }
    // How many tasks match a filter is known only where the agent has one page.
    const totalSize = token === '' && next === '' ? own.length : total
    // Once the caller has seen all of its tasks, further pages would only show how many the others have.
    const isLast = (after.token === '' && after.skip === 0) || after.seen >= total
    return { own: shown, totalSize, nextPageToken: isLast ? '' : await this.#encrypt(after, caller) }
  }

  /** Returns where a page begins; null if the token is not this caller's. */
  async openPage(caller: string, pageToken: string): Promise<PagePosition | null> {
    const key = await this.#storage.get<Bytes>(PAGE_KEY)
    return key === undefined ? null : ((await decryptFor<PagePosition>(caller, pageToken, key)) ?? null)
  }

  /** Deletes everything: the agent was removed. */
  async clear(): Promise<void> {
    await this.#storage.deleteAlarm()
    await this.#storage.deleteAll()
    this.#table = new OwnerTable(this.#storage.sql)
    this.#alarm.clear()
  }

  /** Releases all tasks and contexts, for an agent that uses its ids again. */
  async release(): Promise<void> {
    await this.#alarm.wakeAt(this.#table.release(Date.now()))
  }

  /** Deletes ids that are unused or were released for too long. */
  async alarm(): Promise<void> {
    this.#alarm.clear()
    const next = this.#table.deleteExpired(Date.now())
    if (next !== undefined) await this.#alarm.wakeAt(next)
  }

  async #recordStarted(): Promise<boolean[]> {
    // The requests that have arrived come before a timer.
    await new Promise(resolve => setTimeout(resolve, 0))
    const started = this.#started.splice(0)
    this.#recording = undefined
    await this.#alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return this.#table.record(started)
  }

  /** Encrypts a position for one caller: the agent's token often contains the id of a task of another caller. */
  async #encrypt(position: PagePosition, caller: string): Promise<string> {
    const stored = await this.#storage.get<Bytes>(PAGE_KEY)
    const key = stored ?? crypto.getRandomValues(new Uint8Array(32))
    if (!stored) await this.#storage.put(PAGE_KEY, key)
    return encryptFor(caller, position, key)
  }
}
