import { extendedKey } from './extended.ts'

/** KV's key of who a host name stands for. */
export const hostKey = (hostname: string): string => `host:${hostname}`

/** KV's keys of an agent, of host names and of the tiers of its extended cards. */
export const keysOf = (id: string, hostnames: readonly string[], tiers: readonly string[]): string[] => [
  `card:${id}`,
  ...hostnames.map(hostKey),
  ...tiers.map(tier => extendedKey(id, tier)),
]
