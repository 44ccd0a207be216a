export { CATALOG_DOCUMENTS, CATALOG_LINKS, fetchCacheable } from './shared-cache.ts'
export * from './start.ts'
