import * as v from 'valibot'
import { isJsonObject } from '../../json/json.ts'
import { closed, line, matches, never } from '../model/schema.ts'
import { tierMap } from './tiers.ts'

const most = 16

/** One scope, as RFC 6749 §3.3 forms it: several would be told apart by spaces. */
const scope = v.pipe(
  v.string('must be a scope, as a string'),
  matches(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/, 'must be one scope, without spaces or quotes'),
)

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)
const scalar = v.custom<string | number | boolean>(
  isScalar,
  'must be the value that the claim has: text, a number, true or false',
)

const tierRule = v.lazy(value => {
  if (!isJsonObject(value) || 'scope' in value === 'claim' in value)
    return never('must say which tokens may read the tier: { scope } or { claim, equals }')
  return 'scope' in value ? v.strictObject({ scope }) : v.strictObject({ claim: line, equals: scalar })
}) as v.LazySchema<v.GenericSchema<TierRule>>

/** Which tokens may read a tier: those with a scope, or those with a claim of one value. */
export type TierRule = { scope: string } | { claim: string; equals: string | number | boolean }

const audiences = v.pipe(
  v.array(line, 'must be an audience, or a list of them'),
  v.check(({ length }) => length > 0 && length <= most, `must hold 1 to ${most} audiences`),
)

/**
 * Which tokens of the OpenID Connect issuers that a card names may read what is not public: those for one of these audiences
 * (else for the agent's URL at this host), with the scope, and what each tier asks for besides.
 */
export const JwtPolicy = closed(
  {
    audience: v.optional(v.lazy(value => (typeof value === 'string' ? line : audiences))),
    scope: v.optional(scope),
    tiers: v.optional(tierMap(tierRule), {}),
  },
  'must be an object with audience, scope or tiers',
)
export type JwtPolicy = v.InferOutput<typeof JwtPolicy>
