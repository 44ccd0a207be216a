import { dialectNames } from './names.ts'

/** The public documents of one agent: the hybrid of either well-known path, and each dialect by its name. */
export const representationNames = ['agent-card.json', 'agent.json', ...dialectNames] as const
export type RepresentationName = (typeof representationNames)[number]
