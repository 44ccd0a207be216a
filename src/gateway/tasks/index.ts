export type { OwnedCall } from './owned-call.ts'
export * from './task-owners.ts'
