import type { AgentCard } from './agent-card.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { CardError } from './report.ts'

type Requirements = NonNullable<AgentCard['securityRequirements']>
type Requirement = Requirements[number]

/** Where a card asks callers for less than it did: at the card, or at a skill whose own requirements count instead. */
export const weakerRequirements = (before: AgentCard, after: AgentCard): CardError[] => {
  const skills = new Map(before.skills.map(skill => [skill.id, skill.securityRequirements]))
  return [
    ...weaker(before.securityRequirements, after.securityRequirements, '/securityRequirements'),
    ...after.skills.flatMap((skill, index) => {
      const had = skills.get(skill.id)
      if (had === undefined && skill.securityRequirements === undefined) return []
      return weaker(
        had ?? before.securityRequirements,
        skill.securityRequirements ?? after.securityRequirements,
        pointer('skills', index, 'securityRequirements'),
      )
    }),
  ]
}

/** Each alternative must ask for all that one of the earlier ones asked for. */
const weaker = (before: Requirements = [], after: Requirements = [], at: Pointer): CardError[] => {
  if (isOpen(before)) return []
  if (isOpen(after)) return [{ pointer: at, message: 'asks callers for nothing, where credentials were asked for' }]
  return after.flatMap((alternative, index) =>
    before.some(earlier => asksForAll(alternative, earlier))
      ? []
      : [{ pointer: at + pointer(index), message: `lets callers in with ${named(alternative)}, which was not enough` }],
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
