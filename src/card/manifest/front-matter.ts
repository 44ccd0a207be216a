import { formatPointer, isJsonObject, type JsonObject, omit, type Pointer, parsePointer } from '../../json/json.ts'

/** What is the agent's own business: never published, never sent to a host. */
export const privateFields = ['model', 'temperature', 'tools', 'prompt', 'maxTokens']
const runtimeFields = [...privateFields, 'exposed', 'agentcard']

/** Shaman generates cards of this version, whatever the front matter says; one that is fetched says its own. */
const shamansVersion = { protocolVersion: '0.3.0' }

/**
 * The manifest that Shaman's authoring front matter stands for, or nothing where a document is not that: `agentcard` holds
 * what goes into the card besides, only what is `exposed` is public, and the settings of the model are left out.
 */
export const readFrontMatter = (frontMatter: JsonObject, isFetched = false): JsonObject | undefined => {
  const marks = ['exposed', 'agentcard', 'temperature', 'prompt'].some(name => name in frontMatter)
  if (!marks && !(typeof frontMatter.model === 'string' && Array.isArray(frontMatter.tools))) return undefined
  const { agentcard, customFields } = partsOf(frontMatter)
  return {
    card: {
      ...(!isFetched && shamansVersion),
      ...omit(frontMatter, ...runtimeFields),
      ...agentcard,
      ...customFields,
    },
    ...(frontMatter.exposed !== true && { visibility: 'internal' }),
  }
}

/** Where the places of a card were authored in the front matter that it was made of. */
export const frontMatterPointer = (frontMatter: JsonObject): ((place: Pointer) => Pointer) => {
  const { agentcard, customFields } = partsOf(frontMatter)
  return place => {
    const [name = ''] = parsePointer(place)
    if (Object.hasOwn(customFields, name)) return formatPointer('agentcard', 'customFields') + place
    return Object.hasOwn(agentcard, name) ? formatPointer('agentcard') + place : place
  }
}

const partsOf = ({ agentcard }: JsonObject): { agentcard: JsonObject; customFields: JsonObject } => {
  if (!isJsonObject(agentcard)) return { agentcard: {}, customFields: {} }
  const { customFields } = agentcard
  return { agentcard: omit(agentcard, 'customFields'), customFields: isJsonObject(customFields) ? customFields : {} }
}
