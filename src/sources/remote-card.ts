import { DurableObject } from 'cloudflare:workers'
import type { RefreshOptions, RefreshReport } from './refresh.ts'
import type { RefreshQueue } from './refresh-queue.ts'

/**
 * The Durable Object that refreshes the remote card of one agent; its name is the agent's id. Its alarm fires when the card is due. Every
 * start of the Worker evaluates this class, so its code is in a module of its own.
 */
export class RemoteCard extends DurableObject<Env> {
  readonly #queue: Promise<RefreshQueue> = import('./refresh-queue.ts').then(
    ({ RefreshQueue }) => new RefreshQueue(this.ctx, this.env),
  )

  /** See `RefreshQueue.schedule`. */
  async schedule(id: string, due: number | null): Promise<void> {
    return (await this.#queue).schedule(id, due)
  }

  /** See `RefreshQueue.refresh`. */
  async refresh(id: string, options: RefreshOptions = {}): Promise<RefreshReport> {
    return (await this.#queue).refresh(id, options)
  }

  /** See `RefreshQueue.alarm`. */
  override async alarm(): Promise<void> {
    return (await this.#queue).alarm()
  }
}
