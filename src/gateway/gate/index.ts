export * from './access.ts'
export { admit, authorize, authorizeRead, permit } from './admit.ts'
export * from './exchange.ts'
export type { Gate } from './gate.ts'
