export type { BatchResult, Registered, Removed, WriteRejection } from './registrations.ts'
export * from './registry.ts'
export type { SigningState } from './stale-signatures.ts'
export type { RegistryHealth } from './store.ts'
