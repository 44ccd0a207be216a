import * as v from 'valibot'
import { MAX_HOSTS } from '../../limits.ts'
import { hostname, httpUrl, singleLine, strictObject } from '../model/schema.ts'

const bindingName = v.pipe(
  v.string('must be a name'),
  v.regex(/^[A-Za-z_]\w*$/, 'must be a name, such as WEATHER_TOKEN; never the secret itself'),
)

const seconds = (least: number, most: number) =>
  v.custom<number>(
    value => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most,
    `must be a whole number of seconds from ${least} to ${most}`,
  )

const aboutSources = ['ttl', 'staleIfError', 'pin'] as const

/** Where the real agent is, and where its card comes from where that is not written in the manifest (design §3). */
export const Upstream = v.pipe(
  strictObject(
    {
      url: v.optional(httpUrl),
      card: v.optional(httpUrl),
      mcp: v.optional(httpUrl),
      service: v.optional(bindingName),
      secret: v.optional(
        v.pipe(
          bindingName,
          v.regex(/^(?!ADMIN_TOKEN$)/, "is this host's own key: an upstream that was sent it could change every agent"),
        ),
      ),
      /** The name that Shaman's hosts know the agent by: it goes with each call. */
      agentName: v.optional(singleLine),
      /** How long a fetched card counts as fresh. */
      ttl: v.optional(seconds(30, 86_400)),
      /** How long after that it is still served while its source cannot be read. */
      staleIfError: v.optional(seconds(0, 30 * 86_400)),
      /** Whether a fetched card that widens access waits until an owner accepts it; so it does where something of the host is used. */
      pin: v.optional(v.boolean()),
      /** The agent's own hosts that a card behind the gateway may name. */
      mayShow: v.optional(
        v.pipe(
          v.array(hostname, 'must be a list of host names'),
          v.check(({ length }) => length <= MAX_HOSTS, `must hold at most ${MAX_HOSTS} host names`),
        ),
      ),
    },
    'must be an object with url, card, mcp, service or secret',
  ),
  v.check(
    ({ card, mcp }) => card === undefined || mcp === undefined,
    'holds both `card` and `mcp`: the card comes from one of them',
  ),
  v.check(
    ({ card, mcp, ...rest }) => (card ?? mcp) !== undefined || aboutSources.every(name => rest[name] === undefined),
    `holds ${aboutSources.join(', ')} or one of them, which are about a card that comes from elsewhere: say from where, with \`card\` or \`mcp\``,
  ),
)

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
export const getSource = (upstream: v.InferOutput<typeof Upstream>): Source | undefined => {
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
