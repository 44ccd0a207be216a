export * from './client-changes.ts'
export * from './drift.ts'
export { findUncovered, findWeakerSecurity, type Requirements } from './security.ts'
export * from './widening.ts'
