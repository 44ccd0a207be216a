import * as v from 'valibot'
import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
} from '../../json/json.ts'
import { looseObject } from '../model/schema.ts'
import { canonicalizeKeys } from './field-names.ts'
import type { Provenance } from './provenance.ts'

/** The five kinds of scheme: OpenAPI's `type` (v0.3) beside the wrapper of v1.0. */
const kinds = [
  { type: 'apiKey', wrapper: 'apiKeySecurityScheme' },
  { type: 'http', wrapper: 'httpAuthSecurityScheme' },
  { type: 'oauth2', wrapper: 'oauth2SecurityScheme' },
  { type: 'openIdConnect', wrapper: 'openIdConnectSecurityScheme' },
  { type: 'mutualTLS', wrapper: 'mtlsSecurityScheme' },
] as const
const apiKey = 'apiKeySecurityScheme'
const typeOf = new Map<string, string>(kinds.map(({ type, wrapper }) => [wrapper, type]))
const wrapperFor = new Map<string, string>([
  ...kinds.map(({ type, wrapper }) => [type, wrapper] as const),
  // Types that have been seen in place of the proper one.
  ['httpAuth', 'httpAuthSecurityScheme'],
  ['apikey', 'apiKeySecurityScheme'],
  ['mtls', 'mtlsSecurityScheme'],
  ['oauth', 'oauth2SecurityScheme'],
])

/** The OAuth flows that A2A names. */
export const oauthFlows = ['authorizationCode', 'clientCredentials', 'deviceCode', 'implicit', 'password'] as const

/** Returns the v1.0 wrappers in a scheme, each with the object inside it. */
export const getWrappers = (scheme: JsonObject): [wrapper: string, inner: JsonObject][] =>
  jsonEntries(scheme).filter((entry): entry is [string, JsonObject] => typeOf.has(entry[0]) && isJsonObject(entry[1]))

/** The names that each scheme was split into, the first its own: v1.0 allows one OAuth flow each. */
export type SplitSchemes = ReadonlyMap<string, readonly string[]>

/** Reads schemes of every generation; several OAuth flows in one scheme become several schemes. */
export const readSchemes = (
  schemes: JsonObject,
  provenance: Provenance,
): { securitySchemes: JsonObject; split: SplitSchemes } => {
  const split = new Map<string, string[]>()
  const read: [string, Json][] = []
  const taken = new Set(Object.keys(schemes))
  for (const [name, scheme] of jsonEntries(schemes)) {
    const parts = splitFlows(name, wrap(name, scheme, provenance), taken, provenance)
    if (parts.length > 1)
      split.set(
        name,
        parts.map(([part]) => part),
      )
    read.push(...parts)
  }
  return { securitySchemes: Object.fromEntries(read), split }
}

const wrap = (name: string, authored: Json, provenance: Provenance): Json => {
  if (!isJsonObject(authored)) return authored
  const at = formatPointer('securitySchemes', name)
  const scheme = readProtobufJsScheme(authored, at, provenance) ?? authored
  const [own, ...others] = getWrappers(scheme)
  if (own !== undefined) return others.length > 0 ? scheme : unwrap(scheme, own, at, provenance)
  const { type } = scheme
  if (type !== undefined && typeof type !== 'string')
    provenance.addError(`${at}/type`, 'must be a string, such as "http"')
  const wrapper = typeof type === 'string' ? wrapperFor.get(type) : undefined
  if (wrapper === undefined) return scheme
  const inner = canonicalizeKeys(omit(scheme, 'type'), 'scheme', at, provenance)
  for (const member of Object.keys(inner))
    provenance.mapFrom(at + formatPointer(wrapper, member), at + formatPointer(member))
  provenance.mapFrom(at + formatPointer(wrapper), at)
  return { [wrapper]: wrapper === apiKey ? readLocation(inner, at + formatPointer(wrapper), provenance) : inner }
}

/** A wrapped scheme; what says again what the wrapper says, or stands beside it, is left out. */
const unwrap = (
  scheme: JsonObject,
  [wrapper, wrapped]: [string, JsonObject],
  at: Pointer,
  provenance: Provenance,
): JsonObject => {
  const within = at + formatPointer(wrapper)
  const spelled = canonicalizeKeys(wrapped, 'scheme', within, provenance)
  const inner = wrapper === apiKey ? readLocation(spelled, within, provenance) : spelled
  const clashes = ['type', 'in', ...getWrappers(inner).map(([name]) => name)].filter(name => inner[name] !== undefined)
  const beside = Object.keys(omit(scheme, wrapper))
  for (const place of [
    ...clashes.map(name => within + formatPointer(name)),
    ...beside.map(name => at + formatPointer(name)),
  ])
    provenance.noteConversion(place, 'left out: the scheme says all inside its wrapper')
  return { [wrapper]: omit(inner, ...clashes) }
}

const readLocation = (inner: JsonObject, within: Pointer, provenance: Provenance): JsonObject => {
  if (inner.in === undefined || inner.location !== undefined) return inner
  provenance.mapFrom(`${within}/location`, `${within}/in`)
  return { ...omit(inner, 'in'), location: inner.in }
}

/** The official JavaScript server has leaked its memory form: `{scheme: {$case, value}}`. */
const readProtobufJsScheme = ({ scheme }: JsonObject, at: Pointer, provenance: Provenance): JsonObject | undefined => {
  const { $case: wrapper, value } = isJsonObject(scheme) ? scheme : {}
  if (typeof wrapper !== 'string' || !isJsonObject(value)) return undefined
  provenance.noteConversion(at, 'a memory form of the official JavaScript server, read as a security scheme')
  provenance.mapFrom(at + formatPointer(wrapper), `${at}/scheme/value`)
  return { [wrapper]: value }
}

const splitFlows = (name: string, scheme: Json, taken: Set<string>, provenance: Provenance): [string, Json][] => {
  const oauth = isJsonObject(scheme) ? scheme.oauth2SecurityScheme : undefined
  const flows = isJsonObject(oauth) ? oauth.flows : undefined
  if (!isJsonObject(scheme) || !isJsonObject(oauth) || !isJsonObject(flows)) return [[name, scheme]]
  const [first, ...others] = oauthFlows.filter(flow => flows[flow] !== undefined)
  if (first === undefined || others.length === 0) return [[name, scheme]]
  const at = formatPointer('securitySchemes', name)
  const within = `${at}/oauth2SecurityScheme`
  provenance.noteConversion(`${within}/flows`, 'several OAuth flows, read as one scheme each')
  const parts = others.map((flow): [string, Json] => {
    const part = freeName(`${name}-${flow}`, taken)
    const there = formatPointer('securitySchemes', part)
    provenance.mapFrom(there, at)
    for (const member of ['', ...Object.keys(oauth).map(name => formatPointer(name))])
      provenance.mapFrom(`${there}/oauth2SecurityScheme${member}`, within + member)
    return [part, { oauth2SecurityScheme: { ...oauth, flows: { [flow]: flows[flow] } } }]
  })
  return [[name, { ...scheme, oauth2SecurityScheme: { ...oauth, flows: omit(flows, ...others) } }], ...parts]
}

const freeName = (wanted: string, taken: Set<string>): string => {
  let name = wanted
  while (taken.has(name)) name += '-'
  taken.add(name)
  return name
}

/** A scheme in OpenAPI's form, which v0.3 uses; one that A2A does not know comes back as it is. */
export const writeV0Scheme = (scheme: JsonObject): JsonObject => {
  const [own] = getWrappers(scheme)
  if (own === undefined) return scheme
  const [wrapper, inner] = own
  const type = typeOf.get(wrapper)
  return wrapper === apiKey ? { type, ...omit(inner, 'location'), in: inner.location } : { type, ...inner }
}

/**
 * A scheme in OpenAPI's form that is in its wrapper besides: of the readers of v0.3's HTTP+JSON, some follow the JSON Schema
 * and some the proto, which wraps it.
 */
export const writeV0SchemeWithWrapper = (scheme: JsonObject): JsonObject => {
  const { type, ...inner } = scheme
  const wrapper = typeof type === 'string' ? wrapperFor.get(type) : undefined
  if (wrapper === undefined) return scheme
  return { ...scheme, [wrapper]: wrapper === apiKey ? { ...omit(inner, 'in'), location: inner.in } : inner }
}

const name = v.custom<Json>(value => typeof value === 'string' || isJsonObject(value), 'must be the name of a scheme')
const named = v.lazy(value =>
  Array.isArray(value) ? v.array(name) : v.nullish(v.string('must be a list of names, such as ["bearer"]')),
)

/** `authentication` in the forms that it has been seen in: a name, a list of names, an object with them. */
export const Authentication = v.lazy(value =>
  isJsonObject(value)
    ? looseObject({
        schemes: v.optional(named),
        methods: v.optional(named),
        credentials: v.nullish(v.string()),
        required: v.nullish(v.boolean()),
      })
    : typeof value === 'string' || Array.isArray(value)
      ? named
      : v.nullish(v.never('must be an object, such as { "schemes": ["bearer"] }')),
)

/**
 * The security that `authentication` stands for: v0.1 and v0.2 cards, SuperX's and Telex's name schemes there. Those that
 * are HTTP's own become real ones; the field itself stays, for there is more to it than that.
 */
export const readAuthentication = (card: JsonObject, provenance: Provenance): JsonObject => {
  const { authentication } = card
  const names = [...new Set(schemeNames(authentication))].filter(scheme => scheme === 'bearer' || scheme === 'basic')
  if (names.length === 0) return card
  provenance.noteConversion('/authentication', 'read as security schemes')
  provenance.mapWhole('/securitySchemes', '/authentication')
  const securitySchemes = Object.fromEntries(names.map(scheme => [scheme, { httpAuthSecurityScheme: { scheme } }]))
  const required = !isJsonObject(authentication) || authentication.required !== false
  if (!required || card.securityRequirements !== undefined) return { ...card, securitySchemes }
  provenance.mapWhole('/securityRequirements', '/authentication')
  return {
    ...card,
    securitySchemes,
    securityRequirements: names.map(scheme => ({ schemes: { [scheme]: { list: [] } } })),
  }
}

const schemeNames = (authentication: Json | undefined): string[] => {
  const said = isJsonObject(authentication) ? (authentication.schemes ?? authentication.methods) : authentication
  return (Array.isArray(said) ? said : [said]).flatMap(item => (typeof item === 'string' ? [item.toLowerCase()] : []))
}
