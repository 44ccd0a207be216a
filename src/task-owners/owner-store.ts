import { type Ids, type Owners, OwnerTable } from './owner-table.ts'
import { openPageToken, type PagePosition, sealPageToken } from './page-tokens.ts'

/** Which of the tasks on a page the caller may see, how many the caller has in all, and the token of the next page. */
export type OwnedPage = { own: string[]; total: number; nextPageToken: string }

const ALARM_INTERVAL_MS = 24 * 60 * 60 * 1000

/** The name of the key for page tokens. */
const PAGE_KEY = 'page-key'

/** What a Durable Object stores about the owners of an agent's tasks: the table, the key for page tokens and a daily alarm. */
export class OwnerStore {
  readonly #storage: DurableObjectStorage
  #table: OwnerTable
  #hasAlarm = false

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#table = new OwnerTable(storage.sql)
  }

  /** Returns whose the ids are, if the caller may use all of them; else null. With `claim`, an unknown context becomes the caller's. */
  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    if (claim) await this.#ensureAlarm()
    return this.#table.use(caller, ids, claim) ?? null
  }

  /** Makes tasks and contexts that the agent started the caller's. Returns null if one is another caller's. */
  async record(caller: string, ids: Ids): Promise<Owners | null> {
    await this.#ensureAlarm()
    return this.#table.record(caller, ids) ?? null
  }

  /** Returns what a caller may see of a page of the agent's tasks. `next` is the agent's token; `seen` counts the pages before. */
  async page(caller: string, tasks: string[], next: PagePosition): Promise<OwnedPage> {
    const { own, total } = this.#table.own(caller, tasks)
    const position = { token: next.token, seen: next.seen + own.length }
    // The number of further pages would show how many tasks the others have.
    const isLast = position.token === '' || position.seen >= total
    return { own, total, nextPageToken: isLast ? '' : await sealPageToken(await this.#pageKey(), caller, position) }
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
    this.#hasAlarm = false
  }

  /** Deletes what was not used for too long. */
  async alarm(): Promise<void> {
    this.#hasAlarm = false
    if (this.#table.deleteExpired(Date.now())) await this.#ensureAlarm()
  }

  async #ensureAlarm(): Promise<void> {
    if (this.#hasAlarm) return
    this.#hasAlarm = true
    if ((await this.#storage.getAlarm()) === null) await this.#storage.setAlarm(Date.now() + ALARM_INTERVAL_MS)
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
