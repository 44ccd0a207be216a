import { lazyObject } from '../lazy-object.ts'

/** Sends changes to event streams and to the webhook. */
export class Events extends lazyObject(
  (ctx: DurableObjectState, env: Env) => import('./feed.ts').then(({ createEventFeed }) => createEventFeed(ctx, env)),
  ['append', 'health', 'fetch', 'webSocketMessage', 'webSocketClose', 'webSocketError', 'alarm'],
) {}
