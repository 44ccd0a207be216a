export * from './refusals.ts'
export {
  adminRequired,
  assertWriter,
  countWrites,
  insufficientScope,
  requireAnyAgent,
  requirePrincipal,
  requireScope,
  requireWriter,
  unauthorized,
} from './require.ts'
export * from './start.ts'
