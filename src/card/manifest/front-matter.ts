import type { JsonObject, Pointer } from '../../json/index.ts'
import { asObject, formatPointer, isJsonObject, jsonEntries, omit, parsePointer } from '../../json/index.ts'
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

/** Front matter as a manifest, notes on the fields that Shaman generates, and the places of the card's fields in it. */
type FrontMatter = { manifest: JsonObject; filled: Finding[]; locate: (pointer: Pointer) => Pointer }

/**
 * Reads Shaman's authoring front matter as a manifest; undefined where a document is not front matter. Members of
 * `agentcard` are part of the card, an agent that is not `exposed` is internal, and its own settings are left out.
 */
export const readFrontMatter = (document: JsonObject, isRemote = false): FrontMatter | undefined => {
  if (!isFrontMatter(document)) return undefined
  const { customFields: custom, ...agentcard } = asObject(document.agentcard)
  const customFields = asObject(custom)
  const written = { ...omit(document, ...frontMatterFields), ...agentcard, ...customFields }
  return {
    manifest: {
      card: { ...(!isRemote && generatedFields), ...written },
      ...(document.exposed !== true && { visibility: 'internal' }),
    },
    filled: isRemote ? [] : noteGenerated(omit(generatedFields, ...Object.keys(written))),
    locate: pointer => {
      const [name = ''] = parsePointer(pointer)
      if (Object.hasOwn(customFields, name)) return formatPointer('agentcard', 'customFields') + pointer
      return Object.hasOwn(agentcard, name) ? formatPointer('agentcard') + pointer : pointer
    },
  }
}

const noteGenerated = (fields: JsonObject, at: Pointer = ''): Finding[] =>
  jsonEntries(fields).flatMap(([name, value]) => {
    const pointer = at + formatPointer(name)
    if (isJsonObject(value)) return noteGenerated(value, pointer)
    return [{ pointer, message: `set to ${JSON.stringify(value)}, as Shaman generates it from front matter` }]
  })

/** Recognizes one of Shaman's fields, or a model with another of its settings. A card may have its own `prompt`. */
const isFrontMatter = (document: JsonObject): boolean =>
  'exposed' in document ||
  'agentcard' in document ||
  (typeof document.model === 'string' && privateFields.some(name => name !== 'model' && name in document))
