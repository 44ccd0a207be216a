export * from './access.ts'
export * from './call-context.ts'
export { createOutputComparison } from './content-negotiation.ts'
export * from './policy.ts'
