/** KV's key of the documents of an agent. */
export const cardKey = (id: string): string => `card:${id}`

/** KV's key of who a host name stands for. */
export const hostKey = (hostname: string): string => `host:${hostname}`

/** KV's key of the extended card of a tier. */
export const extendedKey = (id: string, tier: string): string => `extended:${id}:${tier}`

/** KV's key of the token whose text has this SHA-256, in hexadecimal. */
export const tokenKey = (hash: string): string => `token:${hash}`

/** KV's keys of an agent, of host names and of the tiers of its extended cards. */
export const keysOf = (id: string, hostnames: readonly string[], tiers: readonly string[]): string[] => [
  cardKey(id),
  ...hostnames.map(hostKey),
  ...tiers.map(tier => extendedKey(id, tier)),
]
