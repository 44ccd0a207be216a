import { covers, formatPointer, parseMediaRange } from '../../json/index.ts'
import type { AgentCard, AgentSkill } from '../model/index.ts'
import { change, type FoundChange, quote, quoteList } from './change-rules.ts'

/**
 * Compares the media types of two cards, and of each skill that has its own, which replace the card's. A range that becomes
 * narrower counts as removed.
 */
export const compareModes = (before: AgentCard, after: AgentCard): FoundChange[] => [
  ...compareDirection(before, after, {
    defaults: 'defaultInputModes',
    own: 'inputModes',
    removed: 'no longer accepts',
    added: 'now also accepts',
  }),
  ...compareDirection(before, after, {
    defaults: 'defaultOutputModes',
    own: 'outputModes',
    removed: 'no longer produces',
    added: 'now also produces',
  }),
]

type Direction = {
  defaults: 'defaultInputModes' | 'defaultOutputModes'
  own: 'inputModes' | 'outputModes'
  removed: string
  added: string
}

const compareDirection = (before: AgentCard, after: AgentCard, direction: Direction): FoundChange[] => {
  const { defaults, own, removed, added } = direction
  const ownModes = (skill: AgentSkill): string[] | undefined => (skill[own]?.length ? skill[own] : undefined)
  const lost = createModeFinder(listModes(after, direction))
  const gained = createModeFinder(listModes(before, direction))
  const compare = (earlier: string[], later: string[], subject: string, pointer: string): FoundChange[] => {
    const gone = lost(earlier, later)
    const extra = gained(later, earlier)
    return [
      ...(gone.length > 0 ? [change('mode-removed', pointer, `${subject} ${removed} ${quoteList(gone, String)}`)] : []),
      ...(extra.length > 0 ? [change('mode-added', pointer, `${subject} ${added} ${quoteList(extra, String)}`)] : []),
    ]
  }
  const skills = new Map(before.skills.map(skill => [skill.id, skill]))
  return [
    ...compare(before[defaults], after[defaults], 'the agent', formatPointer(defaults)),
    ...after.skills.flatMap((skill, index) => {
      const previous = skills.get(skill.id)
      if (!previous || (ownModes(previous) === undefined && ownModes(skill) === undefined)) return []
      return compare(
        ownModes(previous) ?? before[defaults],
        ownModes(skill) ?? after[defaults],
        `skill ${quote(skill.id)}`,
        formatPointer('skills', index, own),
      )
    }),
  ]
}

const listModes = (card: AgentCard, { defaults, own }: Direction): string[] => [
  ...new Set([...card[defaults], ...card.skills.flatMap(skill => skill[own] ?? [])]),
]

/**
 * Returns a function that finds the modes that none of `others` covers. `all` are the modes that can be among these: each pair
 * is compared once, though hundreds of skills may have the same modes.
 */
const createModeFinder = (all: readonly string[]) => {
  const ranges = all.map(mode => ({ mode, range: parseMediaRange(mode) })).filter(({ range }) => !range.excluded)
  const known = new Map<string, { excluded: boolean; coveredBy: string[] }>()
  const lookUp = (mode: string) => {
    const found = known.get(mode)
    if (found) return found
    const inner = parseMediaRange(mode)
    const coveredBy = ranges.filter(({ range }) => covers(range, inner)).map(({ mode }) => mode)
    const entry = { excluded: inner.excluded, coveredBy }
    known.set(mode, entry)
    return entry
  }
  return (modes: readonly string[], others: readonly string[]): string[] => {
    const present = new Set(others)
    return [...new Set(modes)].filter(mode => {
      const { excluded, coveredBy } = lookUp(mode)
      return !excluded && !coveredBy.some(other => present.has(other))
    })
  }
}
