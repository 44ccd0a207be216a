export * from './authenticate.ts'
export * from './principal.ts'
export * from './throttle.ts'
export { containsAdminToken, createToken, createTokenFinder } from './token.ts'
