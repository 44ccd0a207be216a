import { DurableObject } from 'cloudflare:workers'
import type { EventFeed, Socket } from './feed.ts'

/** The Durable Object that tells event streams and the webhook of changes. Every start evaluates this class, so its code is in a module of its own. */
export class Events extends DurableObject<Env> {
  readonly #feed: Promise<EventFeed> = import('./feed.ts').then(({ EventFeed }) => new EventFeed(this.ctx, this.env))

  override async fetch(request: Request): Promise<Response> {
    return (await this.#feed).fetch(request)
  }

  override async webSocketMessage(socket: Socket, message: string): Promise<void> {
    return (await this.#feed).advance(socket, message)
  }

  override async alarm(): Promise<void> {
    return (await this.#feed).alarm()
  }
}
