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

/** SHA-256 digests of credentials that were valid before. */
const knownGood = new ClockCache<{ size: 1 }>(MAX_REMEMBERED)

/** Remembers addresses, each until a time in ms since 1970. Looks for none after the last of these times. */
class AddressesUntil {
  readonly #ends = new ClockCache<{ until: number; size: 1 }>(MAX_REMEMBERED)
  #lastEnd = 0

  add(address: string, until: number): void {
    this.#ends.set(address, { until, size: 1 })
    this.#lastEnd = Math.max(this.#lastEnd, until)
  }

  has(request: Request, now?: number): boolean {
    // Most isolates never have an address, and then read neither the clock nor the request.
    if (this.#lastEnd === 0) return false
    const time = now ?? Date.now()
    const address = time < this.#lastEnd ? clientAddress(request) : undefined
    return address !== undefined && (this.#ends.get(address)?.until ?? 0) > time
  }
}

/** The addresses whose credentials are ignored, and those that exceed their rate limit of calls. */
const blocked = new AddressesUntil()
const limited = new AddressesUntil()

/** Returns the key under which the requests of one client are counted. */
export const clientKey = (request: Pick<Request, 'headers'>): string => clientAddress(request) ?? 'unknown'

/** Returns the key under which the requests of one caller are counted: its subject, or else its client. */
export const callerKey = (caller: Authentication, request: Pick<Request, 'headers'>): string =>
  caller.authenticated ? caller.subject : clientKey(request)

/** Returns the client's address, or its own IPv6 /64 network; undefined if the request is not from the network. */
const clientAddress = ({ headers }: Pick<Request, 'headers'>): string | undefined => {
  const address = headers.get('CF-Connecting-IP') ?? undefined
  return address?.includes(':') ? networkOf(address) : address
}

const NETWORKS_BYTES = 256 * 1024
const NETWORK_OVERHEAD = 200

/** The networks of the last addresses: to parse one takes longer than most of what is counted by it. */
const networks = new ClockCache<{ network: string; size: number }>(NETWORKS_BYTES)

const networkOf = (address: string): string => {
  const known = networks.get(address)
  if (known !== undefined) return known.network
  const network = parseNetwork(address)
  networks.set(address, { network, size: NETWORK_OVERHEAD + 2 * address.length })
  return network
}

/** Returns the /64 network of an IPv6 address; an IPv4 address in IPv6, and what is no address, as it is. */
const parseNetwork = (address: string): string => {
  const normalized = parseUrl(`http://[${address}]`)?.hostname.slice(1, -1)
  if (normalized === undefined || normalized.startsWith('::ffff:')) return address
  const [first = [], last = []] = normalized.split('::').map(part => part.split(':').filter(Boolean))
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::`
}

/**
 * Checks whether to ignore credentials with this SHA-256, because too many attempts from their address have failed.
 * Those that were valid in this isolate before are not ignored: clients behind a shared address keep their access.
 */
export const isBlocked = (request: Request, digest: string): boolean =>
  blocked.has(request) && knownGood.get(digest) === undefined

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
  if (!success) blocked.add(address, Date.now() + BLOCK_SECONDS * 1000)
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
export const recordLimited = (request: Pick<Request, 'headers'>, now = Date.now()): void => {
  const address = clientAddress(request)
  if (address !== undefined) limited.add(address, now + RATE_LIMIT_SECONDS * 1000)
}

/** Checks whether an address is known to exceed its rate limit of calls. */
export const isLimited = (request: Request, now?: number): boolean => limited.has(request, now)

/** Checks whether a request has credentials that were valid before in this isolate: they have a limit of their own. */
export const hasKnownCredentials = async (request: Request): Promise<boolean> => {
  const credentials = [...request.headers].flatMap(([name, value]) => {
    const token = value.replace(/^Bearer[ \t]+/i, '')
    return name === 'authorization' || isToken(token) ? [token] : []
  })
  const digests = await Promise.all(credentials.map(sha256Hex))
  return digests.some(digest => knownGood.get(digest) !== undefined)
}
