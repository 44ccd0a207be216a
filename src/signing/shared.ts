import type { FetchJson } from '../card/signatures/index.ts'
import { type FetchFn, type FetchOptions, fetchJson } from '../http/shared.ts'
import { KEY_SET_TIMEOUT_SECONDS, MAX_KEY_SET_BYTES } from '../limits.ts'

/** The request for a key set or DID document. Follows no redirect: the address is what is trusted. */
export const KEY_REQUEST = {
  headers: { Accept: 'application/jwk-set+json, application/did+json, application/json' },
  maxBytes: MAX_KEY_SET_BYTES,
  timeoutSeconds: KEY_SET_TIMEOUT_SECONDS,
  maxRedirects: 0,
} as const satisfies Partial<FetchOptions>

/** Returns a function that fetches key sets and DID documents from public addresses, or with `fetch`. */
export const createKeyFetch =
  (allowedOrigins: ReadonlySet<string>, fetch?: FetchFn): FetchJson =>
  url =>
    fetchJson(url, { ...KEY_REQUEST, allowedOrigins, ...(fetch && { fetch }) })
