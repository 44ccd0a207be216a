export type { HostHealth } from './first-contact.ts'
export * from './host-client.ts'
export { blockedPortMessage, type Connection, HostError, isBlockedPort } from './http.ts'
export type * from './responses.ts'
