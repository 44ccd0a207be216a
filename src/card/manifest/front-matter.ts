import { formatPointer, isJsonObject, type JsonObject, omit, type Pointer, parsePointer } from '../../json/index.ts'
import type { Finding } from '../model/index.ts'

/** The agent's own settings in Shaman's front matter: never published, and never sent to a host. */
export const privateFields = ['model', 'temperature', 'tools', 'prompt', 'maxTokens']
const frontMatterFields = [...privateFields, 'exposed', 'agentcard']

/** The fields that Shaman generates where front matter omits them: its own server streams and notifies. */
const generatedFields = { protocolVersion: '0.3.0', capabilities: { streaming: true, pushNotifications: true } }

/** The note on front matter without `exposed`. */
export const hiddenByDefault: Finding = {
  pointer: '/exposed',
  message: 'set to false: only front matter that sets it to true is public',
}

/**
 * Reads Shaman's authoring front matter as a manifest; undefined where a document is not front matter. Members of
 * `agentcard` are part of the card, an agent that is not `exposed` is internal, and its own settings are left out.
 */
export const readFrontMatter = (document: JsonObject, isRemote = false): JsonObject | undefined => {
  if (!isFrontMatter(document)) return undefined
  const { agentcard, customFields } = partsOf(document)
  return {
    card: { ...(!isRemote && generatedFields), ...omit(document, ...frontMatterFields), ...agentcard, ...customFields },
    ...(document.exposed !== true && { visibility: 'internal' }),
  }
}

/** Returns a note on each field that Shaman generates for front matter. */
export const generatedNotes = (document: JsonObject): Finding[] => {
  const { agentcard, customFields } = partsOf(document)
  const authored = { ...document, ...agentcard, ...customFields }
  const { protocolVersion, capabilities } = generatedFields
  const note = (pointer: Pointer, value: unknown): Finding => ({
    pointer,
    message: `set to ${value}, as Shaman generates it from front matter`,
  })
  return [
    ...('protocolVersion' in authored ? [] : [note('/protocolVersion', `"${protocolVersion}"`)]),
    ...('capabilities' in authored ? [] : Object.entries(capabilities)).map(([name, flag]) =>
      note(formatPointer('capabilities', name), flag),
    ),
  ]
}

/** Recognizes one of Shaman's fields, or a model with another of its settings. A card may have its own `prompt`. */
const isFrontMatter = (document: JsonObject): boolean =>
  'exposed' in document ||
  'agentcard' in document ||
  (typeof document.model === 'string' && privateFields.some(name => name !== 'model' && name in document))

/** Returns a function that maps a pointer into the card to the pointer of the same value in its front matter. */
export const createFrontMatterLocator = (document: JsonObject): ((pointer: Pointer) => Pointer) => {
  const { agentcard, customFields } = partsOf(document)
  return pointer => {
    const [name = ''] = parsePointer(pointer)
    if (Object.hasOwn(customFields, name)) return formatPointer('agentcard', 'customFields') + pointer
    return Object.hasOwn(agentcard, name) ? formatPointer('agentcard') + pointer : pointer
  }
}

const partsOf = ({ agentcard }: JsonObject): { agentcard: JsonObject; customFields: JsonObject } => {
  if (!isJsonObject(agentcard)) return { agentcard: {}, customFields: {} }
  const { customFields } = agentcard
  return { agentcard: omit(agentcard, 'customFields'), customFields: isJsonObject(customFields) ? customFields : {} }
}
