import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEquals, mapMembers, parsePointer, toText } from '../../json/index.ts'
import type { AgentCard, AgentSkill, Finding, SecurityRequirements as Requirements } from '../model/index.ts'
import { allowsAnonymous, getWrappers } from '../read/index.ts'
import type { FoundChange, SkillPair } from './change-rules.ts'
import { changeIf, pairMembers, pairSkills, quote, quoteList } from './change-rules.ts'
import { compareValues } from './drift.ts'

/** Compares the security schemes of two cards, and which of them the cards and their skills require. */
export const compareSecurity = (before: AgentCard, after: AgentCard, skills: readonly SkillPair[]): FoundChange[] => {
  const budget = createBudget()
  return [
    ...pairMembers(before.securitySchemes, after.securitySchemes).flatMap(compareScheme),
    ...pairRequirements(before, after, skills).flatMap(pair => (pair.isNew ? [] : compareRequirements(pair, budget))),
  ]
}

/** Returns where the later of two canonical cards requires less of callers. */
export const findWeakerSecurity = (before: AgentCard, after: AgentCard): Finding[] => {
  const budget = createBudget()
  return [
    ...pairRequirements(before, after, pairSkills(before, after)).flatMap(pair => findWeaker(pair, budget)),
    ...pairMembers(before.securitySchemes, after.securitySchemes).flatMap(findWeakerScheme),
  ]
}

type Scheme = JsonObject | undefined

const compareScheme = ([name, before, after]: [name: string, before: Scheme, after: Scheme]): FoundChange[] => {
  const found = (rule: FoundChange['rule'], clause: string, isFound = true) =>
    changeIf(isFound, rule, formatPointer('securitySchemes', name), `the security scheme ${quote(name)} ${clause}`)
  if (after === undefined) return found('scheme-removed', 'is removed')
  if (before === undefined) return found('scheme-added', 'is new')
  if (jsonEquals(before, after)) return []
  const [[oldType = '', old = before] = []] = getWrappers(before)
  const [[type = '', current = after] = []] = getWrappers(after)
  if (type !== oldType) return found('scheme-changed', `is ${quote(type)} instead of ${quote(oldType)}`)
  const settings = compareValues(settingsOf(old), settingsOf(current)).map(({ pointer, ...difference }) => {
    const path = parsePointer(pointer)
    return { ...difference, path: path.join('.'), isPkce: path.at(-1) === PKCE }
  })
  const pathsOf = (op: 'add' | 'remove') => settings.flatMap(each => (each.op === op && !each.isPkce ? each.path : []))
  const isPkce = (op: 'add' | 'remove') => settings.some(each => each.op === op && each.isPkce)
  const [removed, added] = [pathsOf('remove'), pathsOf('add')]
  const changes = [
    ...settings.flatMap(({ op, path, before = null, after = null }) => {
      const clause = `changes its ${quote(path)} from ${quote(describe(before))} to ${quote(describe(after))}`
      return found('scheme-changed', clause, op === 'replace')
    }),
    ...found('scheme-changed', `no longer has ${quoteList(removed)}`, removed.length > 0),
    ...found('scheme-changed', 'now requires PKCE', isPkce('add')),
    ...found('scheme-extended', `now also has ${quoteList(added)}`, added.length > 0),
    ...found('scheme-extended', 'no longer requires PKCE', isPkce('remove')),
  ]
  return changes.length > 0 ? changes : found('text-changed', 'changes its description')
}

/** The only setting of a scheme that requires more of clients where it is added. */
const PKCE = 'pkceRequired'

/** Returns what clients need to know of a scheme: without descriptions, those of its scopes too, and hints. */
const settingsOf = (scheme: JsonObject): JsonObject =>
  mapMembers(scheme, (value, name) => {
    if (name === 'description' || name === 'bearerFormat' || (name === PKCE && value !== true)) return undefined
    // The names of HTTP authentication schemes are in any case (RFC 9110 §11.1).
    if (!isJsonObject(value)) return name === 'scheme' ? toText(value).toLowerCase() : value
    return name === 'scopes' ? mapMembers(value, () => '') : settingsOf(value)
  })

const describe = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** OAuth 2.1 removes these flows: they expose a token in a URL, or a password to the client. */
const hasDeprecatedFlow = ({ flows }: JsonObject) =>
  isJsonObject(flows) && (flows.implicit !== undefined || flows.password !== undefined)

type SchemeKind = readonly [strength: number, name: string, wrapper: string, is?: (scheme: JsonObject) => boolean]

/** Schemes by strength: a stronger one proves more about a caller and exposes less of the credentials. */
const schemeKinds: readonly SchemeKind[] = [
  [6, 'mutual TLS', 'mtlsSecurityScheme'],
  [5, 'OpenID Connect', 'openIdConnectSecurityScheme'],
  [3, 'OAuth with a deprecated flow', 'oauth2SecurityScheme', hasDeprecatedFlow],
  [5, 'OAuth', 'oauth2SecurityScheme'],
  [4, 'a bearer token', 'httpAuthSecurityScheme', ({ scheme }) => /^bearer$/i.test(toText(scheme))],
  [2, 'another HTTP authentication scheme', 'httpAuthSecurityScheme'],
  [1, 'an API key in the URL', 'apiKeySecurityScheme', ({ location }) => location === 'query'],
  [2, 'an API key', 'apiKeySecurityScheme'],
]

const kindOf = (scheme: JsonObject) => {
  const [[wrapper, inner = {}] = []] = getWrappers(scheme)
  const kind = schemeKinds.find(([, , name, is]) => name === wrapper && (is === undefined || is(inner)))
  return kind ?? ([0, 'a scheme that A2A does not define'] as const)
}

/** Finds a scheme that is removed, or that requires weaker credentials than before. */
const findWeakerScheme = ([name, before, after]: [name: string, before: Scheme, after: Scheme]): Finding[] => {
  const pointer = formatPointer('securitySchemes', name)
  if (before === undefined) return []
  if (after === undefined) return [{ pointer, message: 'is removed' }]
  const [[oldStrength, oldName], [strength, newName]] = [kindOf(before), kindOf(after)]
  const message = `is ${newName}, which is weaker than before: ${oldName}`
  return strength < oldStrength ? [{ pointer, message }] : []
}

type Requirement = Requirements[number]

/** The requirements of an agent or skill: the earlier ones of which the later ones take the place. */
type RequirementPair = { name: string; pointer: Pointer; isNew: boolean; earlier: Requirements[]; later: Requirements }

/**
 * Pairs the requirements of two cards and their skills, whose own replace the card's. A new skill may be a renamed one,
 * so it is paired with the own requirements of each that is removed.
 */
const pairRequirements = (before: AgentCard, after: AgentCard, skills: readonly SkillPair[]): RequirementPair[] => {
  const [ofCard, ofLater] = [before.securityRequirements ?? [], after.securityRequirements ?? []]
  const removed = distinct(skills.flatMap(({ before, after }) => (after ? [] : listOwn(before))))
  const allEarlier = [ofCard, ...removed]
  return [
    { name: 'the agent', pointer: '/securityRequirements', isNew: false, earlier: [ofCard], later: ofLater },
    ...skills.flatMap(({ name, pointer: place, before, after }) => {
      const [[old], [own]] = [listOwn(before), listOwn(after)]
      const known = own ? [ofCard] : []
      const earlier = old ? [old] : before ? known : own ? allEarlier : removed
      const pointer = `${place}/securityRequirements`
      return after ? [{ name, pointer, isNew: !before, earlier, later: own ?? ofLater }] : []
    }),
  ]
}

const listOwn = (skill: AgentSkill | undefined): Requirements[] =>
  skill?.securityRequirements ? [skill.securityRequirements] : []

const distinct = <Item>(items: readonly Item[]) => [
  ...new Map(items.map(item => [JSON.stringify(item), item])).values(),
]

/** Finds the alternatives of which none was enough before. */
const findWeaker = ({ pointer, earlier, later }: RequirementPair, budget: Budget): Finding[] => {
  const weaker = earlier.flatMap((before): Finding[] => {
    if (budget.comparisons <= 0)
      return [{ pointer, message: 'has too many alternatives to be compared with those before' }]
    if (allowsAnonymous(before)) return []
    if (allowsAnonymous(later))
      return [{ pointer, message: 'lets callers in without credentials, which were required' }]
    return findUncovered(later, before, budget).map(index => ({
      pointer: `${pointer}/${index}`,
      message: `lets callers in with ${describeRequirement(later[index])}, which was not enough`,
    }))
  })
  return distinct(weaker)
}

const compareRequirements = ({ name, pointer, earlier, later: after }: RequirementPair, budget: Budget) => {
  const [before] = earlier
  if (before === undefined || jsonEquals(before, after)) return []
  const found = (rule: FoundChange['rule'], clause: string, isFound = true) =>
    changeIf(isFound, rule, pointer, `${name} ${clause}`)
  const [wasOpen, isOpen] = [allowsAnonymous(before), allowsAnonymous(after)]
  if (wasOpen && !isOpen) return found('credentials-required', `now requires credentials: ${listAlternatives(after)}`)
  if (isOpen && !wasOpen) return found('credentials-accepted', 'no longer requires credentials')
  if (isOpen) return found('details-changed', 'lists other optional credentials')
  const [refused, accepted] = [findUncovered(before, after, budget), findUncovered(after, before, budget)]
  if (refused.length + accepted.length === 0)
    return found('details-changed', 'lists its required credentials differently')
  const [withRefused, withAccepted] = [listAlternatives(before, refused), listAlternatives(after, accepted)]
  return [
    ...found('credentials-required', `no longer accepts callers with ${withRefused}`, refused.length > 0),
    ...found('credentials-accepted', `now accepts callers with ${withAccepted}`, accepted.length > 0),
  ]
}

const listAlternatives = (requirements: Requirements, indices = [...requirements.keys()]): string => {
  const listed = indices.map(index => describeRequirement(requirements[index]))
  return quoteList(listed, 'or')
}

/**
 * How many schemes and scopes are compared for one pair of cards: renamed skills are compared with all removed ones.
 * What is left then counts as different, so that an owner looks at it.
 */
const MAX_COMPARISONS = 500_000

type Budget = { comparisons: number }

const createBudget = (): Budget => ({ comparisons: MAX_COMPARISONS })

/** Returns the indices of the alternatives that cover none of `others`: their credentials are not enough there. */
export const findUncovered = (alternatives: Requirements, others: Requirements, budget = createBudget()): number[] =>
  alternatives.flatMap((alternative, index) =>
    others.some(other => budget.comparisons > 0 && covers(alternative, other, budget)) ? [] : [index],
  )

/** Returns whether a requirement includes every scheme and scope of another one. */
const covers = ({ schemes }: Requirement, { schemes: other }: Requirement, budget: Budget): boolean =>
  Object.entries(other).every(([name, { list = [] }]) => {
    const scopes = Object.hasOwn(schemes, name) ? (schemes[name]?.list ?? []) : undefined
    budget.comparisons -= 1 + list.length * (scopes?.length ?? 0)
    return scopes !== undefined && list.every(scope => scopes.includes(scope))
  })

const describeRequirement = (requirement: Requirement | undefined): string =>
  Object.entries(requirement?.schemes ?? {})
    .map(([name, { list = [] }]) => (list.length > 0 ? `${name} (${list.join(', ')})` : name))
    .join(' and ')
