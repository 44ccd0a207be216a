import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, jsonEquals } from '../../json/index.ts'
import type { AgentCard } from '../model/index.ts'
import { allowsAnonymous, getWrappers } from '../read/index.ts'
import { change, type FoundChange, quote, quoteList } from './change-rules.ts'
import { type Budget, createBudget, describeRequirement, findUncovered, type Requirements } from './requirements.ts'

/** Compares how callers of two cards authenticate: the schemes, and which of them the cards and their skills require. */
export const compareSecurity = (before: AgentCard, after: AgentCard): FoundChange[] => [
  ...compareSchemes(before.securitySchemes, after.securitySchemes),
  ...compareAllRequirements(before, after),
]

type Schemes = NonNullable<AgentCard['securitySchemes']>

const compareSchemes = (before: Schemes = {}, after: Schemes = {}): FoundChange[] => [
  ...Object.entries(before).flatMap(([name, scheme]) => {
    const current = Object.hasOwn(after, name) ? after[name] : undefined
    return current === undefined
      ? describeScheme('scheme-removed', name, 'is removed')
      : compareScheme(name, scheme, current)
  }),
  ...Object.keys(after)
    .filter(name => !Object.hasOwn(before, name))
    .map(name => describeScheme('scheme-added', name, 'is new')),
]

const describeScheme = (rule: FoundChange['rule'], name: string, clause: string): FoundChange =>
  change(rule, formatPointer('securitySchemes', name), `the security scheme ${quote(name)} ${clause}`)

const compareScheme = (name: string, before: JsonObject, after: JsonObject): FoundChange[] => {
  if (jsonEquals(before, after)) return []
  const found = (rule: FoundChange['rule'], clause: string) => describeScheme(rule, name, clause)
  const [[oldType = '', old = {}] = []] = getWrappers(before)
  const [[type = '', current = {}] = []] = getWrappers(after)
  if (type !== oldType) return [found('scheme-changed', `is ${quote(type)} instead of ${quote(oldType)}`)]
  const [earlier, later] =
    type === '' ? [listSettings(before), listSettings(after)] : [listSettings(old), listSettings(current)]
  const removed = outermost([...earlier.keys()].filter(path => !later.has(path) && !isPkce(path)))
  const added = outermost([...later.keys()].filter(path => !earlier.has(path) && !isPkce(path)))
  const changes = [
    ...[...earlier].flatMap(([path, value]) => {
      const other = later.get(path)
      return other === undefined || other === value
        ? []
        : [found('scheme-changed', `changes its ${quote(path)} from ${quote(value)} to ${quote(other)}`)]
    }),
    ...(removed.length > 0 ? [found('scheme-changed', `no longer has ${quoteList(removed, String)}`)] : []),
    ...(requiresMorePkce(earlier, later) ? [found('scheme-changed', 'now requires PKCE')] : []),
    ...(added.length > 0 ? [found('scheme-extended', `now also has ${quoteList(added, String)}`)] : []),
    ...(requiresMorePkce(later, earlier) ? [found('scheme-extended', 'no longer requires PKCE')] : []),
  ]
  return changes.length > 0 ? changes : [found('text-changed', 'changes its description')]
}

/** The only setting of a scheme that requires more of clients where it is added. */
const PKCE = 'pkceRequired'
const isPkce = (path: string): boolean => path.endsWith(`.${PKCE}`)

/** Whether a flow of both requires PKCE only later. */
const requiresMorePkce = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean =>
  [...after.keys()].some(path => isPkce(path) && !before.has(path) && before.has(path.slice(0, -PKCE.length - 1)))

/** Returns what clients need to know of a scheme, by path. Descriptions and hints are left out, those of scopes too. */
const listSettings = (scheme: JsonObject): Map<string, string> => {
  const settings = new Map<string, string>()
  const visit = (value: Json, name: string, path: string, isScope: boolean): void => {
    if (name === 'description' || name === 'bearerFormat' || (name === PKCE && value !== true)) return
    if (isJsonObject(value) && !isScope)
      for (const [member, inner] of jsonEntries(value))
        visit(inner, name === 'scopes' ? '' : member, path === '' ? member : `${path}.${member}`, name === 'scopes')
    // A flow without scopes is a setting too.
    if (path !== '') settings.set(path, isScope || isJsonObject(value) ? '' : describeSetting(name, value))
  }
  visit(scheme, '', '', false)
  return settings
}

/** A scope: `flows.clientCredentials.scopes.read`. */
const MAX_SETTING_DEPTH = 4

/** Leaves out what is inside of another one. */
const outermost = (paths: readonly string[]): string[] => {
  const all = new Set(paths)
  return paths.filter(path => {
    // Scopes are innermost, and their names may have any number of dots.
    const names = path.split('.', MAX_SETTING_DEPTH)
    return !names.some((_, count) => count > 0 && all.has(names.slice(0, count).join('.')))
  })
}

/** The names of HTTP authentication schemes are in any case (RFC 9110 §11.1). */
const describeSetting = (name: string, value: Json): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return name === 'scheme' ? text.toLowerCase() : text
}

/** Compares the requirements of the cards, and those of each skill that has its own, which replace the card's. */
const compareAllRequirements = (before: AgentCard, after: AgentCard): FoundChange[] => {
  const budget = createBudget()
  const earlier = new Map(before.skills.map(skill => [skill.id, skill]))
  const ofSkills = after.skills.flatMap((skill, index): FoundChange[] => {
    const previous = earlier.get(skill.id)
    const [old, own] = [previous?.securityRequirements, skill.securityRequirements]
    if (previous === undefined || (old === undefined && own === undefined)) return []
    const pair = { before: old ?? before.securityRequirements, after: own ?? after.securityRequirements }
    const place = {
      pointer: formatPointer('skills', index, 'securityRequirements'),
      subject: `skill ${quote(skill.id)}`,
    }
    return compareRequirements(pair, place, budget)
  })
  const pair = { before: before.securityRequirements, after: after.securityRequirements }
  return [...compareRequirements(pair, { pointer: '/securityRequirements', subject: 'the agent' }, budget), ...ofSkills]
}

type Pair = { before: Requirements | undefined; after: Requirements | undefined }

const compareRequirements = (
  { before = [], after = [] }: Pair,
  { pointer, subject }: { pointer: string; subject: string },
  budget: Budget,
): FoundChange[] => {
  if (jsonEquals(before, after)) return []
  const found = (rule: FoundChange['rule'], clause: string) => change(rule, pointer, `${subject} ${clause}`)
  const wasOpen = allowsAnonymous(before)
  const isOpen = allowsAnonymous(after)
  if (wasOpen && !isOpen) return [found('credentials-required', `now requires credentials: ${listAlternatives(after)}`)]
  if (isOpen && !wasOpen) return [found('credentials-accepted', 'no longer requires credentials')]
  if (isOpen) return [found('details-changed', 'lists other optional credentials')]
  const refused = findUncovered(before, after, budget)
  const accepted = findUncovered(after, before, budget)
  const changes = [
    ...(refused.length > 0
      ? [found('credentials-required', `no longer accepts callers with ${listAlternatives(pick(before, refused))}`)]
      : []),
    ...(accepted.length > 0
      ? [found('credentials-accepted', `now accepts callers with ${listAlternatives(pick(after, accepted))}`)]
      : []),
  ]
  return changes.length > 0 ? changes : [found('details-changed', 'lists its required credentials differently')]
}

const pick = (requirements: Requirements, indices: readonly number[]): Requirements =>
  indices.flatMap(index => requirements[index] ?? [])

const listAlternatives = (requirements: Requirements): string => quoteList(requirements, describeRequirement, 'or')
