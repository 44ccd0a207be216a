export {
  type CachedDocument,
  cacheHealth,
  getCachedDocument,
  isRemote,
  lookUpProfile,
  type RemoteDocument,
  readDocument,
  readExtended,
  readProfile,
  type UnfetchedDocument,
} from './cards.ts'
export * from './clock-cache.ts'
export { cacheToken, findAgentByHost, findByName, findHostOwner, getCachedByName, readToken } from './lookups.ts'
