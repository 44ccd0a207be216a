import * as v from 'valibot'
import { didDocumentUrl, parseUrl } from '../../http/shared.ts'
import { asObject, isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_STALE_IF_ERROR_SECONDS, MAX_TTL_SECONDS, MAX_UPSTREAM_KEYS, MIN_TTL_SECONDS } from '../../limits.ts'
import { variableNames } from '../../variables.ts'
import {
  addsCredential,
  hostList,
  httpUrl,
  looseObject,
  singleLine,
  strictObject,
  wholeNumber,
} from '../model/index.ts'

const DEFAULT_TTL_SECONDS = 300
const DEFAULT_STALE_IF_ERROR_SECONDS = 86_400

/** Most credentials have lowercase letters or hyphens, so that none that is pasted in place of a name is stored. */
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

const seconds = (min: number, max: number) =>
  wholeNumber(min, max, `must be a whole number of seconds from ${min} to ${max}`)

/** A public key as a JWK, the URL of a JWK Set, or a DID. */
type KeySource = JsonObject | string

/** The keys that may sign the card of an agent; or the first card decides. */
export type TrustedKeys = readonly KeySource[] | 'first-use'

const isDid = (text: string): boolean => text.startsWith('did:')

const member = (name: string) => v.pipe(v.string(), v.regex(/^[\w-]+$/, `must be \`${name}\` in base64url`))

const privateMember = v.optional(
  v.never('is private: readers of this manifest could sign cards with it. Replace the key, and name its public part'),
)
const time = v.optional(v.pipe(v.number('must be in seconds since 1970'), v.finite('must be in seconds since 1970')))

/** The members that every JWK may have. */
const common = {
  ...{ kid: v.optional(v.string()), alg: v.optional(v.string()), exp: time, nbf: time },
  use: v.optional(v.literal('sig', 'must be sig: the key is for signatures')),
  key_ops: v.optional(
    v.pipe(v.array(v.string()), v.includes('verify', 'must include `verify`: the key is for signatures')),
  ),
  // Of all types of keys (RFC 7518 §6).
  ...Object.fromEntries(['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'].map(name => [name, privateMember])),
}
const ed25519 = v.literal('Ed25519', 'must be Ed25519')
const curves = v.picklist(['P-256', 'P-384', 'P-521'], 'must be P-256, P-384 or P-521')

const keyTypes = new Map<Json | undefined, v.GenericSchema>([
  ['EC', looseObject({ ...common, kty: v.literal('EC'), crv: curves, x: member('x'), y: member('y') })],
  ['OKP', looseObject({ ...common, kty: v.literal('OKP'), crv: ed25519, x: member('x') })],
  ['RSA', looseObject({ ...common, kty: v.literal('RSA'), n: member('n'), e: member('e') })],
])
const otherKeyType = v.never('must be a public JWK whose `kty` is EC, OKP or RSA')

/** A public key for signatures (RFC 7517). */
const PublicJwk = v.lazy(value => keyTypes.get(asObject(value).kty) ?? otherKeyType)

const didWeb = v.pipe(
  v.string(),
  v.check(did => didDocumentUrl(did) !== undefined, 'must be a DID of the method web: did:web:agents.example.com'),
)

const KEY_SOURCES = 'must be a public JWK, the URL of a JWK Set, a DID of the method web, or first-use'

const keySource = v.lazy((value): v.GenericSchema<unknown, KeySource> => {
  if (isJsonObject(value)) return PublicJwk as v.GenericSchema<unknown, JsonObject>
  if (value === 'first-use') return v.never('must be the only one: first-use is no part of a list')
  if (typeof value !== 'string' || !value.includes(':')) return v.never(KEY_SOURCES)
  return isDid(value) ? didWeb : httpUrl
})

/** `upstream.keys`: one or several sources of keys, or `first-use`. */
const UpstreamKeys = v.lazy((value): v.GenericSchema<unknown, TrustedKeys> => {
  if (value === 'first-use') return v.literal('first-use')
  if (Array.isArray(value)) return keyList
  return v.pipe(
    keySource,
    v.transform(source => [source]),
  )
})
const keyList = v.pipe(
  v.array(keySource),
  v.minLength(1, 'must have at least one key'),
  v.maxLength(MAX_UPSTREAM_KEYS, `must have at most ${MAX_UPSTREAM_KEYS} keys`),
)

const fields = strictObject(
  {
    url: v.optional(httpUrl),
    card: v.optional(httpUrl),
    mcp: v.optional(httpUrl),
    service: v.optional(serviceName),
    secret: v.optional(secretName),
    identity: v.optional(v.picklist(['header'], 'must be "header"')),
    agentName: v.optional(singleLine),
    ttl: v.optional(seconds(MIN_TTL_SECONDS, MAX_TTL_SECONDS)),
    staleIfError: v.optional(seconds(0, MAX_STALE_IF_ERROR_SECONDS)),
    pin: v.optional(v.boolean()),
    keys: v.optional(UpstreamKeys),
    verify: v.optional(v.picklist(['off', 'warn', 'require'], 'must be off, warn or require')),
    mayShow: v.optional(hostList),
    session: v.optional(v.picklist(['shared', 'caller'], 'must be shared or caller')),
    defaultTool: v.optional(singleLine),
  },
  'must be an object with url, card, mcp, service or secret',
)

/** Returns the first conflict between the fields, as the end of a sentence. */
const findConflict = (upstream: v.InferOutput<typeof fields>): string | undefined => {
  const { url, card, mcp, identity, keys, verify = 'off' } = upstream
  const has = (...names: (keyof typeof upstream)[]) => names.some(name => upstream[name] !== undefined)
  if (card !== undefined && mcp !== undefined)
    return 'has both `card` and `mcp`: remove one of them, as the card has one source'
  if (identity !== undefined && mcp !== undefined && url === undefined)
    return (
      'has `identity` for an MCP server, which learns nothing of its callers: ' +
      'remove it, or set `url` to an A2A endpoint'
    )
  if ((mcp === undefined || url !== undefined) && has('session', 'defaultTool'))
    return (
      'has options for the tools of an MCP server (session, defaultTool) that this host does not call: ' +
      'add `mcp` without `url`, or remove them'
    )
  if (!has('card', 'mcp') && has('ttl', 'staleIfError', 'pin'))
    return 'has options for a fetched card (ttl, staleIfError, pin) but no source: add `card` or `mcp`, or remove them'
  if (card === undefined && has('keys', 'verify'))
    return 'has `keys` or `verify` without `card`: only a fetched card is verified. Add `card`, or remove them'
  if (keys === undefined && verify !== 'off')
    return 'has `verify` without `keys`: name the keys that may sign the card, or `first-use`'
  if (listUrls(keys).some(keyUrl => parseUrl(keyUrl)?.origin !== parseUrl(card ?? '')?.origin))
    return 'has a URL in `keys` that is not on the origin of `card`: name the keys, or the DID (did:web) of the signer'
  return undefined
}

const listUrls = (keys: TrustedKeys = []): string[] =>
  keys === 'first-use' ? [] : keys.filter(key => typeof key === 'string').filter(key => parseUrl(key) && !isDid(key))

/** The address of the real agent, and the source of its card if the manifest does not contain it. */
export const Upstream = v.pipe(
  fields,
  v.check(
    upstream => findConflict(upstream) === undefined,
    ({ input }) => findConflict(input) ?? '',
  ),
)

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
  /** The verification of the card; absent where there is none. */
  verification: v.exactOptional(v.object({ policy: v.picklist(['warn', 'require']), keys: UpstreamKeys })),
})
export type Source = v.InferOutput<typeof Source>

/** Returns the source of a remote card; undefined where the manifest contains the card. */
export const resolveSource = (upstream: v.InferOutput<typeof Upstream>): Source | undefined => {
  const { card, mcp, service, secret, session, keys, verify = 'require' } = upstream
  const url = card ?? mcp
  if (url === undefined) return undefined
  return {
    kind: card === undefined ? 'mcp' : 'card',
    url,
    ...(service !== undefined && { service }),
    ...(secret !== undefined && { secret }),
    ...(session === 'shared' && { session }),
    ttl: upstream.ttl ?? DEFAULT_TTL_SECONDS,
    staleIfError: upstream.staleIfError ?? DEFAULT_STALE_IF_ERROR_SECONDS,
    // A changed remote card must not redirect this host's own secret or binding, or open it to more callers.
    pin: upstream.pin ?? addsCredential(upstream),
    // An owner who names keys expects that no other card is served.
    ...(keys !== undefined && verify !== 'off' && { verification: { policy: verify, keys } }),
  }
}
