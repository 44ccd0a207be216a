export * from './client-changes.ts'
export * from './drift.ts'
export { createBudget, findUncovered, type Requirements } from './security-changes.ts'
export * from './widening.ts'
