import * as v from 'valibot'
import {
  formatPointer,
  isJsonObject,
  type JsonObject,
  jsonEntries,
  omit,
  type Pointer,
  toText,
} from '../../json/index.ts'
import { detectDialect, dialects } from '../dialects/index.ts'
import { callerPolicy, isBridged, listTiers, type Manifest } from '../manifest/index.ts'
import {
  type AgentCard,
  type CallerPolicy,
  type CapabilityDefaults,
  type CardError,
  type DialectName,
  jsonObject,
  looseObject,
  record,
  SecurityRequirements,
  validate,
} from '../model/index.ts'
import {
  allowsAnonymous,
  canonicalFlag,
  canonicalKey,
  fillDefaults,
  getWrappers,
  listCapabilityNames,
  Provenance,
  presentEndpointFields,
  readAuthentication,
  validateCard,
  withMcpEndpoint,
  writeV0Requirements,
} from '../read/index.ts'
import { bridgeCapabilities } from '../rewrite/index.ts'

/** A valid canonical card with all defaults, and the authored card with what the manifest adds to it. */
export type CanonicalCard = { card: AgentCard; authored: JsonObject } & Reading

/** How a card is read: its dialect, and the capabilities that it gets where it declares none. */
type Reading = { dialect: DialectName; capabilities: CapabilityDefaults }

/** Reads the card of a manifest, fills its defaults and validates it. `reading` takes precedence over what the card itself implies. */
export const readCanonicalCard = (
  manifest: Manifest,
  provenance: Provenance,
  reading: Partial<Reading> = {},
): CanonicalCard | { errors: CardError[] } => {
  const isMcp = manifest.upstream.mcp !== undefined
  const card = applyManifest(manifest, provenance)
  const dialect = reading.dialect ?? (isMcp ? 'superx' : detectDialect(card))
  const authored = withCallerScheme(manifest, card, dialect, provenance)
  const document = isMcp ? withMcpEndpoint(manifest, authored, provenance) : authored
  const isBehindBridge = manifest.route === 'gateway' && isBridged(manifest)
  const capabilities =
    reading.capabilities ?? (isBehindBridge ? bridgeCapabilities : dialects[dialect].capabilityDefaults(document))
  const canonical = toCanonical(document, dialect, provenance, capabilities)
  const errors = validateCard(canonical, document, provenance)
  // The schema has just found it to be an AgentCard. What is served is the author's own value, not a copy by the parser.
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
  const card = withEndpoint(manifest)
  if (listTiers(manifest).length > 0) return withBearerScheme(withExtendedCard(card, provenance), provenance)
  const obstacle = extendedCardObstacle(manifest)
  return obstacle === undefined ? card : withoutExtendedCard(card, obstacle, provenance)
}

/** Returns why this host cannot fetch the extended card that a remote card declares; undefined if it can. */
const extendedCardObstacle = ({ route, upstream: { card, mcp } }: Manifest): string | undefined => {
  if (mcp !== undefined) return 'an MCP server has no extended card'
  return card !== undefined && route === 'closed' ? '`route: closed` forwards no call for the extended card' : undefined
}

/** Clears the flag of the extended card, so that no client is promised what it cannot get. */
const withoutExtendedCard = (card: JsonObject, obstacle: string, provenance: Provenance): JsonObject => {
  const declared = findExtendedCardFlag(card)
  if (declared === undefined) return card
  provenance.noteConversion(declared, `read as false: ${obstacle}`)
  return setCapabilities(card, { extendedAgentCard: false })
}

/** Returns where an authored card declares that it has an extended card. */
const findExtendedCardFlag = (card: JsonObject): Pointer | undefined => {
  const { capabilities } = card
  if (listCapabilityNames(capabilities)?.some(name => canonicalFlag(name) === 'extendedAgentCard'))
    return '/capabilities'
  const flags = isJsonObject(capabilities) ? jsonEntries(capabilities) : []
  const inCapabilities = flags.find(
    ([key, value]) => value === true && canonicalKey(key, 'capabilities') === 'extendedAgentCard',
  )
  if (inCapabilities) return formatPointer('capabilities', inCapabilities[0])
  const atTop = jsonEntries(card).find(([key, value]) => value === true && isExtendedCardField(key))
  return atTop && formatPointer(atTop[0])
}

/** Whether a field is v0.3's flag of the extended card. */
const isExtendedCardField = (key: string): boolean => canonicalKey(key, 'card') === 'supportsAuthenticatedExtendedCard'

/** Sets capabilities of an authored card, in the form in which the card declares its capabilities. */
export const setCapabilities = (card: JsonObject, values: Readonly<Record<string, boolean>>): JsonObject => {
  const isSet = (key: string): boolean => Object.hasOwn(values, canonicalFlag(key) ?? key)
  const { capabilities } = card
  const names = listCapabilityNames(capabilities)
  const trueNames = Object.keys(values).filter(name => values[name])
  const others = isJsonObject(capabilities) ? omit(capabilities, ...Object.keys(capabilities).filter(isSet)) : {}
  const flag = values.extendedAgentCard
  const atTop = flag === undefined ? [] : Object.keys(card).filter(isExtendedCardField)
  return {
    ...card,
    capabilities: names ? [...names.filter(name => !isSet(name)), ...trueNames] : { ...others, ...values },
    ...Object.fromEntries(atTop.map(key => [key, flag])),
  }
}

/** The card of an MCP server gets its endpoint in `withMcpEndpoint`. */
const withEndpoint = ({ card, upstream: { url, mcp } }: Manifest): JsonObject =>
  url === undefined || mcp !== undefined || presentEndpointFields(card).length > 0 ? card : { ...card, url }

/** Declares the extended card where the card declares its capabilities, and in v0.3's field if the card has it. */
const withExtendedCard = (card: JsonObject, provenance: Provenance): JsonObject => {
  const flags = card.capabilities ?? {}
  const names = listCapabilityNames(flags)
  const isDeclared = names
    ? names.some(name => canonicalFlag(name) === 'extendedAgentCard')
    : isJsonObject(flags) && flags.extendedAgentCard === true
  if (!isDeclared)
    provenance.noteDefault('/capabilities/extendedAgentCard', 'set to true: the manifest has an extended card')
  if (names) return setCapabilities(card, { extendedAgentCard: true })
  // Validation reports capabilities of a wrong type.
  if (!isJsonObject(flags)) return card
  return {
    ...card,
    capabilities: { ...flags, extendedAgentCard: true },
    ...('supportsAuthenticatedExtendedCard' in card && { supportsAuthenticatedExtendedCard: true }),
  }
}

/** Declares bearer tokens, with which callers read the extended card, unless the author declares any scheme. */
const withBearerScheme = (card: JsonObject, provenance: Provenance): JsonObject => {
  if (declaresScheme(card)) return card
  const bearer = { type: 'http', scheme: 'bearer' }
  provenance.noteDefault(
    '/securitySchemes',
    `set to ${JSON.stringify({ bearer })}: the extended card is for callers with a token`,
  )
  return { ...card, securitySchemes: { bearer } }
}

/**
 * Declares in the card of a gateway what its callers need, unless the author declares credentials that this host
 * checks. Other requirements of the author stay as alternatives.
 */
const withCallerScheme = (
  manifest: Manifest,
  card: JsonObject,
  dialect: DialectName,
  provenance: Provenance,
): JsonObject => {
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
    provenance.noteDefault(`/securitySchemes${formatPointer(name)}`, `set to a bearer scheme: ${reason}`)
  provenance.noteDefault('/securityRequirements', `with ${JSON.stringify({ [name]: [] })} added: ${reason}`)
  // What the author wrote stays in its form: the canonical form names split schemes, which the card does not have.
  const authored = requirementFields.find(field => (card[field] ?? null) !== null)
  const field = authored ?? (dialect === '1.0' ? 'securityRequirements' : 'security')
  const toForm = (list: typeof required) => (field === 'security' ? writeV0Requirements(list, '', []) : list)
  const kept = authored === undefined || required.length === 0 ? toForm(required) : [card[authored] ?? []].flat()
  return {
    ...omit(card, ...requirementFields),
    ...(checked.length === 0 && { [schemesField]: { ...(isJsonObject(schemes) && schemes), [name]: bearer } }),
    [field]: [...kept, ...toForm([{ schemes: { [name]: { list: [] } } }])],
  }
}

/** The fields of the requirements of a card, the one that is read first. */
const requirementFields = ['securityRequirements', 'security_requirements', 'security'] as const

const SecurityFields = looseObject({
  securitySchemes: v.optional(record(jsonObject()), {}),
  securityRequirements: v.optional(SecurityRequirements, []),
})

/** Whether this host checks the credentials of a scheme: JWTs of an issuer, or its own tokens. */
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
