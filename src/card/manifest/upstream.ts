import * as v from 'valibot'
import { parseUrl } from '../../http/shared.ts'
import { MAX_STALE_IF_ERROR_SECONDS, MAX_TTL_SECONDS, MIN_TTL_SECONDS } from '../../limits.ts'
import { variableNames } from '../../variables.ts'
import { addsCredential, hostList, httpUrl, singleLine, strictObject } from '../model/index.ts'
import { isDid, type TrustedKeys, UpstreamKeys, verifyPolicies } from './upstream-keys.ts'

const DEFAULT_TTL_SECONDS = 300
const DEFAULT_STALE_IF_ERROR_SECONDS = 86_400

/** Most credentials have lower-case letters or hyphens, so that none that is pasted in place of a name is stored. */
const bindingName = (message: string) => v.pipe(v.string(message), v.regex(/^[A-Z][A-Z0-9_]*$/, message))

const serviceName = bindingName('must be the name of a service binding, in capital letters such as WEATHER')

const secretName = v.pipe(
  bindingName('must be the name of a Worker secret, in capital letters such as WEATHER_TOKEN, never its value'),
  // Who receives one of these could act as the host, or learn what belongs to its owner alone.
  v.notValues(
    variableNames,
    ({ input }) =>
      `must not be ${input}, which belongs to the host itself: name a secret for this agent, such as WEATHER_TOKEN`,
  ),
)

const seconds = (min: number, max: number) => {
  const message = `must be a whole number of seconds from ${min} to ${max}`
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message))
}

const fetchOptions = ['ttl', 'staleIfError', 'pin'] as const
const toolOptions = ['session', 'defaultTool'] as const

/** Whether each caller of an MCP server's tools has a session of its own with the server, or all share one. */
const sessionPolicies = ['shared', 'caller'] as const

/** Where the real agent is, and where its card is fetched from if the manifest does not contain it. */
export const Upstream = v.pipe(
  strictObject(
    {
      /** Where calls go, instead of the URL in the card. */
      url: v.optional(httpUrl),
      /** Where the card is fetched from. */
      card: v.optional(httpUrl),
      /** The MCP server that the card is made from. */
      mcp: v.optional(httpUrl),
      /** The service binding to use instead of the network. */
      service: v.optional(serviceName),
      /** The Worker secret to send as a bearer token. */
      secret: v.optional(secretName),
      /** How the agent learns who calls: by a signed assertion in a header of each call. */
      identity: v.optional(v.picklist(['header'], 'must be "header"')),
      /** The agent's name at a Shaman host, sent as `params.agentName`. */
      agentName: v.optional(singleLine),
      /** How long a fetched card is fresh. */
      ttl: v.optional(seconds(MIN_TTL_SECONDS, MAX_TTL_SECONDS)),
      /** How long a fetched card is served after that, while fetching it fails. */
      staleIfError: v.optional(seconds(0, MAX_STALE_IF_ERROR_SECONDS)),
      /** Whether a fetched card that widens access waits for an owner's approval. */
      pin: v.optional(v.boolean()),
      /** The keys that may sign the fetched card. */
      keys: v.optional(UpstreamKeys),
      /** What happens to a fetched card that none of them has signed. */
      verify: v.optional(v.picklist(verifyPolicies, 'must be off, warn or require')),
      /** The agent's own hosts that its card may name behind the gateway. */
      mayShow: v.optional(hostList),
      /** Whether each caller has a session of its own with the MCP server, or all share one. */
      session: v.optional(v.picklist(sessionPolicies, 'must be shared or caller')),
      /** The tool of the MCP server that a message calls which names none. */
      defaultTool: v.optional(singleLine),
    },
    'must be an object with url, card, mcp, service or secret',
  ),
  v.check(
    ({ card, mcp }) => card === undefined || mcp === undefined,
    'has both `card` and `mcp`: remove one of them, as the card has one source',
  ),
  v.check(
    ({ identity, mcp, url }) => identity === undefined || mcp === undefined || url !== undefined,
    'has `identity` for an MCP server, which learns nothing of its callers: remove it, or set `url` to an A2A endpoint',
  ),
  v.check(
    ({ mcp, url, ...rest }) =>
      (mcp !== undefined && url === undefined) || toolOptions.every(name => rest[name] === undefined),
    `has options for the tools of an MCP server (${toolOptions.join(', ')}) that this host does not call: add \`mcp\` without \`url\`, or remove them`,
  ),
  v.check(
    ({ card, mcp, ...rest }) => (card ?? mcp) !== undefined || fetchOptions.every(name => rest[name] === undefined),
    `has options for a fetched card (${fetchOptions.join(', ')}) but no source: add \`card\` or \`mcp\`, or remove them`,
  ),
  v.check(
    ({ card, keys, verify }) => card !== undefined || (keys === undefined && verify === undefined),
    'has `keys` or `verify` without `card`: only a fetched card is verified. Add `card`, or remove them',
  ),
  v.check(
    ({ keys, verify = 'off' }) => keys !== undefined || verify === 'off',
    'has `verify` without `keys`: name the keys that may sign the card, or `first-use`',
  ),
  v.check(
    ({ card, keys }) => listUrls(keys).every(url => parseUrl(url)?.origin === parseUrl(card ?? '')?.origin),
    'has a URL in `keys` that is not on the origin of `card`: name the keys themselves, or the DID (did:web) of who signs',
  ),
)

/** Lists the URLs of key sets. */
const listUrls = (keys: TrustedKeys = []): string[] =>
  keys === 'first-use' ? [] : keys.filter(key => typeof key === 'string').filter(key => parseUrl(key) && !isDid(key))

/** The source of a remote card: another host's card, or an MCP server. */
export const Source = v.object({
  kind: v.picklist(['card', 'mcp'], 'must be card or mcp'),
  url: httpUrl,
  /** The service binding to read it through, instead of the network. */
  service: v.exactOptional(serviceName),
  /** The Worker secret to send as a bearer token. */
  secret: v.exactOptional(secretName),
  /** For an MCP server: whether all callers share one session, in which it cannot ask them anything. */
  session: v.exactOptional(v.literal('shared')),
  ttl: seconds(MIN_TTL_SECONDS, MAX_TTL_SECONDS),
  staleIfError: seconds(0, MAX_STALE_IF_ERROR_SECONDS),
  pin: v.boolean(),
  /** How the card is verified; absent where it is not. */
  verification: v.exactOptional(v.object({ policy: v.picklist(['warn', 'require']), keys: UpstreamKeys })),
})
export type Source = v.InferOutput<typeof Source>

/** Returns the source of a remote card; undefined where the manifest contains the card. */
export const resolveSource = ({
  card,
  mcp,
  service,
  secret,
  session,
  ttl = DEFAULT_TTL_SECONDS,
  staleIfError = DEFAULT_STALE_IF_ERROR_SECONDS,
  // A changed remote card must not redirect this host's own secret or binding, or open it to more callers.
  pin = addsCredential({ secret, service }),
  keys,
  // Who names keys expects that no other card is served.
  verify = 'require',
}: v.InferOutput<typeof Upstream>): Source | undefined => {
  const url = card ?? mcp
  if (url === undefined) return undefined
  return {
    kind: card === undefined ? 'mcp' : 'card',
    url,
    ...(service !== undefined && { service }),
    ...(secret !== undefined && { secret }),
    ...(session === 'shared' && { session }),
    ttl,
    staleIfError,
    pin,
    ...(keys !== undefined && verify !== 'off' && { verification: { policy: verify, keys } }),
  }
}
