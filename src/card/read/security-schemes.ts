import { isObject, type Json, type JsonObject, without } from '../../json/json.ts'
import { type Pointer, pointer } from '../../json/pointer.ts'
import type { Reading } from './provenance.ts'
import { spell } from './spelling.ts'

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

/** The v1.0 wrappers that a scheme bears. */
export const wrappersOf = (scheme: JsonObject): string[] =>
  Object.keys(scheme).filter(name => typeOf.has(name) && isObject(scheme[name]))

/** The names that each scheme was split into, the first its own: v1.0 allows one OAuth flow each. */
export type SplitSchemes = ReadonlyMap<string, readonly string[]>

/** Reads schemes of every generation; several OAuth flows in one scheme become several schemes. */
export const readSchemes = (
  schemes: JsonObject,
  reading: Reading,
): { securitySchemes: JsonObject; split: SplitSchemes } => {
  const split = new Map<string, string[]>()
  const read: [string, Json][] = []
  const taken = new Set(Object.keys(schemes))
  for (const [name, scheme] of Object.entries(schemes)) {
    const parts = splitFlows(name, wrap(name, scheme, reading), taken, reading)
    if (parts.length > 1)
      split.set(
        name,
        parts.map(([part]) => part),
      )
    read.push(...parts)
  }
  return { securitySchemes: Object.fromEntries(read), split }
}

const wrap = (name: string, authored: Json, reading: Reading): Json => {
  if (!isObject(authored)) return authored
  const at = pointer('securitySchemes', name)
  const scheme = leakedScheme(authored, at, reading) ?? authored
  const [own, ...others] = wrappersOf(scheme)
  if (own !== undefined) return others.length > 0 ? scheme : unwrap(scheme, own, at, reading)
  const { type } = scheme
  if (type !== undefined && typeof type !== 'string') reading.refuse(`${at}/type`, 'must be a string, such as "http"')
  const wrapper = typeof type === 'string' ? wrapperFor.get(type) : undefined
  if (wrapper === undefined) return scheme
  const inner = spell(without(scheme, 'type'), 'scheme', at, reading)
  for (const member of Object.keys(inner)) reading.moved(at + pointer(wrapper, member), at + pointer(member))
  reading.moved(at + pointer(wrapper), at)
  return { [wrapper]: wrapper === apiKey ? readLocation(inner, at + pointer(wrapper), reading) : inner }
}

/** A wrapped scheme; what says again what the wrapper says, or stands beside it, is left out. */
const unwrap = (scheme: JsonObject, wrapper: string, at: Pointer, reading: Reading): JsonObject => {
  const within = at + pointer(wrapper)
  const spelled = spell(scheme[wrapper] as JsonObject, 'scheme', within, reading)
  const inner = wrapper === apiKey ? readLocation(spelled, within, reading) : spelled
  const clashes = ['type', 'in', ...wrappersOf(inner)].filter(name => inner[name] !== undefined)
  const beside = Object.keys(without(scheme, wrapper))
  for (const place of [...clashes.map(name => within + pointer(name)), ...beside.map(name => at + pointer(name))])
    reading.convert(place, 'left out: the scheme says all inside its wrapper')
  return { [wrapper]: without(inner, ...clashes) }
}

const readLocation = (inner: JsonObject, within: Pointer, reading: Reading): JsonObject => {
  if (inner.in === undefined || inner.location !== undefined) return inner
  reading.moved(`${within}/location`, `${within}/in`)
  return { ...without(inner, 'in'), location: inner.in }
}

/** The official JavaScript server has leaked its memory form: `{scheme: {$case, value}}`. */
const leakedScheme = ({ scheme }: JsonObject, at: Pointer, reading: Reading): JsonObject | undefined => {
  const { $case: wrapper, value } = isObject(scheme) ? scheme : {}
  if (typeof wrapper !== 'string' || !isObject(value)) return undefined
  reading.convert(at, 'a memory form of the official JavaScript server, read as a security scheme')
  reading.moved(at + pointer(wrapper), `${at}/scheme/value`)
  return { [wrapper]: value }
}

const splitFlows = (name: string, scheme: Json, taken: Set<string>, reading: Reading): [string, Json][] => {
  const oauth = isObject(scheme) ? scheme.oauth2SecurityScheme : undefined
  const flows = isObject(oauth) ? oauth.flows : undefined
  if (!isObject(scheme) || !isObject(oauth) || !isObject(flows)) return [[name, scheme]]
  const [first, ...others] = oauthFlows.filter(flow => flows[flow] !== undefined)
  if (first === undefined || others.length === 0) return [[name, scheme]]
  const at = pointer('securitySchemes', name)
  const within = `${at}/oauth2SecurityScheme`
  reading.convert(`${within}/flows`, 'several OAuth flows, read as one scheme each')
  const parts = others.map((flow): [string, Json] => {
    const part = freeName(`${name}-${flow}`, taken)
    const there = pointer('securitySchemes', part)
    reading.moved(there, at)
    for (const member of ['', ...Object.keys(oauth).map(name => pointer(name))])
      reading.moved(`${there}/oauth2SecurityScheme${member}`, within + member)
    return [part, { oauth2SecurityScheme: { ...oauth, flows: { [flow]: flows[flow] as Json } } }]
  })
  return [[name, { ...scheme, oauth2SecurityScheme: { ...oauth, flows: without(flows, ...others) } }], ...parts]
}

const freeName = (wanted: string, taken: Set<string>): string => {
  let name = wanted
  while (taken.has(name)) name += '-'
  taken.add(name)
  return name
}

/** A scheme in OpenAPI's form, which v0.3 uses; one that A2A does not know comes back as it is. */
export const writeV0Scheme = (scheme: JsonObject): JsonObject => {
  const wrapper = wrappersOf(scheme)[0]
  if (wrapper === undefined) return scheme
  const inner = scheme[wrapper] as JsonObject
  const type = typeOf.get(wrapper) as string
  return wrapper === apiKey ? { type, ...without(inner, 'location'), in: inner.location as Json } : { type, ...inner }
}

/**
 * A scheme in OpenAPI's form that is in its wrapper besides: of the readers of v0.3's HTTP+JSON, some follow the JSON Schema
 * and some the proto, which wraps it.
 */
export const writeV0SchemeTwice = (scheme: JsonObject): JsonObject => {
  const { type, ...inner } = scheme
  const wrapper = typeof type === 'string' ? wrapperFor.get(type) : undefined
  if (wrapper === undefined) return scheme
  return { ...scheme, [wrapper]: wrapper === apiKey ? { ...without(inner, 'in'), location: inner.in as Json } : inner }
}
