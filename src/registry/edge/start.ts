export * from './clock-cache.ts'
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
} from './document-cache.ts'
export { cacheToken, findAgentByHost, findByName, findHostOwner, readToken } from './lookups.ts'
