import * as v from 'valibot'
import { formatPointer, isJsonObject, type JsonObject, type Pointer } from '../../json/index.ts'
import { MAX_AUDIENCES, MAX_TIERS } from '../../limits.ts'
import { baseTier, record, singleLine, strictObject } from '../model/index.ts'

const tierName = v.pipe(
  v.string(),
  v.regex(
    /^[a-z][a-z0-9-]{0,31}$/,
    'is not a tier name: use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter',
  ),
  v.notValue(baseTier, 'is the name of the tier that `extended` makes: choose another'),
)

/** An object that maps tier names, the lowest first, to values of one schema. */
export const tierMap = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    record(value, 'must be an object with a member for each tier', tierName),
    v.maxEntries(MAX_TIERS, `must have at most ${MAX_TIERS} tiers`),
  )

/**
 * A merge patch over a card and its pointer in the manifest. `toolsOnly`: the skills are the tools of an MCP server, so the
 * overlay can change them but not add any.
 */
export type Overlay = { pointer: Pointer; patch: JsonObject; toolsOnly?: boolean }

/** Returns the tiers of a manifest with their overlays, the lowest first. The tier `base` may have none. */
export const listTiers = (manifest: {
  extended?: JsonObject | undefined
  tiers?: Record<string, JsonObject> | undefined
}): [tier: string, overlay: Overlay | undefined][] => {
  const { extended, tiers = {} } = manifest
  const named = Object.entries(tiers)
  if (extended === undefined && named.length === 0) return []
  return [
    [baseTier, extended && { pointer: '/extended', patch: extended }],
    ...named.map(([name, patch]): [string, Overlay] => [name, { pointer: formatPointer('tiers', name), patch }]),
  ]
}

/** One scope-token of RFC 6749 §3.3, where a space separates several. */
const scope = v.pipe(
  v.string('must be a scope, as a string'),
  v.regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'must be one scope, without spaces or quotes'),
)

const claimValue = v.union(
  [v.string(), v.number(), v.boolean()],
  "must be the claim's value: a string, a number, true or false",
)

/** Which access tokens may read a tier: those with a scope, or those with a claim of one value. */
export const tierRule = v.lazy(value => {
  if (!isJsonObject(value) || 'scope' in value === 'claim' in value)
    return v.never('must be { scope } or { claim, equals }: which access tokens may read this tier')
  return 'scope' in value ? strictObject({ scope }) : strictObject({ claim: singleLine, equals: claimValue })
})

const audienceCount = `must have 1 to ${MAX_AUDIENCES} audiences`
const audienceList = v.pipe(
  v.array(singleLine, 'must be an audience, or a list of them'),
  v.nonEmpty(audienceCount),
  v.maxLength(MAX_AUDIENCES, audienceCount),
)

/**
 * Which access tokens of the card's OpenID Connect issuers may read what is not public: those with the scope and one of the
 * audiences, by default the agent's URL at this host. A tier's rule applies in addition.
 */
export const JwtPolicy = strictObject(
  {
    audience: v.optional(v.lazy(value => (typeof value === 'string' ? singleLine : audienceList))),
    scope: v.optional(scope),
    tiers: v.optional(tierMap(tierRule), {}),
  },
  'must be an object with audience, scope or tiers',
)
export type JwtPolicy = v.InferOutput<typeof JwtPolicy>
