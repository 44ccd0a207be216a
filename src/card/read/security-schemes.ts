import * as v from 'valibot'
import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asObject, formatPointer, isJsonObject, jsonEntries, jsonEquals, omit, toText } from '../../json/index.ts'
import { cardMembers, looseObject } from '../model/index.ts'
import { canonicalizeKeys } from './field-names.ts'
import type { Provenance } from './provenance.ts'

/** The wrapper of v1.0 by the type of a security scheme in OpenAPI and v0.3. */
export const schemeWrappers: ReadonlyMap<string, string> = new Map(
  [...cardMembers.wrappers].map(([wrapper, { in: names }]) => [names?.['0.3'] ?? wrapper, wrapper]),
)
const API_KEY = 'apiKeySecurityScheme'
const typeOfWrapper = new Map([...schemeWrappers].map(([type, wrapper]) => [wrapper, type] as const))

/** Wrong names of types that published cards have. */
const wrongTypes = new Map(Object.entries({ httpAuth: 'http', apikey: 'apiKey', mtls: 'mutualTLS', oauth: 'oauth2' }))

const findWrapper = (type: Json | undefined): string | undefined =>
  schemeWrappers.get(wrongTypes.get(toText(type)) ?? toText(type))

/** Returns the v1.0 wrappers in a scheme, each with the object inside it. */
export const getWrappers = (scheme: JsonObject): [wrapper: string, inner: JsonObject][] =>
  jsonEntries(scheme).flatMap(([name, inner]) =>
    typeOfWrapper.has(name) && isJsonObject(inner) ? [[name, inner]] : [],
  )

/** The schemes that were split by their OAuth flows, as v1.0 allows one each: their new names, the first unchanged. */
export type SplitSchemes = ReadonlyMap<string, readonly string[]>

/** The form of a card, with a `url` or a list of interfaces; undefined for a hybrid, which may have both forms. */
export type CardForm = 'url' | 'interfaces' | undefined

/** The context in which the security requirements of a card and its skills are read. */
export type SecurityContext = { split: SplitSchemes; form: CardForm }

/** Reads schemes of every generation. A scheme with several OAuth flows becomes several schemes. */
export const readSchemes = (schemes: JsonObject, form: CardForm, provenance: Provenance) => {
  const split = new Map<string, string[]>()
  const taken = new Set(Object.keys(schemes))
  const read = jsonEntries(schemes).flatMap(([name, scheme]) => {
    const parts = splitFlows(name, readScheme(name, scheme, form, provenance), taken, provenance)
    const names = parts.map(([part]) => part)
    if (names.length > 1) split.set(name, names)
    return parts
  })
  return { securitySchemes: Object.fromEntries(read), split }
}

/** Reads a scheme into its v1.0 wrapper. One of an unknown type stays as authored. */
const readScheme = (name: string, authored: Json, form: CardForm, provenance: Provenance): Json => {
  if (!isJsonObject(authored)) return authored
  const pointer = formatPointer('securitySchemes', name)
  const scheme =
    readProtobufJsScheme(authored, pointer, provenance) ?? readShortWrapper(authored, pointer, provenance) ?? authored
  const [[wrapped] = [], ...others] = getWrappers(scheme)
  if (wrapped !== undefined) {
    const type = typeOfWrapper.get(wrapped)
    if (form === 'url' && scheme === authored)
      provenance.noteConversion(pointer, `in the form of A2A 1.0: in 0.3, its type is "${type}"`)
    return others.length > 0 ? scheme : readWrapped(scheme, wrapped, pointer, provenance)
  }
  const { type, ...members } = scheme
  if (type !== undefined && typeof type !== 'string')
    provenance.addError(`${pointer}/type`, 'must be a string, such as "http"')
  const wrapper = typeof type === 'string' ? findWrapper(type) : undefined
  if (wrapper === undefined) return scheme
  const standardType = typeOfWrapper.get(wrapper)
  if (type !== standardType) provenance.noteConversion(`${pointer}/type`, `read as "${standardType}"`)
  if (form === 'interfaces') provenance.noteConversion(pointer, `in the form of A2A 0.3, read as ${wrapper}`)
  const inner = canonicalizeKeys(members, 'scheme', pointer, provenance)
  if (wrapper === API_KEY && inner.location !== undefined && inner.in === undefined)
    provenance.noteConversion(`${pointer}/location`, 'the name of A2A 1.0 for `in`')
  const innerPointer = pointer + formatPointer(wrapper)
  for (const member of ['', ...Object.keys(inner).map(member => formatPointer(member))])
    provenance.mapFrom(innerPointer + member, pointer + member)
  return { [wrapper]: wrapper === API_KEY ? readLocation(inner, innerPointer, provenance) : inner }
}

/** Reads a wrapped scheme. Ignores OpenAPI's members in it or next to it, and notes those that define another. */
const readWrapped = (scheme: JsonObject, wrapper: string, pointer: Pointer, provenance: Provenance): JsonObject => {
  const at = pointer + formatPointer(wrapper)
  const canonical = canonicalizeKeys(asObject(scheme[wrapper]), 'scheme', at, provenance)
  if (wrapper === API_KEY && canonical.in !== undefined && canonical.location === undefined)
    provenance.noteConversion(`${at}/in`, 'read as location')
  const inner = wrapper === API_KEY ? readLocation(canonical, at, provenance) : canonical
  const names = ['type', ...(wrapper === API_KEY ? ['in'] : []), ...getWrappers(inner).map(([name]) => name)]
  const conflicting = names.filter(name => inner[name] !== undefined)
  const same = writeV0Scheme({ [wrapper]: inner })
  const siblings = Object.keys(omit(scheme, wrapper)).filter(name => !jsonEquals(scheme[name], same[name]))
  const inside = conflicting.map(name => at + formatPointer(name))
  for (const each of [...inside, ...siblings.map(name => pointer + formatPointer(name))])
    provenance.noteConversion(each, `ignored: \`${wrapper}\` defines the scheme`)
  return { [wrapper]: omit(inner, ...conflicting) }
}

/** Reads OpenAPI's `in` as v1.0's `location`. */
const readLocation = (inner: JsonObject, pointer: Pointer, provenance: Provenance): JsonObject => {
  if (inner.in === undefined || inner.location !== undefined) return inner
  provenance.mapFrom(`${pointer}/location`, `${pointer}/in`)
  return { ...omit(inner, 'in'), location: inner.in }
}

/** Reads the in-memory form of the official JavaScript SDK, which servers publish: `{scheme: {$case, value}}`. */
const readProtobufJsScheme = ({ scheme }: JsonObject, pointer: Pointer, provenance: Provenance) => {
  const { $case: wrapper, value } = asObject(scheme)
  if (typeof wrapper !== 'string' || !isJsonObject(value)) return undefined
  provenance.noteConversion(pointer, 'the in-memory form of the official JavaScript SDK, read as a security scheme')
  provenance.mapFrom(pointer + formatPointer(wrapper), `${pointer}/scheme/value`)
  return { [wrapper]: value }
}

/** Reads a wrapper of v1.0 under a shortened name, such as `httpAuth`. */
const readShortWrapper = (scheme: JsonObject, pointer: Pointer, provenance: Provenance): JsonObject | undefined => {
  if (scheme.type !== undefined || getWrappers(scheme).length > 0) return undefined
  const isShort = ([name, value]: [string, Json]) => typeOfWrapper.has(`${name}SecurityScheme`) && isJsonObject(value)
  const found = jsonEntries(scheme).filter(isShort)
  const [[short, value] = [], ...others] = found
  if (short === undefined || others.length > 0) return undefined
  const wrapper = `${short}SecurityScheme`
  provenance.noteConversion(pointer + formatPointer(short), `read as ${wrapper}`)
  provenance.mapFrom(pointer + formatPointer(wrapper), pointer + formatPointer(short))
  return { ...omit(scheme, short), [wrapper]: value }
}

const splitFlows = (name: string, scheme: Json, taken: Set<string>, provenance: Provenance): [string, Json][] => {
  const oauth = asObject(asObject(scheme).oauth2SecurityScheme)
  const flows = asObject(oauth.flows)
  const [, ...others] = [...cardMembers.flows.keys()].filter(flow => flows[flow] !== undefined)
  if (others.length === 0) return [[name, scheme]]
  const source = formatPointer('securitySchemes', name)
  const oauthSource = `${source}/oauth2SecurityScheme`
  provenance.noteConversion(`${oauthSource}/flows`, 'several OAuth flows, read as one scheme each')
  const parts = others.map((flow): [string, Json] => {
    let part = `${name}-${flow}`
    while (taken.has(part)) part += '-'
    taken.add(part)
    const target = formatPointer('securitySchemes', part)
    provenance.mapFrom(target, source)
    for (const member of ['', ...Object.keys(oauth).map(name => formatPointer(name))])
      provenance.mapFrom(`${target}/oauth2SecurityScheme${member}`, oauthSource + member)
    return [part, { oauth2SecurityScheme: { ...oauth, flows: { [flow]: flows[flow] } } }]
  })
  return [[name, { ...asObject(scheme), oauth2SecurityScheme: { ...oauth, flows: omit(flows, ...others) } }], ...parts]
}

/** Writes a scheme in OpenAPI's form, as in v0.3. Returns one of an unknown type unchanged. */
export const writeV0Scheme = <Scheme extends Json>(scheme: Scheme): Scheme | JsonObject => {
  const [wrapped] = isJsonObject(scheme) ? getWrappers(scheme) : []
  if (wrapped === undefined) return scheme
  const [wrapper, inner] = wrapped
  const type = typeOfWrapper.get(wrapper)
  return wrapper === API_KEY ? { type, ...omit(inner, 'location'), in: inner.location } : { type, ...inner }
}

/**
 * Adds the v1.0 wrapper to a scheme in OpenAPI's form. Of the clients for v0.3's HTTP+JSON binding, some follow the
 * JSON Schema and some the proto, which has the wrapper. An unknown member with the name of another wrapper stays in
 * the wrapper only, where no reader takes it for the scheme.
 */
export const writeV0SchemeWithWrapper = (scheme: Json): Json => {
  const { type, ...inner } = asObject(scheme)
  const wrapper = findWrapper(type)
  if (wrapper === undefined || !isJsonObject(scheme)) return scheme
  const openApi = omit(scheme, ...typeOfWrapper.keys())
  return { ...openApi, [wrapper]: wrapper === API_KEY ? { ...omit(inner, 'in'), location: inner.in } : inner }
}

const isSchemeName = (value: unknown): boolean => typeof value === 'string' || isJsonObject(value)
const schemeName = v.custom<Json>(isSchemeName, 'must be the name of a scheme')
const schemeNames = v.lazy(value =>
  Array.isArray(value) ? v.array(schemeName) : v.nullish(v.string('must be a list of names, such as ["bearer"]')),
)

/** The known forms of `authentication`: a name, a list of names, or an object with them. */
export const V0Authentication = v.lazy(value =>
  isJsonObject(value)
    ? looseObject({
        schemes: v.optional(schemeNames),
        methods: v.optional(schemeNames),
        credentials: v.nullish(v.string()),
        required: v.nullish(v.boolean()),
      })
    : typeof value === 'string' || Array.isArray(value)
      ? schemeNames
      : v.nullish(v.never('must be an object, such as { "schemes": ["bearer"] }')),
)

/**
 * Reads `authentication`, where A2A v0.1 and v0.2, SuperX and Telex name schemes, into security schemes and
 * requirements. Only HTTP's bearer and basic can be read; the field itself stays, as it has more than that.
 */
export const readAuthentication = (card: JsonObject, provenance: Provenance): JsonObject => {
  const { authentication } = card
  const named = isJsonObject(authentication) ? (authentication.schemes ?? authentication.methods) : authentication
  const words = new Set([named ?? []].flat().map(name => toText(name).toLowerCase()))
  const names = [...words].filter(name => name === 'bearer' || name === 'basic')
  if (names.length === 0) return card
  provenance.mapWhole('/securitySchemes', '/authentication', 'read as security schemes')
  const securitySchemes = Object.fromEntries(names.map(scheme => [scheme, { httpAuthSecurityScheme: { scheme } }]))
  const isRequired = !isJsonObject(authentication) || authentication.required !== false
  if (!isRequired || card.securityRequirements !== undefined) return { ...card, securitySchemes }
  provenance.mapWhole('/securityRequirements', '/authentication')
  const securityRequirements = names.map(name => ({ schemes: { [name]: { list: [] } } }))
  return { ...card, securitySchemes, securityRequirements }
}
