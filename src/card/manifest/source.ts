import type { Manifest } from './manifest.ts'

/** How long a fetched card is fresh, and how long after that it is served while its source cannot be read: in seconds. */
const defaults = { ttl: 300, staleIfError: 86_400 }

/** Where the card of an agent comes from that is not written by hand: another host's card, or an MCP server. */
export type Source = {
  kind: 'card' | 'mcp'
  url: string
  /** The service binding through which it is read in place of the network, and the secret that is sent along. */
  service?: string
  secret?: string
  /** In seconds. */
  ttl: number
  staleIfError: number
  pin: boolean
}

/** The source of an agent's card; undefined where its manifest says the card itself. */
export const getSource = ({ upstream }: Manifest): Source | undefined => {
  const { card, mcp, service, secret, ttl = defaults.ttl, staleIfError = defaults.staleIfError } = upstream
  // What is the host's goes nowhere else, and for nobody else, because somebody else's card says so.
  const { pin = secret !== undefined || service !== undefined } = upstream
  const url = card ?? mcp
  if (url === undefined) return undefined
  return {
    kind: card === undefined ? 'mcp' : 'card',
    url,
    ...(service !== undefined && { service }),
    ...(secret !== undefined && { secret }),
    ttl,
    staleIfError,
    pin,
  }
}
