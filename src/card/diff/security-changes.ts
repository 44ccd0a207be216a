import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { formatPointer, isJsonObject, jsonEquals, mapMembers, parsePointer, toText } from '../../json/index.ts'
import type { AgentCard } from '../model/index.ts'
import { allowsAnonymous, getWrappers } from '../read/index.ts'
import { changeIf, type FoundChange, pairMembers, pairSkills, quote, quoteList } from './change-rules.ts'
import { compareValues } from './drift.ts'

/** Compares the security schemes of two cards, and which of them the cards and their skills require. */
export const compareSecurity = (before: AgentCard, after: AgentCard): FoundChange[] => {
  const budget = createBudget()
  const [ofCard, ofLater] = [before.securityRequirements, after.securityRequirements]
  return [
    ...pairMembers(before.securitySchemes ?? {}, after.securitySchemes ?? {}).flatMap(compareScheme),
    ...compareRequirements({ name: 'the agent', pointer: '', before: ofCard, after: ofLater }, budget),
    // A skill's own requirements replace those of the card.
    ...pairSkills(before, after).flatMap(({ before: earlier, after: later, ...skill }) => {
      const [old, own] = [earlier.securityRequirements, later.securityRequirements]
      const isSame = old === undefined && own === undefined
      return isSame ? [] : compareRequirements({ ...skill, before: old ?? ofCard, after: own ?? ofLater }, budget)
    }),
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

/** The requirements of an agent or skill in both cards. */
type Pair = Record<'before' | 'after', Requirements | undefined> & { name: string; pointer: Pointer }

const compareRequirements = ({ name, pointer, before = [], after = [] }: Pair, budget: Budget): FoundChange[] => {
  if (jsonEquals(before, after)) return []
  const found = (rule: FoundChange['rule'], clause: string, isFound = true) =>
    changeIf(isFound, rule, `${pointer}/securityRequirements`, `${name} ${clause}`)
  const [wasOpen, isOpen] = [allowsAnonymous(before), allowsAnonymous(after)]
  if (wasOpen && !isOpen) return found('credentials-required', `now requires credentials: ${listAlternatives(after)}`)
  if (isOpen && !wasOpen) return found('credentials-accepted', 'no longer requires credentials')
  if (isOpen) return found('details-changed', 'lists other optional credentials')
  const [refused, accepted] = [findUncovered(before, after, budget), findUncovered(after, before, budget)]
  if (refused.length === 0 && accepted.length === 0)
    return found('details-changed', 'lists its required credentials differently')
  const list = (requirements: Requirements, indices: number[]) =>
    listAlternatives(requirements.filter((_, index) => indices.includes(index)))
  const [withRefused, withAccepted] = [list(before, refused), list(after, accepted)]
  return [
    ...found('credentials-required', `no longer accepts callers with ${withRefused}`, refused.length > 0),
    ...found('credentials-accepted', `now accepts callers with ${withAccepted}`, accepted.length > 0),
  ]
}

const listAlternatives = (requirements: Requirements): string => quoteList(requirements.map(describeRequirement), 'or')

/** The alternatives by which callers of a card or skill authenticate. None, or an empty one, lets everybody in. */
export type Requirements = NonNullable<AgentCard['securityRequirements']>
type Requirement = Requirements[number]

/**
 * How many schemes and scopes are compared for one pair of cards: renamed skills are compared with all removed ones.
 * What is left then counts as different, so that an owner looks at it.
 */
const MAX_COMPARISONS = 500_000

type Budget = { comparisons: number }

/** Returns the budget for one pair of cards. */
export const createBudget = (): Budget => ({ comparisons: MAX_COMPARISONS })

/** Returns the indices of the alternatives that cover none of `others`: their credentials are not enough there. */
export const findUncovered = (alternatives: Requirements, others: Requirements, budget: Budget): number[] =>
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

/** Returns the schemes and scopes of a requirement for people. */
export const describeRequirement = (requirement: Requirement | undefined): string =>
  Object.entries(requirement?.schemes ?? {})
    .map(([name, { list = [] }]) => (list.length > 0 ? `${name} (${list.join(', ')})` : name))
    .join(' and ')
