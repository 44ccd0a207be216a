import { DurableObject } from 'cloudflare:workers'
import type { AgentPage, OwnedPage, OwnerStore, PagePosition } from './owner-store.ts'
import type { Ids, Owners } from './owner-table.ts'

/**
 * Knows who started the tasks and contexts of one agent, whose id is the name of this Durable Object. Every start of
 * the Worker evaluates this class, so its code is in `OwnerStore`.
 */
export class TaskOwners extends DurableObject<Env> {
  readonly #store: Promise<OwnerStore> = import('./owner-store.ts').then(
    ({ OwnerStore }) => new OwnerStore(this.ctx.storage),
  )

  async use(caller: string, ids: Ids, claim: boolean): Promise<Owners | null> {
    return (await this.#store).use(caller, ids, claim)
  }

  async record(caller: string, ids: Ids): Promise<Owners | null> {
    return (await this.#store).record(caller, ids)
  }

  async page(caller: string, page: AgentPage): Promise<OwnedPage> {
    return (await this.#store).page(caller, page)
  }

  async openPage(caller: string, pageToken: string): Promise<PagePosition | null> {
    return (await this.#store).openPage(caller, pageToken)
  }

  async clear(): Promise<void> {
    return (await this.#store).clear()
  }

  async release(): Promise<void> {
    return (await this.#store).release()
  }

  override async alarm(): Promise<void> {
    return (await this.#store).alarm()
  }
}
