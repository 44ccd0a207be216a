export * from './did-web.ts'
export * from './fetch-resource.ts'
export {
  CORS_HEADERS,
  endToEndHeader,
  isCardHost,
  isFieldName,
  NO_STORE,
  PRIVATE_NO_STORE,
  prefersHtml,
  preflightResponse,
  publicCacheControl,
  publicCacheSeconds,
  requestHostname,
  userAgent,
} from './headers.ts'
export * from './host-variables.ts'
export * from './hosts.ts'
export { isLocalName } from './names.ts'
export { blockOrigins, blockReason, CLOUDFLARE_ERRORS, type FetchFn, originMatcher, safeFetch } from './safe-fetch.ts'
export * from './urls.ts'
