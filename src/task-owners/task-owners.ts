import { DurableObject } from 'cloudflare:workers'
import type { OwnerStore } from './owner-store.ts'

/**
 * The Durable Object that knows who started the tasks and contexts of one agent; its name is the agent's id. Every start of the
 * Worker evaluates this class, so it loads its store with the first call.
 */
export class TaskOwners extends DurableObject<Env> {
  #store: OwnerStore | undefined

  /** See `OwnerStore.use`. */
  async use(...args: Parameters<OwnerStore['use']>): ReturnType<OwnerStore['use']> {
    return (await this.#load()).use(...args)
  }

  /** See `OwnerStore.record`. */
  async record(...args: Parameters<OwnerStore['record']>): ReturnType<OwnerStore['record']> {
    return (await this.#load()).record(...args)
  }

  /** See `OwnerStore.page`. */
  async page(...args: Parameters<OwnerStore['page']>): ReturnType<OwnerStore['page']> {
    return (await this.#load()).page(...args)
  }

  /** See `OwnerStore.openPage`. */
  async openPage(...args: Parameters<OwnerStore['openPage']>): ReturnType<OwnerStore['openPage']> {
    return (await this.#load()).openPage(...args)
  }

  /** See `OwnerStore.clear`. */
  async clear(): Promise<void> {
    return (await this.#load()).clear()
  }

  /** See `OwnerStore.alarm`. */
  override async alarm(): Promise<void> {
    return (await this.#load()).alarm()
  }

  async #load(): Promise<OwnerStore> {
    const { OwnerStore } = await import('./owner-store.ts')
    this.#store ??= new OwnerStore(this.ctx.storage)
    return this.#store
  }
}
