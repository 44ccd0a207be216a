export {
  createUpstreamClient,
  createUpstreamFetch,
  fetchService,
  findMissingBindings,
  resolveSecret,
  resolveService,
  type UpstreamFetch,
} from './bindings.ts'
export { type BodyText, readText } from './body.ts'
export * from './conditional.ts'
export * from './errors.ts'
export * from './handler.ts'
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
export * from './log.ts'
export { isLocalName } from './names.ts'
export * from './responses.ts'
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
