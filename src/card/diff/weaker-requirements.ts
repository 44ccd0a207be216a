import { formatPointer, type Pointer } from '../../json/pointer.ts'
import type { AgentCard, AgentSkill } from '../model/agent-card.ts'
import type { CardError } from '../model/report.ts'

type Requirements = NonNullable<AgentCard['securityRequirements']>
type Requirement = Requirements[number]

/** Where a card asks callers for less than it did: at the card, or at a skill whose own requirements count instead. */
export const weakerRequirements = (before: AgentCard, after: AgentCard): CardError[] => {
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
  if (isOpen(before)) return []
  if (isOpen(after)) return [{ pointer: at, message: 'asks callers for nothing, where credentials were asked for' }]
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

const isOpen = (requirements: Requirements): boolean =>
  requirements.length === 0 || requirements.some(({ schemes }) => Object.keys(schemes).length === 0)

const asksForAll = ({ schemes }: Requirement, { schemes: earlier }: Requirement): boolean =>
  Object.entries(earlier).every(([name, { list = [] }]) => {
    const scopes = Object.hasOwn(schemes, name) ? (schemes[name]?.list ?? []) : undefined
    return scopes !== undefined && list.every(scope => scopes.includes(scope))
  })

const named = ({ schemes }: Requirement): string =>
  Object.entries(schemes)
    .map(([name, { list = [] }]) => (list.length > 0 ? `${name} (${list.join(', ')})` : name))
    .join(' and ')
