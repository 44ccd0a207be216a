export type { Refusal, Socket } from './feed.ts'
export * from './start.ts'
export { openEventStream } from './stream.ts'
export { readWebhookKeys, type WebhookHealth } from './webhook-queue.ts'
