import { isObject, type JsonObject, without } from './json.ts'

/** What only Shaman's own runtime needs: never published, never sent to a host. */
const runtimeFields = ['model', 'temperature', 'tools', 'prompt', 'exposed', 'agentcard', 'maxTokens']

/**
 * The manifest that Shaman's authoring front matter stands for, or nothing where a document is not that: `agentcard` holds
 * what goes into the card besides, `exposed: false` is internal, and the settings of the model are left out.
 */
export const fromFrontMatter = (frontMatter: JsonObject): JsonObject | undefined => {
  const marks = ['exposed', 'agentcard', 'temperature', 'prompt'].some(name => name in frontMatter)
  if (!marks && !(typeof frontMatter.model === 'string' && Array.isArray(frontMatter.tools))) return undefined
  const { customFields, ...agentcard } = isObject(frontMatter.agentcard) ? frontMatter.agentcard : {}
  return {
    card: {
      ...without(frontMatter, ...runtimeFields),
      ...agentcard,
      ...(isObject(customFields) ? customFields : {}),
    },
    ...(frontMatter.exposed === false && { visibility: 'internal' }),
  }
}
