import { DurableObject } from 'cloudflare:workers'
import type { Ids, Owners, OwnerTable } from './owner-table.ts'
import type { PagePosition } from './page-tokens.ts'

/** Which of the tasks on a page the caller may see, how many the caller has in all, and the token of the next page. */
export type OwnedPage = { own: string[]; total: number; nextPageToken: string }

const ALARM_INTERVAL_MS = 24 * 60 * 60 * 1000

/** The name of the key for page tokens in the object's storage. */
const PAGE_KEY = 'page-key'

/**
 * The Durable Object that knows who started the tasks and contexts of one agent; its name is the agent's id. Every start of the
 * Worker evaluates this class, so it loads its code with the first call.
 */
export class TaskOwners extends DurableObject<Env> {
  #table: OwnerTable | undefined
  #hasAlarm = false

  /** Returns whose the ids are, if the caller may use all of them; else null. With `claim`, unknown contexts become the caller's. */
  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    const table = await this.#load()
    if (claim) await this.#ensureAlarm()
    return table.use(caller, ids, claim) ?? null
  }

  /** Makes tasks and contexts that the agent started the caller's. Returns null if a task is another caller's. */
  async record(caller: string, ids: Ids): Promise<Owners | null> {
    const table = await this.#load()
    await this.#ensureAlarm()
    return table.record(caller, ids) ?? null
  }

  /** Returns what a caller may see of a page of the agent's tasks. `next` is the agent's token; `seen` counts the pages before. */
  async page(caller: string, tasks: string[], next: PagePosition): Promise<OwnedPage> {
    const { own, total } = (await this.#load()).own(caller, tasks)
    const position = { token: next.token, seen: next.seen + own.length }
    // The number of further pages would show how many tasks the others have.
    const isLast = position.token === '' || position.seen >= total
    if (isLast) return { own, total, nextPageToken: '' }
    const { sealPageToken } = await import('./page-tokens.ts')
    return { own, total, nextPageToken: await sealPageToken(await this.#pageKey(), caller, position) }
  }

  /** Returns where a page begins; null if the token is not this caller's. */
  async openPage(caller: string, pageToken: string): Promise<PagePosition | null> {
    const { openPageToken } = await import('./page-tokens.ts')
    const key = await this.#storedPageKey()
    return (key && (await openPageToken(key, caller, pageToken))) ?? null
  }

  /** Deletes everything: the agent was removed. */
  async clear(): Promise<void> {
    await this.ctx.storage.deleteAlarm()
    await this.ctx.storage.deleteAll()
    this.#table = undefined
    this.#hasAlarm = false
  }

  /** Deletes what was not used for too long. */
  override async alarm(): Promise<void> {
    this.#hasAlarm = false
    if ((await this.#load()).deleteExpired(Date.now())) await this.#ensureAlarm()
  }

  async #load(): Promise<OwnerTable> {
    const { OwnerTable } = await import('./owner-table.ts')
    this.#table ??= new OwnerTable(this.ctx.storage.sql)
    return this.#table
  }

  async #ensureAlarm(): Promise<void> {
    if (this.#hasAlarm) return
    this.#hasAlarm = true
    if ((await this.ctx.storage.getAlarm()) === null) await this.ctx.storage.setAlarm(Date.now() + ALARM_INTERVAL_MS)
  }

  async #pageKey(): Promise<Uint8Array<ArrayBuffer>> {
    const stored = await this.#storedPageKey()
    if (stored) return stored
    const key = crypto.getRandomValues(new Uint8Array(32))
    await this.ctx.storage.put(PAGE_KEY, key)
    return key
  }

  #storedPageKey(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    return this.ctx.storage.get<Uint8Array<ArrayBuffer>>(PAGE_KEY)
  }
}
