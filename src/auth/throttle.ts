import { parseUrl, problem, RATE_LIMIT_SECONDS, sha256Hex, tooManyRequests } from '../http/start.ts'
import { ClockCache } from '../registry/edge/start.ts'
import { isToken } from './bearer-token.ts'
import type { Authentication } from './principal.ts'

/** Counts a request against a rate limit. Throws 429 past it; `detail` names the limit. */
export const countRequest = async (limit: RateLimit, key: string, detail: string): Promise<void> => {
  const { success } = await limit.limit({ key })
  if (!success) throw tooManyRequests(detail)
}

/** The time for which the credentials of an address are ignored after too many failed attempts. */
export const BLOCK_SECONDS = 60

const MAX_REMEMBERED = 10_000

/** Ends of times, in ms since 1970: until then an address is blocked, or exceeds its rate limit of calls. */
const blockedUntil = new ClockCache<{ until: number; size: 1 }>(MAX_REMEMBERED)
const limitedUntil = new ClockCache<{ until: number; size: 1 }>(MAX_REMEMBERED)
/** SHA-256 digests of credentials that were valid before. */
const knownGood = new ClockCache<{ size: 1 }>(MAX_REMEMBERED)

/** Returns the key under which the requests of one client are counted. */
export const clientKey = (request: Request): string => clientAddress(request) ?? 'unknown'

/** Returns the key under which the requests of one caller are counted: its subject, or else its client. */
export const callerKey = (caller: Authentication, request: Request): string =>
  caller.authenticated ? caller.subject : clientKey(request)

/** Returns the client's address, or its own IPv6 /64 network; undefined if the request is not from the network. */
const clientAddress = ({ headers }: Request): string | undefined => {
  const address = headers.get('CF-Connecting-IP') ?? undefined
  const normalized = address?.includes(':') ? parseUrl(`http://[${address}]`)?.hostname.slice(1, -1) : undefined
  if (normalized === undefined || normalized.startsWith('::ffff:')) return address
  const [first = [], last = []] = normalized.split('::').map(part => part.split(':').filter(Boolean))
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::`
}

const isBefore = (ends: typeof blockedUntil, request: Request, now: number): boolean => {
  const address = clientAddress(request)
  return address !== undefined && (ends.get(address)?.until ?? 0) > now
}

/**
 * Checks whether to ignore credentials with this SHA-256, because too many attempts from their address have failed.
 * Those that were valid in this isolate before are not ignored: clients behind a shared address keep their access.
 */
export const isBlocked = (request: Request, digest: string): boolean =>
  isBefore(blockedUntil, request, Date.now()) && knownGood.get(digest) === undefined

/** Records that credentials are valid. */
export const recordSuccess = (digest: string): void => {
  if (knownGood.get(digest) === undefined) knownGood.set(digest, { size: 1 })
}

/**
 * Counts a failed attempt, and returns whether there have been too many. Remembers the result: the binding counts every
 * query. Does not count requests without an address: one client could block all others.
 */
export const recordFailure = async (request: Request, limit: RateLimit): Promise<boolean> => {
  const address = clientAddress(request)
  if (address === undefined) return false
  const { success } = await limit.limit({ key: address })
  if (!success) blockedUntil.set(address, { until: Date.now() + BLOCK_SECONDS * 1000, size: 1 })
  return !success
}

const counted = new WeakMap<Request, Promise<boolean>>()

/**
 * Counts unrecognized credentials as a failed attempt, once for each request. Returns whether the caller has made too
 * many. Not for calls that pass: the agent may accept the credentials.
 */
export const countUnrecognized = async (caller: Authentication, request: Request, { AUTH_LIMIT }: Env) => {
  const reason = caller.authenticated ? undefined : caller.reason
  if (reason !== 'unrecognized') return reason === 'throttled'
  const known = counted.get(request) ?? recordFailure(request, AUTH_LIMIT)
  counted.set(request, known)
  return known
}

/** The error for an address whose credentials are ignored. */
export const tooManyAttempts = () => {
  const detail = `Too many failed authentication attempts from your address. Try again in ${BLOCK_SECONDS} seconds.`
  return problem('too-many-attempts', detail, { headers: { 'Retry-After': String(BLOCK_SECONDS) } })
}

/** Records that an address exceeds its rate limit of calls. */
export const recordLimited = (request: Request, now = Date.now()): void => {
  const address = clientAddress(request)
  if (address !== undefined) limitedUntil.set(address, { until: now + RATE_LIMIT_SECONDS * 1000, size: 1 })
}

/** Checks whether an address is known to exceed its rate limit of calls. */
export const isLimited = (request: Request, now = Date.now()): boolean => isBefore(limitedUntil, request, now)

/** Checks whether a request has credentials that were valid before in this isolate: they have a limit of their own. */
export const hasKnownCredentials = async (request: Request): Promise<boolean> => {
  const credentials = [...request.headers].flatMap(([name, value]) => {
    const token = value.replace(/^Bearer[ \t]+/i, '')
    return name === 'authorization' || isToken(token) ? [token] : []
  })
  const digests = await Promise.all(credentials.map(sha256Hex))
  return digests.some(digest => knownGood.get(digest) !== undefined)
}
