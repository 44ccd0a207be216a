import * as v from 'valibot'
import { asObject, formatPointer, isJsonObject, type JsonObject, omit, type Pointer, toText } from '../../json/index.ts'
import { detectDialect, dialects } from '../dialects/index.ts'
import { callerPolicy, isBehindBridge, listTiers, type Manifest } from '../manifest/index.ts'
import type { AgentCard, CallerPolicy, CapabilityDefaults, DialectName, Finding } from '../model/index.ts'
import { jsonObject, looseObject, record, SecurityRequirements, validate } from '../model/index.ts'
import {
  allowsAnonymous,
  canonicalFlag,
  canonicalKey,
  fillDefaults,
  getWrappers,
  hasEndpoint,
  listCapabilityNames,
  Provenance,
  readAuthentication,
  requirementFields,
  validateCard,
  withMcpEndpoint,
  writeV0Requirements,
} from '../read/index.ts'
import { bridgeCapabilities } from '../rewrite/index.ts'

/** The dialect of a card, and the capabilities that it gets where it declares none. */
type ReadOptions = { dialect: DialectName; capabilities: CapabilityDefaults }

/** A valid canonical card with all defaults, and the authored card with what the manifest adds to it. */
export type CanonicalCard = ReadOptions & { card: AgentCard; authored: JsonObject }

/** Reads the card of a manifest, fills its defaults and validates it. `options` take precedence over the card. */
export const readCanonicalCard = (
  manifest: Manifest,
  provenance: Provenance,
  options: Partial<ReadOptions> = {},
): CanonicalCard | { errors: Finding[] } => {
  const isMcp = manifest.upstream.mcp !== undefined
  const card = applyManifest(manifest, provenance)
  const dialect = options.dialect ?? (isMcp ? 'superx' : detectDialect(card))
  const authored = withCallerScheme(manifest, card, dialect, provenance)
  const document = isMcp ? withMcpEndpoint(manifest, authored, provenance) : authored
  const ofBridge = isBehindBridge(manifest) ? bridgeCapabilities : undefined
  const capabilities = options.capabilities ?? ofBridge ?? dialects[dialect].capabilityDefaults(document)
  const canonical = toCanonical(document, dialect, provenance, capabilities)
  const errors = validateCard(canonical, document, provenance)
  // The schema has just found it to be an AgentCard. The author's own value is served, not a copy by the parser.
  return errors.length > 0 ? { errors } : { card: canonical as AgentCard, authored, dialect, capabilities }
}

/** Reads a document and fills its defaults without validating it. */
export const toCanonical = (
  document: JsonObject,
  dialect: DialectName,
  provenance: Provenance,
  capabilities = dialects[dialect].capabilityDefaults(document),
): JsonObject =>
  fillDefaults(
    dialects[dialect].read(document, provenance),
    listCapabilityNames(document.capabilities) ? onlyNamed(capabilities) : capabilities,
    provenance,
  )

/** Returns the defaults of a card that lists its capabilities by name: the list is complete. */
const onlyNamed = ({ flags }: CapabilityDefaults): CapabilityDefaults => ({
  flags: Object.fromEntries(Object.keys(flags).map(name => [name, false])),
  reason: 'the list of capabilities does not name it',
})

/** Adds to a card what follows from its manifest: the endpoint, if it has none, and how to read the extended card. */
const applyManifest = (manifest: Manifest, provenance: Provenance): JsonObject => {
  const { route, upstream } = manifest
  // The card of an MCP server gets its endpoint in `withMcpEndpoint`.
  const needsUrl = upstream.mcp === undefined && !hasEndpoint(manifest.card)
  const card = needsUrl && upstream.url !== undefined ? { ...manifest.card, url: upstream.url } : manifest.card
  const declared = findExtendedCardFlag(card)
  if (listTiers(manifest).length > 0) {
    if (declared === undefined)
      provenance.noteDefault('/capabilities/extendedAgentCard', true, 'set to true: the manifest has an extended card')
    const extended = setCapabilities(card, { extendedAgentCard: true })
    if (declaresScheme(extended)) return extended
    const bearer = { type: 'http', scheme: 'bearer' }
    const message = `set to ${JSON.stringify({ bearer })}: the extended card is for callers with a token`
    provenance.noteDefault('/securitySchemes', undefined, message)
    return { ...extended, securitySchemes: { bearer } }
  }
  const isUnreachable = upstream.card !== undefined && route === 'closed'
  if (declared === undefined || (upstream.mcp === undefined && !isUnreachable)) return card
  // No client is promised what it cannot get.
  const obstacle = isUnreachable
    ? '`route: closed` forwards no call for the extended card'
    : 'an MCP server has no extended card'
  provenance.noteConversion(declared, `read as false: ${obstacle}`)
  return setCapabilities(card, { extendedAgentCard: false })
}

const findExtendedCardFlag = (card: JsonObject): Pointer | undefined => {
  const names = listCapabilityNames(card.capabilities)
  if (names?.some(name => canonicalFlag(name) === 'extendedAgentCard')) return '/capabilities'
  const flags = asObject(card.capabilities)
  const isFlag = (key: string) => flags[key] === true && canonicalKey(key, 'capabilities') === 'extendedAgentCard'
  const flag = Object.keys(flags).find(isFlag)
  if (flag !== undefined) return formatPointer('capabilities', flag)
  const atTop = Object.keys(card).find(key => card[key] === true && isExtendedCardField(key))
  return atTop && formatPointer(atTop)
}

const isExtendedCardField = (key: string): boolean => canonicalKey(key, 'card') === 'supportsAuthenticatedExtendedCard'

/** Sets capabilities of an authored card, in the form in which the card declares its capabilities. */
export const setCapabilities = (card: JsonObject, values: Readonly<Record<string, boolean>>): JsonObject => {
  const isSet = (key: string): boolean => Object.hasOwn(values, canonicalFlag(key) ?? key)
  const capabilities = card.capabilities ?? {}
  const names = listCapabilityNames(capabilities)
  // Validation reports capabilities of a wrong type.
  if (!names && !isJsonObject(capabilities)) return card
  const trueNames = Object.keys(values).filter(name => values[name])
  const flag = values.extendedAgentCard
  const atTop = flag === undefined ? [] : Object.keys(card).filter(isExtendedCardField)
  return {
    ...card,
    capabilities: names
      ? [...names.filter(name => !isSet(name)), ...trueNames]
      : { ...omit(capabilities as JsonObject, ...Object.keys(capabilities).filter(isSet)), ...values },
    ...Object.fromEntries(atTop.map(key => [key, flag])),
  }
}

/** Declares what callers of a gateway need, beside the author's alternatives, unless a declared scheme is checked. */
const withCallerScheme = (manifest: Manifest, card: JsonObject, dialect: DialectName, provenance: Provenance) => {
  const policy = callerPolicy(manifest)
  if (policy === 'anyone' || manifest.route !== 'gateway') return card
  const read = validate(SecurityFields, dialects[dialect].read(card, new Provenance()))
  // The schema of the card rejects them.
  if ('errors' in read) return card
  const { securitySchemes, securityRequirements } = read.output
  const checked = Object.keys(securitySchemes).filter(name => isChecked(securitySchemes[name] ?? {}, policy))
  const schemesField = 'security_schemes' in card ? 'security_schemes' : 'securitySchemes'
  const schemes = card[schemesField]
  // Schemes that `authentication` names are not read beside others.
  const isReplaced = checked.length === 0 && !isJsonObject(schemes)
  const required = isReplaced || allowsAnonymous(securityRequirements) ? [] : securityRequirements
  if (required.some(({ schemes }) => Object.keys(schemes).every(name => checked.includes(name)))) return card
  const name = checked[0] ?? ('bearer' in securitySchemes ? 'hostToken' : 'bearer')
  const reason = `callers need a token of ${policy === 'issuer' ? 'the issuer' : 'this host'}`
  const bearer = { type: 'http', scheme: 'bearer', description: 'A token of this host with the scope call' }
  if (checked.length === 0)
    provenance.noteDefault(`/securitySchemes${formatPointer(name)}`, undefined, `set to a bearer scheme: ${reason}`)
  provenance.noteDefault('/securityRequirements', undefined, `with ${JSON.stringify({ [name]: [] })} added: ${reason}`)
  // The author's requirements stay in their form: the canonical one names split schemes, which the card does not have.
  const authored = requirementFields.find(field => (card[field] ?? null) !== null)
  const field = authored ?? (dialects[dialect].form === 'interfaces' ? 'securityRequirements' : 'security')
  const toForm = (list: typeof required) => (field === 'security' ? writeV0Requirements(list, '', []) : list)
  const kept = authored === undefined || required.length === 0 ? toForm(required) : [card[authored] ?? []].flat()
  return {
    ...omit(card, ...requirementFields),
    ...(checked.length === 0 && { [schemesField]: { ...(isJsonObject(schemes) && schemes), [name]: bearer } }),
    [field]: [...kept, ...toForm([{ schemes: { [name]: { list: [] } } }])],
  }
}

const SecurityFields = looseObject({
  securitySchemes: v.optional(record(jsonObject()), {}),
  securityRequirements: v.optional(SecurityRequirements, []),
})

/** Returns whether this host checks the credentials of a scheme: JWTs of an issuer, or its own tokens. */
const isChecked = (scheme: JsonObject, policy: CallerPolicy): boolean =>
  getWrappers(scheme).some(([wrapper, { scheme: name, location }]) =>
    policy === 'issuer'
      ? wrapper === 'openIdConnectSecurityScheme'
      : (wrapper === 'httpAuthSecurityScheme' && toText(name ?? '').toLowerCase() === 'bearer') ||
        (wrapper === 'apiKeySecurityScheme' && location === 'header'),
  )

/** Counts a wrong type as a declaration: validation rejects it. */
const declaresScheme = ({ securitySchemes, security_schemes, authentication = null }: JsonObject): boolean => {
  const schemes = securitySchemes ?? security_schemes ?? undefined
  if (schemes !== undefined) return !isJsonObject(schemes) || Object.keys(schemes).length > 0
  return 'securitySchemes' in readAuthentication({ authentication }, new Provenance())
}
