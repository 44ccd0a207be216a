export * from './clock-cache.ts'
export * from './document-cache.ts'
export { cacheToken, findAgentByHost, findByName, findHostOwner, getCachedToken, readToken } from './lookups.ts'
