import type { AgentCard } from '../card/model/index.ts'
import { MAX_FIELD_VALUES, MAX_INDEXED_LENGTH, MAX_LISTED_EXAMPLES, MAX_QUERY_LENGTH } from '../limits.ts'
import type { FilterName, SearchFields } from './records.ts'

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
    signed: card.signatures !== undefined && card.signatures.length > 0,
    text: toSearchText(skills),
  }
}

/** Returns the text of skills for the full-text index. */
export const toSearchText = (
  skills: readonly Pick<AgentCard['skills'][number], 'description' | 'examples'>[],
): string =>
  [...skills.map(({ description }) => description), ...skills.flatMap(({ examples = [] }) => examples)]
    .join('\n')
    .slice(0, MAX_INDEXED_LENGTH)

/** The fields of an agent without a card. */
export const noSearchFields: SearchFields = {
  ...{ provider: '', skillIds: [], skillNames: [], tags: [], examples: [], capabilities: [] },
  ...{ inputModes: [], outputModes: [], protocolVersions: [], signed: false, text: '' },
}

const unique = (texts: readonly string[]): string[] => [...new Set(texts)].slice(0, MAX_FIELD_VALUES)

/** The values of an agent that filters are compared with. */
export type Terms = Record<FilterName, string[]>

/** Returns the values by which filters find an agent. A value that is longer than that of a filter may be is left out. */
export const toTerms = (fields: SearchFields): Terms => {
  const { provider, skillIds, skillNames, tags, capabilities, inputModes, outputModes, protocolVersions } = fields
  const values: Terms = {
    ...{ tag: tags, skill: [...skillIds, ...skillNames], capability: capabilities },
    ...{ inputMode: inputModes, outputMode: outputModes, provider: [provider], protocolVersion: protocolVersions },
  }
  return Object.fromEntries(
    Object.entries(values).map(([name, texts]) => {
      const terms = texts.map(text => toTerm(name as FilterName, text))
      return [name, [...new Set(terms)].filter(term => term !== '' && term.length <= MAX_QUERY_LENGTH)]
    }),
  ) as Terms
}

/** Returns a value as filters compare it: without case, a media type without parameters, a protocol version without patch number. */
export const toTerm = (name: FilterName, value: string): string => {
  const term = value.trim().toLowerCase()
  if (name === 'protocolVersion') return /^\d+\.\d+/.exec(term)?.[0] ?? term
  return name === 'inputMode' || name === 'outputMode' ? (term.split(';', 1)[0]?.trim() ?? '') : term
}
