import { validateStrict } from 'compare-versions'
import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer, toText } from '../../json/index.ts'
import { callerPolicy, isBridged } from '../manifest/index.ts'
import { majorMinor } from '../model/index.ts'
import {
  canonicalFlag,
  cardTransports,
  differInTransport,
  getWrappers,
  interfaceTransports,
  isInterfaceList,
  listCapabilityNames,
  parseBinding,
  type TransportField,
  unreadTransports,
} from '../read/index.ts'
import {
  type Authored,
  type Finding,
  getAuthored,
  getAuthoredItems,
  getAuthoredSkills,
  isBlank,
  type LintContext,
  type Rule,
  rule,
} from './rule.ts'

/** Returns the places of the `streaming` and `pushNotifications` flags that are true, either declared or by default. */
const trueFlags = (context: LintContext, declared: boolean): Pointer[] => {
  const { capabilities } = context.authored
  const names = listCapabilityNames(capabilities)
  const isDeclared = (flag: string): boolean =>
    names
      ? names.some(name => canonicalFlag(name) === flag)
      : getAuthored(context, formatPointer('capabilities', flag)).value !== undefined
  return ['streaming', 'pushNotifications']
    .filter(flag => context.card.capabilities[flag] === true && isDeclared(flag) === declared)
    .map(flag => context.sourceOf(formatPointer('capabilities', flag)))
}

/** Returns whether an agent is a bare MCP server: its tools can neither stream A2A events nor send notifications. */
const isMcpOnly = (context: LintContext): boolean =>
  !isBehindBridge(context) &&
  (context.authored.protocol === 'mcp' ||
    context.manifest.upstream.mcp !== undefined ||
    context.card.supportedInterfaces.every(item => item.protocolBinding.toUpperCase() === 'MCP'))

/** Returns whether this host's bridge answers for the agent, with the bridge's own capabilities. */
const isBehindBridge = ({ manifest }: LintContext): boolean => manifest.route === 'gateway' && isBridged(manifest)

/** Rules about declared capabilities. */
export const capabilities: readonly Rule[] = [
  rule(
    'capability-undeclared',
    'info',
    'do not declare streaming or pushNotifications, which will be advertised as supported: set both, as in { "streaming": false, "pushNotifications": false }',
    context =>
      !isBehindBridge(context) && trueFlags(context, false).length > 0 ? [context.sourceOf('/capabilities')] : [],
  ),
  rule(
    'capability-impossible',
    'warning',
    'cannot be true for an MCP endpoint, or with `route: closed`: set it to false',
    context => (context.manifest.route === 'closed' || isMcpOnly(context) ? trueFlags(context, true) : []),
  ),
]

type Reference = { name: string; pointer: Pointer }

/** Returns the schemes that a requirement names, in the form of any generation. */
const findReferences = (requirement: Json | undefined, pointer: Pointer): Reference[] => {
  if (typeof requirement === 'string') return [{ name: requirement, pointer }]
  if (Array.isArray(requirement))
    return requirement.flatMap((item, index) => findReferences(item, pointer + formatPointer(index)))
  if (!isJsonObject(requirement)) return []
  return isJsonObject(requirement.schemes)
    ? findReferences(requirement.schemes, `${pointer}/schemes`)
    : Object.keys(requirement).map(name => ({ name, pointer: pointer + formatPointer(name) }))
}

/** Returns the schemes that the requirements of a card or a skill name. */
const requiredSchemes = (object: JsonObject, pointer: Pointer): Reference[] =>
  ['securityRequirements', 'security_requirements', 'security'].flatMap(name =>
    findReferences(object[name], pointer + formatPointer(name)),
  )

const listRequired = (context: LintContext): Reference[] => [
  ...requiredSchemes(context.authored, ''),
  ...getAuthoredSkills(context).flatMap(({ authored, pointer }) => requiredSchemes(authored, pointer)),
]

const unknownType = 'is of a type that A2A does not have'

/** Says what to write in place of a scheme of an unknown type. */
const suggestScheme = ({ type, scheme }: JsonObject): string => {
  const word = toText(type ?? scheme ?? '').toLowerCase()
  return word === 'bearer' || word === 'basic'
    ? `${unknownType}: write { "type": "http", "scheme": "${word}" }`
    : `${unknownType}: use apiKey, http, oauth2, openIdConnect or mutualTLS`
}

/** Finds the schemes of unknown types that a requirement names. Cards of A2A are served without them. */
const findUnknownTypes = (context: LintContext): Finding[] => {
  const required = new Set(listRequired(context).map(({ name }) => name))
  return Object.entries(definedSchemes(context)).flatMap(([name, scheme]) =>
    required.has(name) && isJsonObject(scheme) && getWrappers(scheme).length === 0
      ? [{ pointer: context.sourceOf(formatPointer('securitySchemes', name)), message: suggestScheme(scheme) }]
      : [],
  )
}

const definedSchemes = ({ card }: LintContext): JsonObject => card.securitySchemes ?? {}

/** Telex's cards declare with `authentication.required: false` that callers need no credentials. */
const declaresNoAuthentication = ({ authored: { authentication } }: LintContext): boolean =>
  isJsonObject(authentication) && authentication.required === false

/** Returns whether clients call an agent at its own address although the manifest limits its callers. */
const hasUncheckedCallers = ({ manifest }: LintContext): boolean =>
  manifest.route === 'direct' && callerPolicy(manifest) !== 'anyone'

/** Rules about authentication. */
export const security: readonly Rule[] = [
  rule(
    'scheme-undefined',
    'error',
    'is not defined in `securitySchemes`, so no client can call: define it there, or correct the name',
    context =>
      listRequired(context)
        .filter(({ name }) => !Object.hasOwn(definedSchemes(context), name))
        .map(({ pointer }) => pointer),
  ),
  { id: 'scheme-type-unknown', severity: 'error', summary: unknownType, check: findUnknownTypes },
  rule(
    'callers-unchecked',
    'warning',
    "is the agent's own address, where this host checks no callers: let the agent check them, or set `route: gateway`",
    context => (hasUncheckedCallers(context) ? [context.sourceOf('/supportedInterfaces/0/url')] : []),
  ),
  rule(
    'security-undeclared',
    'info',
    'are missing, so clients will call without credentials: if the agent needs any, declare them, as in { "token": { "type": "http", "scheme": "bearer" } }',
    context =>
      Object.keys(definedSchemes(context)).length > 0 ||
      declaresNoAuthentication(context) ||
      hasUncheckedCallers(context)
        ? []
        : [context.sourceOf('/securitySchemes')],
  ),
]

type Transports = {
  /** The fields that name a transport, the one that is read first. */
  fields: TransportField[]
  /** The names of fields that cannot be read. */
  unread: string[]
  pointer: Pointer
}

/** Returns what an author wrote of the card's own transport, and of the transport of each interface in its lists. */
const transportsOf = (context: LintContext): Transports[] => [
  { fields: cardTransports(context.authored), unread: unreadTransports(context.authored), pointer: '' },
  ...[
    '/supportedInterfaces',
    '/additionalInterfaces',
    ...(isInterfaceList(context.authored.interfaces) ? ['/interfaces'] : []),
  ].flatMap(name =>
    getAuthoredItems(context, name).map(({ item, pointer }) => ({
      fields: interfaceTransports(item),
      unread: unreadTransports(item),
      pointer,
    })),
  ),
]

/** Returns the top-level transport if no interface in the list has it: none at the card's URL, or none at all if it has no URL. */
const findUnlistedTransport = (context: LintContext): Pointer[] => {
  const { url = null } = context.authored
  const [field] = cardTransports(context.authored)
  const listed = getAuthoredItems(context, '/supportedInterfaces')
    .filter(({ item }) => url === null || item.url === url)
    .flatMap(({ item }) => interfaceTransports(item).slice(0, 1))
  return field && listed.length > 0 && listed.every(({ value }) => differInTransport(value, field.value))
    ? [formatPointer(field.name)]
    : []
}

/** Returns the fields that name another transport than the field that is read. */
const findTransportClashes = (context: LintContext): Pointer[] => [
  ...transportsOf(context).flatMap(({ fields: [read, ...others], pointer }) =>
    others.flatMap(({ name, value }) =>
      read && differInTransport(read.value, value) ? [pointer + formatPointer(name)] : [],
    ),
  ),
  ...findUnlistedTransport(context),
]

/** Whether a binding is neither one of A2A or MCP nor, as A2A asks of custom bindings, a URI. */
const isUnknownTransport = (binding: string): boolean =>
  parseBinding(binding) === undefined && binding.toUpperCase() !== 'MCP' && !/^[a-z][a-z\d+.-]*:/i.test(binding)

/** Rules about transports. */
export const transports: readonly Rule[] = [
  rule(
    'transport-clash',
    'error',
    'names another transport than the field that clients read, so calls would go wrong: keep the one that is true',
    findTransportClashes,
  ),
  rule(
    'transport-unknown',
    'warning',
    'is not a transport of A2A (JSONRPC, HTTP+JSON or GRPC), so most clients cannot call: use one, or the URI of your own',
    context =>
      transportsOf(context).flatMap(({ fields: [read], unread, pointer }) => {
        if (read === undefined) return unread.map(name => pointer + formatPointer(name))
        return typeof read.value === 'string' && isUnknownTransport(read.value)
          ? [pointer + formatPointer(read.name)]
          : []
      }),
  ),
]

/** The published versions of A2A, also as a number; and those of MCP, which are dates. */
const publishedVersion = /^(?:0\.[123]|1\.0|1|\d{4}-\d\d-\d\d)$/

/** Returns the protocol versions of a card: one for each interface in its list, else the one at the top level. */
const protocolVersions = (context: LintContext): Authored[] => {
  const listed = getAuthoredItems(context, '/supportedInterfaces').map(({ item, pointer }) => ({
    pointer: `${pointer}/protocolVersion`,
    value: item.protocolVersion,
  }))
  return listed.length > 0 ? listed : [getAuthored(context, '/protocolVersion')]
}

const wherePresent = (values: readonly Authored[], isWrong: (text: string) => boolean): Pointer[] =>
  values.filter(({ value }) => !isBlank(value) && isWrong(toText(value))).map(({ pointer }) => pointer)

/** Rules about the version of the agent and of the protocol. */
export const versions: readonly Rule[] = [
  rule('version-semver', 'warning', 'is not a semantic version, such as "1.4.0"', context =>
    wherePresent([getAuthored(context, '/version')], version => !validateStrict(version)),
  ),
  rule(
    'protocol-version-unknown',
    'warning',
    'is not a version of A2A, such as "1.0", so clients may reject the agent',
    context => wherePresent(protocolVersions(context), version => !publishedVersion.test(majorMinor(version))),
  ),
]
