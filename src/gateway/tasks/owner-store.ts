import { Alarm } from '../../registry/index.ts'
import { EXPIRY_INTERVAL_MS, type Ids, type Owners, OwnerTable, RELEASE_MS } from './owner-table.ts'
import { openPageToken, type PagePosition, sealPageToken } from './page-tokens.ts'

/** A page of the agent's tasks: their ids, the agent's token of the next one, and of which part `size` tasks are for the caller. */
export type AgentPage = { tasks: string[]; next: string; position: PagePosition; size: number }

/** Which of these tasks the caller sees, how many there are on all pages, and the token of the next page. */
export type OwnedPage = { own: string[]; totalSize: number; nextPageToken: string }

/** The name of the key for page tokens. */
const PAGE_KEY = 'page-key'

/** What a Durable Object stores about the owners of an agent's tasks: the table, the key for page tokens and a daily alarm. */
export class OwnerStore {
  readonly #storage: DurableObjectStorage
  #table: OwnerTable
  readonly #alarm: Alarm

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#alarm = new Alarm(storage)
    this.#table = new OwnerTable(storage.sql)
  }

  /** Returns whose the ids are, if the caller may use all of them; else null. With `claim`, an unknown context becomes the caller's. */
  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    if (claim) await this.#alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return this.#table.use(caller, ids, claim) ?? null
  }

  /** Makes tasks and contexts that the agent started the caller's. Returns null if one is another caller's. */
  async record(caller: string, ids: Ids): Promise<Owners | null> {
    await this.#alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return this.#table.record(caller, ids) ?? null
  }

  /** Returns what a caller may see of a page of the agent's tasks. */
  async page(caller: string, { tasks, next, position, size }: AgentPage): Promise<OwnedPage> {
    const { token, skip, seen } = position
    const { own, total } = this.#table.own(caller, tasks)
    const shown = own.slice(skip, skip + size)
    const following = skip + size < own.length ? { token, skip: skip + size } : { token: next, skip: 0 }
    const after = { ...following, seen: seen + shown.length }
    // How many tasks match a filter is known only where the agent has one page.
    const totalSize = token === '' && next === '' ? own.length : total
    // Once the caller has seen every task of theirs, further pages would only show how many the others have.
    const isLast = (after.token === '' && after.skip === 0) || after.seen >= total
    return {
      own: shown,
      totalSize,
      nextPageToken: isLast ? '' : await sealPageToken(await this.#pageKey(), caller, after),
    }
  }

  /** Returns where a page begins; null if the token is not this caller's. */
  async openPage(caller: string, pageToken: string): Promise<PagePosition | null> {
    const key = await this.#storedPageKey()
    return (key && (await openPageToken(key, caller, pageToken))) ?? null
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
    this.#table.release(Date.now())
    await this.#alarm.wakeAt(Date.now() + RELEASE_MS)
  }

  /** Deletes ids that are unused or were released for too long. */
  async alarm(): Promise<void> {
    this.#alarm.clear()
    const next = this.#table.deleteExpired(Date.now())
    if (next !== undefined) await this.#alarm.wakeAt(next)
  }

  async #pageKey(): Promise<Uint8Array<ArrayBuffer>> {
    const stored = await this.#storedPageKey()
    if (stored) return stored
    const key = crypto.getRandomValues(new Uint8Array(32))
    await this.#storage.put(PAGE_KEY, key)
    return key
  }

  #storedPageKey(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.#storage.get<Uint8Array<ArrayBuffer>>(PAGE_KEY)
  }
}
