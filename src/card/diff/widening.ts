import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/json.ts'
import { collectStrings } from '../../json/tree.ts'
import { getApiKeyHeaders } from '../call-profile.ts'
import type { AgentCard, AgentSkill } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'
import { allowsAnonymous } from '../read/security-requirements.ts'
import { getWrappers } from '../read/security-schemes.ts'

/** Where a card sends calls and did not before: another address on the same host is another agent's, or nobody's. */
const newEndpoints = (before: AgentCard, after: AgentCard): CardError[] =>
  added(endpoints(before), endpoints(after)).map(({ url, as, place }) => ({
    pointer: place,
    message: `sends calls to ${plain(url)}${as && ` for the tenant ${JSON.stringify(as)}`}, where none went before`,
  }))

/** Where the OAuth and OpenID Connect schemes of a card send callers and did not before: one host can have many issuers. */
const newAuthorities = (before: AgentCard, after: AgentCard): CardError[] =>
  added(authorities(before), authorities(after)).map(({ url, place }) => ({
    pointer: place,
    message: `sends credentials to ${plain(url)}, where none went before`,
  }))

/** An address, and as what it is used: what was a place for tokens is no issuer yet. */
type Address = { url: URL; as: string; place: Pointer }

const addressed = (text: string, as: string, place: Pointer): Address[] => {
  const url = URL.parse(text)
  return url === null ? [] : [{ url, as, place }]
}

const endpoints = ({ supportedInterfaces }: AgentCard): Address[] =>
  supportedInterfaces.flatMap(({ url, tenant = '' }, index) =>
    addressed(url, tenant, formatPointer('supportedInterfaces', index, 'url')),
  )

const authorities = ({ securitySchemes = {} }: AgentCard): Address[] =>
  collectStrings(securitySchemes)
    .filter(({ name }) => /url$/i.test(name))
    .flatMap(({ value, name, pointer }) => addressed(value, name, `/securitySchemes${pointer()}`))

const added = (before: readonly Address[], after: readonly Address[]): Address[] =>
  after.filter(({ url, as }) => !before.some(known => known.as === as && leadsThere(known.url, url)))

/** An address that is reached without encryption is not the one that was reached with it. */
const leadsThere = (known: URL, url: URL): boolean =>
  withoutScheme(known) === withoutScheme(url) && (known.protocol === url.protocol || url.protocol === 'https:')

const withoutScheme = (url: URL): string => plain(url).slice(url.protocol.length)

const plain = ({ href, hash }: URL): string => href.slice(0, href.length - hash.length)

type Requirements = NonNullable<AgentCard['securityRequirements']>
type Requirement = Requirements[number]

/** Where a card asks callers for less than it did: at the card, or at a skill whose own requirements count instead. */
const weakerRequirements = (before: AgentCard, after: AgentCard): CardError[] => {
  const had = hadBy(before, after)
  return [
    ...weaker(before.securityRequirements, after.securityRequirements, '/securityRequirements'),
    ...after.skills.flatMap((skill, index) => {
      const at = formatPointer('skills', index, 'securityRequirements')
      const asked = skill.securityRequirements ?? after.securityRequirements
      const found = had(skill).flatMap(earlier => weaker(earlier, asked, at))
      return [...new Map(found.map(each => [`${each.pointer} ${each.message}`, each])).values()]
    }),
  ]
}

/**
 * Says what callers of a skill had to show before. A skill that is new can be one that is gone under another name: then it is
 * what each of those asked for of its own, too.
 */
const hadBy = (before: AgentCard, after: AgentCard) => {
  const { securityRequirements: card } = before
  const known = new Map(before.skills.map(({ id, securityRequirements }) => [id, securityRequirements]))
  const kept = new Set(after.skills.map(({ id }) => id))
  const gone = new Map(
    before.skills.flatMap(({ id, securityRequirements: own }) =>
      own && !kept.has(id) ? [[JSON.stringify(own), own] as const] : [],
    ),
  )
  return ({ id, securityRequirements: own }: AgentSkill): (Requirements | undefined)[] => {
    const had = known.get(id)
    if (had) return [had]
    return [...(own ? [card] : []), ...(known.has(id) ? [] : gone.values())]
  }
}

/** Each alternative must ask for all that one of the earlier ones asked for. */
const weaker = (before: Requirements = [], after: Requirements = [], at: Pointer): CardError[] => {
  if (allowsAnonymous(before)) return []
  if (allowsAnonymous(after))
    return [{ pointer: at, message: 'asks callers for nothing, where credentials were asked for' }]
  return after.flatMap((alternative, index) =>
    before.some(earlier => asksForAll(alternative, earlier))
      ? []
      : [
          {
            pointer: at + formatPointer(index),
            message: `lets callers in with ${named(alternative)}, which was not enough`,
          },
        ],
  )
}

const asksForAll = ({ schemes }: Requirement, { schemes: earlier }: Requirement): boolean =>
  Object.entries(earlier).every(([name, { list = [] }]) => {
    const scopes = Object.hasOwn(schemes, name) ? (schemes[name]?.list ?? []) : undefined
    return scopes !== undefined && list.every(scope => scopes.includes(scope))
  })

const named = ({ schemes }: Requirement): string =>
  Object.entries(schemes)
    .map(([name, { list = [] }]) => (list.length > 0 ? `${name} (${list.join(', ')})` : name))
    .join(' and ')

/** What proves more of a caller, and shows less to others, is stronger. What is none of these proves nothing. */
const kinds: readonly { name: string; wrapper: string; strength: number; is?: (scheme: JsonObject) => boolean }[] = [
  { name: 'mutual TLS', wrapper: 'mtlsSecurityScheme', strength: 6 },
  { name: 'OpenID Connect', wrapper: 'openIdConnectSecurityScheme', strength: 5 },
  { name: 'OAuth with a flow that is no longer advised', wrapper: 'oauth2SecurityScheme', strength: 3, is: hasOldFlow },
  { name: 'OAuth', wrapper: 'oauth2SecurityScheme', strength: 5 },
  { name: 'a bearer token', wrapper: 'httpAuthSecurityScheme', strength: 4, is: says('scheme', /^bearer$/i) },
  { name: 'a password or its like', wrapper: 'httpAuthSecurityScheme', strength: 2 },
  { name: 'a key in the URL', wrapper: 'apiKeySecurityScheme', strength: 1, is: says('location', /^query$/) },
  { name: 'a key', wrapper: 'apiKeySecurityScheme', strength: 2 },
]
const unknown = { name: 'a scheme that A2A does not know', strength: 0 }

/** The schemes of a card that are gone, or that ask for weaker credentials than they did. */
const weakerSchemes = (
  { securitySchemes: before = {} }: AgentCard,
  { securitySchemes: after = {} }: AgentCard,
): CardError[] =>
  Object.entries(before).flatMap(([name, scheme]) => {
    const at = formatPointer('securitySchemes', name)
    const now = Object.hasOwn(after, name) ? after[name] : undefined
    if (now === undefined) return [{ pointer: at, message: 'is gone' }]
    const [had, has] = [kindOf(scheme), kindOf(now)]
    return has.strength < had.strength
      ? [{ pointer: at, message: `is ${has.name}, which is weaker than what it was: ${had.name}` }]
      : []
  })

const kindOf = (scheme: JsonObject): { name: string; strength: number } => {
  const [[wrapper, inner] = []] = getWrappers(scheme)
  return kinds.find(kind => kind.wrapper === wrapper && isJsonObject(inner) && (kind.is?.(inner) ?? true)) ?? unknown
}

function says(member: string, form: RegExp) {
  return (scheme: JsonObject): boolean => form.test(String(scheme[member]))
}

/** Flows that show a token in a URL, or a password to the client. */
function hasOldFlow({ flows }: { flows?: Json }): boolean {
  return isJsonObject(flows) && ['implicit', 'password'].some(flow => flows[flow] !== undefined)
}

/**
 * What of a card widens access beside the one before it: calls or credentials that go to another address, and callers of whom
 * less is asked. Both are canonical cards before any address in them is this host's; pointers are into the later one.
 */
export const findWidenings = (before: AgentCard, after: AgentCard): CardError[] => [
  ...newEndpoints(before, after),
  ...newAuthorities(before, after),
  ...newHeaders(before, after),
  ...weakerRequirements(before, after),
  ...weakerSchemes(before, after),
  ...extensionsGone(before, after),
]

/** What callers send in the header of an API key goes to the agent; any other header stays here. */
const newHeaders = (before: AgentCard, after: AgentCard): CardError[] => {
  const known = new Set(getApiKeyHeaders(before).map(({ header }) => header.toLowerCase()))
  return getApiKeyHeaders(after)
    .filter(({ header }) => !known.has(header.toLowerCase()))
    .map(({ scheme, header }) => ({
      pointer: formatPointer('securitySchemes', scheme, 'apiKeySecurityScheme', 'name'),
      message: `takes the header ${header} of callers to the agent, which stayed here before`,
    }))
}

const extensionsGone = (before: AgentCard, after: AgentCard): CardError[] => {
  const now = new Set(requiredOf(after))
  return requiredOf(before)
    .filter(uri => !now.has(uri))
    .map(uri => ({
      pointer: '/capabilities/extensions',
      message: `asks callers no longer for the extension ${uri}`,
    }))
}

const requiredOf = ({ capabilities: { extensions = [] } }: AgentCard): string[] =>
  extensions.filter(({ required }) => required).map(({ uri }) => uri)
