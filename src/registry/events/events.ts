import { DurableObject } from 'cloudflare:workers'
import type { StoredChange, WebhookHealth } from '../records.ts'
import type { EventFeed, Socket } from './feed.ts'

/**
 * The Durable Object that sends changes to event streams and to the webhook. Every start evaluates this class, so its code is in a module
 * of its own.
 */
export class Events extends DurableObject<Env> {
  readonly #feed: Promise<EventFeed> = import('./feed.ts').then(({ EventFeed }) => new EventFeed(this.ctx, this.env))

  /**
   * Stores changes that the Registry has committed, and sends them on; to the webhook only those after `imported`. Returns the number of
   * the newest that is stored.
   */
  async append(changes: readonly StoredChange[], imported: number): Promise<number> {
    return (await this.#feed).append(changes, imported)
  }

  /** Returns the state of the webhook; null without one. */
  async health(): Promise<WebhookHealth | null> {
    return (await this.#feed).health()
  }

  /** Answers the request for the socket of a stream. */
  override async fetch({ url }: Request): Promise<Response> {
    return (await this.#feed).connect(new URL(url).searchParams)
  }

  override async webSocketMessage(socket: Socket, message: string): Promise<void> {
    return (await this.#feed).advance(socket, message)
  }

  override async webSocketClose(socket: Socket): Promise<void> {
    return (await this.#feed).forget(socket)
  }

  override async webSocketError(socket: Socket): Promise<void> {
    return (await this.#feed).forget(socket)
  }

  override async alarm(): Promise<void> {
    return (await this.#feed).deliver()
  }
}
