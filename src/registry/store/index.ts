export type { BatchResult, Registered, Removed, WriteRejection } from './registrations.ts'
export * from './registry.ts'
export type { RefreshBase } from './source-state.ts'
export type { RegistryHealth, SigningState } from './store.ts'
