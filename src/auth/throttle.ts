import { ClockCache } from '../registry/edge/clock-cache.ts'
import type { Authentication } from './principal.ts'

/** A rate limit as the platform binds it. */
type Limit = { limit: (options: { key: string }) => Promise<{ success: boolean }> }

/** How long an address that failed too often is turned away, in ms; and what it is told, in seconds. */
const pause = 60_000
export const retryAfter = pause / 1000

/** Entries of one size: the addresses that are turned away until a time, and the credentials that held before. */
const turnedAway = new ClockCache<{ until: number; size: 1 }>(10_000)
const proven = new ClockCache<{ size: 1 }>(10_000)
const one = { size: 1 } as const

/** Whose attempts are counted together: an address, or the /64 that one has of IPv6 addresses. */
export const clientKey = (request: Request): string => {
  const address = request.headers.get('CF-Connecting-IP') ?? 'unknown'
  const written = address.includes(':') ? URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) : undefined
  if (written === undefined || written.startsWith('::ffff:')) return address
  const [first = [], last = []] = written.split('::').map(part => part.split(':').filter(Boolean))
  const zeros = Array<string>(8 - first.length - last.length).fill('0')
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::`
}

/**
 * Whether credentials are not to be looked at, because too many of their address did not hold. Those that held here before
 * are: who shares an address with somebody who guesses goes on. `hash` is the credentials' SHA-256.
 */
export const isBlocked = (request: Request, hash: string, now = Date.now()): boolean => {
  const until = turnedAway.get(clientKey(request))?.until ?? 0
  return until > now && proven.get(hash) === undefined
}

/** Notes that credentials hold. */
export const recordSuccess = (hash: string): void => {
  if (proven.get(hash) === undefined) proven.set(hash, one)
}

/** Whether a caller's credentials count as a failed attempt, wherever they are sent: not those that may be the agent's own. */
export const isFailure = (caller: Authentication): boolean => !caller.known && caller.given === 'bad-token'

/** Counts a failed attempt; whether there have been too many. The binding cannot be asked without counting, so this isolate remembers. */
export const recordFailure = async (request: Request, limit: Limit, now = Date.now()): Promise<boolean> => {
  const key = clientKey(request)
  const { success } = await limit.limit({ key })
  if (!success) turnedAway.set(key, { until: now + pause, size: 1 })
  return !success
}
