import { DurableObject } from 'cloudflare:workers'
import type { AgentPage, OwnedPage, OwnerStore } from './owner-store.ts'
import type { Ids, Owners } from './owner-table.ts'
import type { PagePosition } from './page-tokens.ts'

/**
 * The Durable Object that knows who started the tasks and contexts of one agent; its name is the agent's id. Every start of the
 * Worker evaluates this class, so its code is in a module of its own.
 */
export class TaskOwners extends DurableObject<Env> {
  readonly #store: Promise<OwnerStore> = import('./owner-store.ts').then(
    ({ OwnerStore }) => new OwnerStore(this.ctx.storage),
  )

  /** See `OwnerStore.use`. */
  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    return (await this.#store).use(caller, ids, claim)
  }

  /** See `OwnerStore.record`. */
  async record(caller: string, ids: Ids): Promise<Owners | null> {
    return (await this.#store).record(caller, ids)
  }

  /** See `OwnerStore.page`. */
  async page(caller: string, page: AgentPage): Promise<OwnedPage> {
    return (await this.#store).page(caller, page)
  }

  /** See `OwnerStore.openPage`. */
  async openPage(caller: string, pageToken: string): Promise<PagePosition | null> {
    return (await this.#store).openPage(caller, pageToken)
  }

  /** See `OwnerStore.clear`. */
  async clear(): Promise<void> {
    return (await this.#store).clear()
  }

  /** See `OwnerStore.release`. */
  async release(): Promise<void> {
    return (await this.#store).release()
  }

  /** See `OwnerStore.alarm`. */
  override async alarm(): Promise<void> {
    return (await this.#store).alarm()
  }
}
