import { base64url } from 'jose'
import { Alarm } from '../../registry/index.ts'
import { EXPIRY_INTERVAL_MS, type Ids, type Owners, OwnerTable, RELEASE_MS } from './owner-table.ts'

/** The beginning of a page of a caller's tasks. */
export type PagePosition = {
  /** The token of the agent's page; empty for its first. */
  token: string
  /** The number of the caller's own tasks on that page that were on earlier pages of the caller. */
  skip: number
  /** The number of tasks on all earlier pages of the caller. */
  seen: number
}

/** A page of the agent's tasks: their ids, the agent's token of the next one, and the part that the caller gets. */
export type AgentPage = { tasks: string[]; next: string; position: PagePosition; size: number }

/** The tasks on a page that the caller sees, the number of tasks on all pages, and the token of the next page. */
type OwnedPage = { own: string[]; totalSize: number; nextPageToken: string }

/** The name of the key for page tokens. */
const PAGE_KEY = 'page-key'

const IV_BYTES = 12

/** The owners of an agent's tasks in a Durable Object: the table, the key for page tokens and a daily alarm. */
export class OwnerStore {
  readonly #storage: DurableObjectStorage
  #table: OwnerTable
  readonly #alarm: Alarm

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage
    this.#alarm = new Alarm(storage)
    this.#table = new OwnerTable(storage.sql)
  }

  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    if (claim) await this.#alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return this.#table.use(caller, ids, claim)
  }

  async record(caller: string, ids: Ids): Promise<Owners | null> {
    await this.#alarm.wakeAt(Date.now() + EXPIRY_INTERVAL_MS)
    return this.#table.record(caller, ids)
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
    return { own: shown, totalSize, nextPageToken: isLast ? '' : await this.#encrypt(after, caller) }
  }

  /** Returns where a page begins; null if the token is not this caller's. */
  async openPage(caller: string, pageToken: string): Promise<PagePosition | null> {
    const key = await this.#storage.get<Uint8Array<ArrayBuffer>>(PAGE_KEY)
    if (key === undefined) return null
    try {
      const bytes = base64url.decode(pageToken)
      const algorithm = algorithmFor(caller, bytes.slice(0, IV_BYTES))
      const text = await crypto.subtle.decrypt(algorithm, await importKey(key), bytes.slice(IV_BYTES))
      return JSON.parse(new TextDecoder().decode(text)) as PagePosition
    } catch {
      return null
    }
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

  /** Encrypts a position for one caller: the agent's token often contains the id of a task of another caller. */
  async #encrypt(position: PagePosition, caller: string): Promise<string> {
    const stored = await this.#storage.get<Uint8Array<ArrayBuffer>>(PAGE_KEY)
    const key = stored ?? crypto.getRandomValues(new Uint8Array(32))
    if (!stored) await this.#storage.put(PAGE_KEY, key)
    const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES))
    const text = new TextEncoder().encode(JSON.stringify(position))
    const encrypted = await crypto.subtle.encrypt(algorithmFor(caller, iv), await importKey(key), text)
    return base64url.encode(new Uint8Array([...iv, ...new Uint8Array(encrypted)]))
  }
}

const algorithmFor = (caller: string, iv: Uint8Array<ArrayBuffer>) => ({
  name: 'AES-GCM',
  iv,
  additionalData: new TextEncoder().encode(caller),
})

const importKey = (key: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])
