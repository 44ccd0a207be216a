export { readBytes } from './body.ts'
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
  requestHostname,
  userAgent,
} from './headers.ts'
export * from './hosts.ts'
export * from './log.ts'
export { isLocalName } from './names.ts'
export {
  blockOrigins,
  blockReason,
  CLOUDFLARE_ERRORS,
  type FetchFn,
  originMatcher,
  parseOrigins,
  safeFetch,
  splitOrigins,
  toOrigin,
} from './safe-fetch.ts'
export * from './urls.ts'
