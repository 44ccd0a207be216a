import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { config, type Variables } from '../config.ts'
import { fetchJson, log, parseUrl } from '../http/index.ts'
import { isJsonObject, type JsonObject } from '../json/index.ts'
import { ISSUER_TIMEOUT_SECONDS, MAX_ISSUER_BYTES, MAX_ISSUER_KEYS } from '../limits.ts'
import { ClockCache } from '../registry/edge/index.ts'

/** An OpenID Connect issuer: its identifier, and its keys. */
export type Issuer = { issuer: string; getKey: JWTVerifyGetKey }

const WELL_KNOWN_PATH = '/.well-known/openid-configuration'

/** Checks by name (OpenID Connect Discovery §4.3) if a document is an issuer's: no unknown token causes a request. */
export const isDiscoveryUrlOf = (discoveryUrl: string, issuer: string): boolean =>
  discoveryUrl === issuer.replace(/\/$/, '') + WELL_KNOWN_PATH

/** Fresh keys are used as they are; usable keys are renewed first, if the issuer responds in time. */
const FRESH_MS = 10 * 60_000
const USABLE_MS = 60 * 60_000
/** The least time between two fetches of one issuer, however many tokens name unknown keys. */
const COOLDOWN_MS = 30_000
/** After this time another request may fetch the issuer: the one that does may have been cancelled. */
const FETCH_TIMEOUT_MS = 10_000
/** The longest wait for the renewal of keys that are still usable. */
const MAX_RENEWAL_WAIT_MS = 200
const MAX_POLL_MS = 64
const MAX_CACHE_BYTES = 2 * 1024 * 1024
const ENTRY_OVERHEAD_BYTES = 300

/** An issuer, and in ms since 1970, when its keys were fetched, and when the last fetch began, whatever its outcome. */
type Entry = {
  issuer: (Issuer & { size: number }) | undefined
  fetchedAt: number
  triedAt: number
  isFetching: boolean
  size: number
}

/**
 * The issuers known to this isolate, by the URLs of their discovery documents. One request fetches for all. A Worker
 * cannot await another request's I/O, so the others poll.
 */
const entries = new ClockCache<Entry>(MAX_CACHE_BYTES)

/** Returns an issuer from memory, with fresh keys; undefined: call `getIssuer`. Fetched keys are another object. */
export const getFreshIssuer = (url: string): Issuer | undefined => {
  const entry = entries.get(url)
  return entry && Date.now() - entry.fetchedAt < FRESH_MS ? entry.issuer : undefined
}

/** Returns an issuer; undefined if it cannot be fetched and no usable keys are cached. */
export const getIssuer = async (url: string, env: Variables, ctx: ExecutionContext): Promise<Issuer | undefined> => {
  const fresh = getFreshIssuer(url)
  if (fresh) return fresh
  const usable = getUsable(url)
  if (usable && isFetching(entries.get(url))) return usable
  const renewal = renew(url, env, ctx)
  // An issuer that hangs must not delay anybody while there are usable keys: the renewal goes on in the background.
  await (usable ? Promise.race([renewal, sleep(MAX_RENEWAL_WAIT_MS)]) : renewal)
  return getUsable(url)
}

/** Fetches an issuer again, for a key that it did not have: twice a minute at most. Undefined if the fetch fails. */
export const refreshIssuer = async (url: string, env: Variables, ctx: ExecutionContext) => {
  await renew(url, env, ctx)
  const entry = entries.get(url)
  return entry && entry.fetchedAt >= entry.triedAt ? entry.issuer : undefined
}

const getUsable = (url: string): Issuer | undefined => {
  const entry = entries.get(url)
  return entry && Date.now() - entry.fetchedAt < USABLE_MS ? entry.issuer : undefined
}

const isFetching = (entry: Entry | undefined): boolean =>
  entry?.isFetching === true && Date.now() - entry.triedAt < FETCH_TIMEOUT_MS

/** Fetches an issuer, or waits until another request has, unless it was tried a moment ago. */
const renew = async (url: string, env: Variables, ctx: ExecutionContext): Promise<void> => {
  const entry = entries.get(url)
  if (isFetching(entry)) {
    for (let pause = 1; isFetching(entries.get(url)); pause = Math.min(2 * pause, MAX_POLL_MS)) await sleep(pause)
    return
  }
  if (entry && !entry.isFetching && Date.now() - entry.triedAt < COOLDOWN_MS) return
  const fetching = fetchIssuer(url, entry, env)
  // The client may disconnect; the result is for later requests too.
  ctx.waitUntil(fetching)
  await fetching
}

const fetchIssuer = async (url: string, entry: Entry | undefined, env: Variables): Promise<void> => {
  const before = { issuer: entry?.issuer, fetchedAt: entry?.fetchedAt ?? Number.NEGATIVE_INFINITY }
  const triedAt = Date.now()
  store(url, { ...before, triedAt, isFetching: true })
  const issuer = await discover(url, env)
  store(url, { ...(issuer ? { issuer, fetchedAt: Date.now() } : before), triedAt, isFetching: false })
}

const store = (url: string, entry: Omit<Entry, 'size'>): void =>
  entries.set(url, { ...entry, size: ENTRY_OVERHEAD_BYTES + url.length + (entry.issuer?.size ?? 0) })

const sleep = (milliseconds: number): Promise<void> => new Promise(resolve => setTimeout(resolve, milliseconds))

const discover = async (url: string, env: Variables): Promise<Entry['issuer']> => {
  const document = await fetchObject(url, env)
  if (document === undefined) return undefined
  const { issuer, jwks_uri: keysUrl } = document
  if (typeof issuer !== 'string' || typeof keysUrl !== 'string' || !isDiscoveryUrlOf(url, issuer))
    return logFailure(url, 'its discovery document names another issuer, or no keys')
  const keySet = await fetchObject(keysUrl, env)
  if (keySet === undefined) return undefined
  if (!isKeySet(keySet)) return logFailure(keysUrl, 'not a JSON Web Key Set')
  const { length } = keySet.keys
  if (length > MAX_ISSUER_KEYS)
    logFailure(url, `${length} keys, of which ${MAX_ISSUER_KEYS} are used`, 'issuer-keys-ignored')
  const used = { keys: keySet.keys.slice(0, MAX_ISSUER_KEYS) }
  return { issuer, getKey: createLocalJWKSet(used), size: 4 * JSON.stringify(used).length }
}

const isKeySet = (value: JsonObject): value is JsonObject & JSONWebKeySet =>
  Array.isArray(value.keys) && value.keys.every(key => isJsonObject(key) && typeof key.kty === 'string')

const fetchObject = async (url: string, env: Variables): Promise<JsonObject | undefined> => {
  const result = await fetchJson(
    url,
    {
      headers: { Accept: 'application/json' },
      maxBytes: MAX_ISSUER_BYTES,
      timeoutSeconds: ISSUER_TIMEOUT_SECONDS,
      maxRedirects: 0,
      allowedOrigins: config(env).allowedOrigins,
    },
    ({ failed, detail }) => `${failed}: ${detail}`,
  )
  if ('error' in result) return logFailure(url, result.error)
  return isJsonObject(result.document) ? result.document : logFailure(url, 'not a JSON object')
}

const logFailure = (url: string, detail: string, event: Parameters<typeof log>[1] = 'issuer-unread'): undefined => {
  log('error', event, { 'calling_card.issuer': originOf(url), 'calling_card.detail': detail })
}

/** Returns what logs show of an issuer's URL: its path and query may be secret. */
export const originOf = (url: string): string => parseUrl(url)?.origin ?? ''
