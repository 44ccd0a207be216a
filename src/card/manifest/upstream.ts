import * as v from 'valibot'
import { limits } from '../../limits.ts'
import { hostname } from '../model/hostname.ts'
import { closed, flag, HttpUrl, line, matches } from '../model/schema.ts'

const bindingName = v.pipe(
  v.string('must be a name'),
  matches(/^[A-Za-z_]\w*$/, 'must be a name, such as WEATHER_TOKEN; never the secret itself'),
)

const seconds = (least: number, most: number) =>
  v.custom<number>(
    value => typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most,
    `must be a whole number of seconds from ${least} to ${most}`,
  )

const aboutSources = ['ttl', 'staleIfError', 'pin'] as const

/** Where the real agent is, and where its card comes from where that is not written in the manifest (design §3). */
export const Upstream = v.pipe(
  closed(
    {
      url: v.optional(HttpUrl),
      card: v.optional(HttpUrl),
      mcp: v.optional(HttpUrl),
      service: v.optional(bindingName),
      secret: v.optional(
        v.pipe(
          bindingName,
          matches(/^(?!ADMIN_TOKEN$)/, "is this host's own key: an upstream that was sent it could change every agent"),
        ),
      ),
      /** The name that Shaman's hosts know the agent by: it goes with each call. */
      agentName: v.optional(line),
      /** How long a fetched card counts as fresh. */
      ttl: v.optional(seconds(30, 86_400)),
      /** How long after that it is still served while its source cannot be read. */
      staleIfError: v.optional(seconds(0, 30 * 86_400)),
      /** Whether a fetched card that widens access waits until an owner accepts it; so it does where something of the host is used. */
      pin: v.optional(flag),
      /** The agent's own hosts that a card behind the gateway may name. */
      mayShow: v.optional(
        v.pipe(
          v.array(hostname, 'must be a list of host names'),
          v.check(({ length }) => length <= limits.hosts, `must hold at most ${limits.hosts} host names`),
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
