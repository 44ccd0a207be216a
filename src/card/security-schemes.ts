import { isObject, type Json, type JsonObject, without } from './json.ts'
import { pointer } from './pointer.ts'
import type { Reading } from './reading.ts'
import { readRequirements } from './security-requirements.ts'

/** The five kinds of scheme: OpenAPI's `type` (v0.3) beside the wrapper of v1.0. */
const wrappers: Record<string, string> = {
  apiKey: 'apiKeySecurityScheme',
  http: 'httpAuthSecurityScheme',
  oauth2: 'oauth2SecurityScheme',
  openIdConnect: 'openIdConnectSecurityScheme',
  mutualTLS: 'mtlsSecurityScheme',
}
const types = Object.fromEntries(Object.entries(wrappers).map(([type, wrapper]) => [wrapper, type]))

/** Types that have been seen in place of the proper one. */
const spellings: Record<string, string> = { httpAuth: 'http', apikey: 'apiKey', mtls: 'mutualTLS', oauth: 'oauth2' }

/** Reads schemes and requirements of every generation; several OAuth flows in one scheme become several schemes. */
export const readSecurity = (card: JsonObject, reading: Reading): JsonObject => {
  const { securitySchemes, security, securityRequirements, ...rest } = card
  const requirements = securityRequirements ?? security
  if (securityRequirements === undefined && security !== undefined) reading.moved('/securityRequirements', '/security')
  if (securitySchemes === undefined || securitySchemes === null)
    return { ...rest, ...legacyAuthentication(card.authentication, requirements, reading) }
  if (!isObject(securitySchemes)) return { ...rest, securitySchemes }
  const split = new Map<string, string[]>()
  const schemes: [string, Json][] = []
  for (const [name, scheme] of Object.entries(securitySchemes)) {
    const parts = splitFlows(name, wrap(name, scheme, reading), reading)
    split.set(
      name,
      parts.map(([part]) => part),
    )
    schemes.push(...parts)
  }
  return {
    ...rest,
    securitySchemes: Object.fromEntries(schemes),
    ...(requirements !== undefined &&
      requirements !== null && { securityRequirements: expand(readRequirements(requirements), split) }),
  }
}

const wrap = (name: string, scheme: Json, reading: Reading): Json => {
  if (!isObject(scheme)) return scheme
  const at = pointer('securitySchemes', name)
  // The official JavaScript server has leaked its memory form: {scheme: {$case, value}}.
  const leaked = isObject(scheme.scheme) ? scheme.scheme : scheme
  if (typeof leaked.$case === 'string' && isObject(leaked.value)) {
    reading.convert(at, 'a memory form of the official JavaScript server, read as a security scheme')
    return { [leaked.$case]: leaked.value }
  }
  const type = typeof scheme.type === 'string' ? (spellings[scheme.type] ?? scheme.type) : ''
  const wrapper = wrappers[type]
  if (wrapper === undefined) return scheme
  reading.moved(at + pointer(wrapper), at)
  if (type !== 'apiKey') return { [wrapper]: without(scheme, 'type') }
  reading.moved(`${at}/${wrapper}/location`, `${at}/in`)
  const location = scheme.in ?? scheme.location
  return { [wrapper]: { ...without(scheme, 'type', 'in'), ...(location !== undefined && { location }) } }
}

const splitFlows = (name: string, scheme: Json, reading: Reading): [string, Json][] => {
  const oauth = isObject(scheme) ? scheme.oauth2SecurityScheme : undefined
  const flows = isObject(oauth) ? oauth.flows : undefined
  if (!isObject(oauth) || !isObject(flows) || Object.keys(flows).length < 2) return [[name, scheme]]
  reading.convert(pointer('securitySchemes', name, 'flows'), 'several OAuth flows, read as one scheme each')
  return Object.entries(flows).map(([flow, settings], index) => [
    index === 0 ? name : `${name}-${flow}`,
    { oauth2SecurityScheme: { ...oauth, flows: { [flow]: settings } } },
  ])
}

/** Where a requirement names a scheme that was split, each part is an alternative. */
const expand = (requirements: Json, split: Map<string, string[]>): Json => {
  if (!Array.isArray(requirements)) return requirements
  return requirements.flatMap(requirement => {
    if (!isObject(requirement) || !isObject(requirement.schemes)) return [requirement]
    let alternatives: JsonObject[] = [{}]
    for (const [name, scopes] of Object.entries(requirement.schemes)) {
      const parts = split.get(name) ?? [name]
      alternatives = alternatives.flatMap(done => parts.map(part => ({ ...done, [part]: scopes })))
    }
    return alternatives.map(schemes => ({ schemes }))
  })
}

/** v0.1 and v0.2 cards, SuperX and Telex name HTTP schemes only; where those are HTTP's own, they become real ones. */
const legacyAuthentication = (
  authentication: Json | undefined,
  requirements: Json | undefined,
  reading: Reading,
): JsonObject => {
  const kept =
    requirements === undefined || requirements === null ? {} : { securityRequirements: readRequirements(requirements) }
  const named = isObject(authentication) ? (authentication.schemes ?? authentication.methods) : authentication
  const names = (Array.isArray(named) ? named : [named])
    .filter(name => typeof name === 'string')
    .map(name => name.toLowerCase())
    .filter(name => name === 'bearer' || name === 'basic')
  if (names.length === 0) return kept
  reading.convert('/authentication', 'read as security schemes')
  reading.moved('/securitySchemes', '/authentication')
  const required = !isObject(authentication) || authentication.required !== false
  return {
    securitySchemes: Object.fromEntries(names.map(scheme => [scheme, { httpAuthSecurityScheme: { scheme } }])),
    ...(required && { securityRequirements: names.map(name => ({ schemes: { [name]: { list: [] } } })) }),
    ...kept,
  }
}

/** A scheme in OpenAPI's form, which v0.3 uses; one that A2A does not know comes back as it is. */
export const writeV0Scheme = (scheme: JsonObject): JsonObject => {
  const wrapper = wrapperOf(scheme)
  if (wrapper === undefined) return scheme
  const inner = scheme[wrapper] as JsonObject
  if (wrapper !== 'apiKeySecurityScheme') return { type: types[wrapper] as string, ...inner }
  return { type: 'apiKey', ...without(inner, 'location'), in: inner.location as Json }
}

/** The v1.0 wrapper that a scheme bears, where it is one that A2A knows. */
export const wrapperOf = (scheme: JsonObject): string | undefined =>
  Object.keys(scheme).find(name => Object.hasOwn(types, name) && isObject(scheme[name]))
