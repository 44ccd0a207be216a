export { assertCaller, findIdentityErrors } from './caller-assertion.ts'
export { type Bytes, decryptFor, encryptFor } from './encrypted-value.ts'
export * from './require.ts'
export * from './start.ts'
