import * as v from 'valibot'
import { formatPointer, isJsonObject, type JsonObject, type Pointer } from '../../json/json.ts'

import { baseTier } from '../model/constants.ts'
import { looseObject, singleLine, strictObject } from '../model/schema.ts'

const most = 16
const form = /^[a-z][a-z0-9-]{0,31}$/
const badName = 'is no name for a tier: use 1 to 32 lower-case letters, digits and hyphens, beginning with a letter'
const takenName = `is the tier of \`extended\` itself: give this one another name`

/** An object that maps names of tiers, the lowest first, to values of one schema. */
export const tierMap = <Value extends v.GenericSchema>(value: Value) =>
  v.pipe(
    v.lazy(tiers => {
      const names = Object.keys(isJsonObject(tiers) ? tiers : {})
      return looseObject(
        Object.fromEntries(names.map(name => [name, refusal(name) ?? value])),
        'must be an object of tiers by their names',
      )
    }) as v.LazySchema<v.GenericSchema<Record<string, v.InferInput<Value>>, Record<string, v.InferOutput<Value>>>>,
    v.check(tiers => Object.keys(tiers).length <= most, `must hold at most ${most} tiers`),
  )

const refusal = (name: string) =>
  name === baseTier ? v.never(takenName) : form.test(name) ? undefined : v.never(badName)

/** The tiers of a manifest with the overlay of each, the lowest first: `base` is below all others, and may have none. */
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

const mostJwtRules = 16

/** One scope, as RFC 6749 §3.3 forms it: several would be told apart by spaces. */
const scope = v.pipe(
  v.string('must be a scope, as a string'),
  v.regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'must be one scope, without spaces or quotes'),
)

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
const scalar = v.custom<string | number | boolean>(
  isScalar,
  'must be the value that the claim has: text, a number, true or false',
)

const tierRule = v.lazy(value => {
  if (!isJsonObject(value) || 'scope' in value === 'claim' in value)
    return v.never('must say which tokens may read the tier: { scope } or { claim, equals }')
  return 'scope' in value ? v.strictObject({ scope }) : v.strictObject({ claim: singleLine, equals: scalar })
}) as v.LazySchema<v.GenericSchema<TierRule>>

/** Which tokens may read a tier: those with a scope, or those with a claim of one value. */
export type TierRule = { scope: string } | { claim: string; equals: string | number | boolean }

const audiences = v.pipe(
  v.array(singleLine, 'must be an audience, or a list of them'),
  v.check(({ length }) => length > 0 && length <= mostJwtRules, `must hold 1 to ${mostJwtRules} audiences`),
)

/**
 * Which tokens of the OpenID Connect issuers that a card names may read what is not public: those for one of these audiences
 * (else for the agent's URL at this host), with the scope, and what each tier asks for besides.
 */
export const JwtPolicy = strictObject(
  {
    audience: v.optional(v.lazy(value => (typeof value === 'string' ? singleLine : audiences))),
    scope: v.optional(scope),
    tiers: v.optional(tierMap(tierRule), {}),
  },
  'must be an object with audience, scope or tiers',
)
export type JwtPolicy = v.InferOutput<typeof JwtPolicy>

/** What a manifest lays over its card, and where it stands there; `toolsOnly`: over skills that are all there can be. */
export type Overlay = { pointer: Pointer; patch: JsonObject; toolsOnly?: boolean }
