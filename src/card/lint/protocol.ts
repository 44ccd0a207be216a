import { validateStrict } from 'compare-versions'
import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/json.ts'
import { isBridged } from '../manifest/manifest.ts'
import { majorMinor } from '../model/calls.ts'
import {
  type Authored,
  authoredSkills,
  getAuthored,
  getAuthoredItems,
  isBlank,
  type LintContext,
  type Rule,
  rule,
} from './rule.ts'

/** The places of the flags for streaming and push that are true, and that the author declared; or, with `declared` false, did not. */
const trueFlags = (subject: LintContext, declared: boolean): Pointer[] => {
  const { capabilities } = subject.authored
  const names = typeof capabilities === 'string' ? [capabilities] : capabilities
  const isDeclared = (flag: string): boolean =>
    Array.isArray(names)
      ? names.some(name => String(name).replaceAll('_', '') === flag.toLowerCase() || name === flag)
      : getAuthored(subject, formatPointer('capabilities', flag)).value !== undefined
  return ['streaming', 'pushNotifications']
    .filter(flag => subject.card.capabilities[flag] === true && isDeclared(flag) === declared)
    .map(flag => subject.at(formatPointer('capabilities', flag)))
}

/** Tools of an MCP server answer once: nothing behind such a card can stream A2A events or call a webhook. */
const onlyMcp = (subject: LintContext): boolean =>
  !isBehindBridge(subject) &&
  (subject.authored.protocol === 'mcp' ||
    subject.manifest.upstream.mcp !== undefined ||
    subject.card.supportedInterfaces.every(item => item.protocolBinding.toUpperCase() === 'MCP'))

/** This host answers for the tools then, and says itself what it can. */
const isBehindBridge = ({ manifest }: LintContext): boolean => manifest.route === 'gateway' && isBridged(manifest)

/** What the card promises, and whether it can be kept. */
export const capabilities: readonly Rule[] = [
  rule(
    'capability-undeclared',
    'info',
    'leave streaming or pushNotifications undeclared, which are then taken to be true: declare both',
    subject => (!isBehindBridge(subject) && trueFlags(subject, false).length > 0 ? [subject.at('/capabilities')] : []),
  ),
  rule(
    'capability-impossible',
    'warning',
    'cannot be true of an MCP endpoint, nor where `route` is closed: set it to false',
    subject => (subject.manifest.route === 'closed' || onlyMcp(subject) ? trueFlags(subject, true) : []),
  ),
]

type Reference = { name: string; place: Pointer }

/** The schemes that a requirement names, in whichever form it is written. */
const references = (requirement: Json | undefined, place: Pointer): Reference[] => {
  if (typeof requirement === 'string') return [{ name: requirement, place }]
  if (Array.isArray(requirement))
    return requirement.flatMap((item, index) => references(item, place + formatPointer(index)))
  if (!isJsonObject(requirement)) return []
  return isJsonObject(requirement.schemes)
    ? references(requirement.schemes, `${place}/schemes`)
    : Object.keys(requirement).map(name => ({ name, place: place + formatPointer(name) }))
}

const requirementsOf = (owner: JsonObject, place: Pointer): Reference[] =>
  ['securityRequirements', 'security_requirements', 'security'].flatMap(name =>
    references(owner[name], place + formatPointer(name)),
  )

const defined = ({ card }: LintContext): JsonObject => card.securitySchemes ?? {}

/** Telex's way to say that no credentials are asked for. */
const isOpen = ({ authored: { authentication } }: LintContext): boolean =>
  isJsonObject(authentication) && authentication.required === false

/** How callers prove who they are. */
export const security: readonly Rule[] = [
  rule(
    'scheme-undefined',
    'error',
    'is not a scheme of `securitySchemes`, so no client can call: define it there, or correct the name',
    subject =>
      [
        ...requirementsOf(subject.authored, ''),
        ...authoredSkills(subject).flatMap(({ authored, place }) => requirementsOf(authored, place)),
      ]
        .filter(({ name }) => !Object.hasOwn(defined(subject), name))
        .map(({ place }) => place),
  ),
  rule('security-undeclared', 'info', 'are not declared: clients will call without credentials', subject =>
    Object.keys(defined(subject)).length > 0 || isOpen(subject) ? [] : [subject.at('/securitySchemes')],
  ),
]

/** The versions of A2A that there are, as text and as the number that some write; and MCP's, which are dates. */
const published = /^(?:0\.[123]|1\.0|1|\d{4}-\d\d-\d\d)$/

const placesOf = (found: Authored[]) => found.map(({ place }) => place)

/** Where a card says which version of the protocol it speaks: in each interface that it lists, else on top. */
const spoken = (subject: LintContext): Authored[] => {
  const listed = getAuthoredItems(subject, '/supportedInterfaces').map(({ item, place }) => ({
    place: `${place}/protocolVersion`,
    value: item.protocolVersion,
  }))
  return listed.length > 0 ? listed : [getAuthored(subject, '/protocolVersion')]
}

/** The agent's version and the protocol's. */
export const versions: readonly Rule[] = [
  rule('version-semver', 'warning', 'is not a semantic version, such as "1.4.0"', subject =>
    placesOf(
      [getAuthored(subject, '/version')].filter(({ value }) => !isBlank(value) && !validateStrict(String(value))),
    ),
  ),
  rule(
    'protocol-version-unknown',
    'warning',
    'is not a version of A2A, such as "1.0": clients may refuse the agent',
    subject =>
      placesOf(spoken(subject).filter(({ value }) => !isBlank(value) && !published.test(majorMinor(String(value))))),
  ),
]
