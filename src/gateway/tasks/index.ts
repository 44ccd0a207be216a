export type { OwnedCall } from './agent-owners.ts'
export * from './task-owners.ts'
