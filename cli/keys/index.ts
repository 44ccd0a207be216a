export * from './report.ts'
export { createSigningKey } from './signing-key.ts'
