export * from './client-changes.ts'
export * from './drift.ts'
export { findUncovered, findWeakerSecurity } from './security.ts'
export * from './widening.ts'
