import type { AgentCard } from '../card/model/agent-card.ts'
import { MAX_FIELD_VALUES, MAX_INDEXED_LENGTH, MAX_LISTED_EXAMPLES } from '../limits.ts'
import type { SearchFields } from './records.ts'

/** Returns what agents are found and filtered by, from the public card. */
export const collectSearchFields = (card: AgentCard): SearchFields => {
  const { capabilities, skills, supportedInterfaces, defaultInputModes, defaultOutputModes } = card
  const { extensions = [], ...flags } = capabilities
  const examples = skills.flatMap(skill => skill.examples ?? [])
  return {
    provider: card.provider?.organization ?? '',
    skillIds: unique(skills.map(({ id }) => id)),
    skillNames: unique(skills.map(({ name }) => name)),
    tags: unique(skills.flatMap(({ tags }) => tags)),
    examples: unique(examples).slice(0, MAX_LISTED_EXAMPLES),
    capabilities: unique([
      ...Object.keys(flags).filter(name => flags[name] === true),
      ...extensions.map(({ uri }) => uri),
    ]),
    inputModes: unique([...defaultInputModes, ...skills.flatMap(skill => skill.inputModes ?? [])]),
    outputModes: unique([...defaultOutputModes, ...skills.flatMap(skill => skill.outputModes ?? [])]),
    protocolVersions: unique(supportedInterfaces.map(({ protocolVersion }) => protocolVersion)),
    text: [...skills.map(({ description }) => description), ...examples].join('\n').slice(0, MAX_INDEXED_LENGTH),
  }
}

/** The fields of an agent without a card. */
export const noSearchFields: SearchFields = {
  ...{ provider: '', skillIds: [], skillNames: [], tags: [], examples: [], capabilities: [] },
  ...{ inputModes: [], outputModes: [], protocolVersions: [], text: '' },
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, MAX_FIELD_VALUES)
