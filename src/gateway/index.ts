export * from './gate-only.ts'
export { restCall } from './rest-binding.ts'
export * from './start.ts'
