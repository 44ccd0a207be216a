import type { AgentCard } from '../model/index.ts'

/** The alternatives by which callers of a card or skill authenticate. None, or an empty one, lets everybody in. */
export type Requirements = NonNullable<AgentCard['securityRequirements']>
type Requirement = Requirements[number]

/**
 * How many schemes and scopes are compared for one pair of cards: renamed skills are compared with all removed ones. What is left
 * then counts as different, so that an owner looks at it.
 */
const MAX_COMPARISONS = 500_000

/** What is left of that. */
export type Budget = { comparisons: number }

/** Returns the budget for one pair of cards. */
export const createBudget = (): Budget => ({ comparisons: MAX_COMPARISONS })

/** Returns the indices of the alternatives that do not cover any of `others`: their credentials are not enough there. */
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
