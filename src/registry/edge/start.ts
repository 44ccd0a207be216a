export * from './clock-cache.ts'
export * from './document-cache.ts'
export { cacheToken, findAgentByHost, findByName, findHostOwner, readToken } from './lookups.ts'
