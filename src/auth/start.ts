export * from './authenticate.ts'
export { containsAdminToken, createToken, createTokenFinder } from './bearer-token.ts'
export * from './principal.ts'
export * from './throttle.ts'
