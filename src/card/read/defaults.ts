import { formatPointer, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Provenance } from './provenance.ts'

/** GopherHole's defaults for flags that are not declared. */
export const capabilityDefaults = {
  streaming: true,
  pushNotifications: true,
  extendedAgentCard: false,
  multiTurn: true,
} as const

/** GopherHole's default media types, in both directions. */
export const modeDefaults = ['text/plain', 'application/json'] as const

/**
 * Fills what the author left out of a canonical card: GopherHole's defaults, then what A2A requires. `known` holds flags
 * of which the dialect itself says better. Nothing authored is changed; a wrong type is left for the schema to name.
 */
export const fillDefaults = (card: JsonObject, known: Record<string, boolean>, provenance: Provenance): JsonObject => {
  const { name, description } = card
  const filled: JsonObject = {
    ...card,
    ...(isJsonObject(card.capabilities) && { capabilities: fillFlags(card.capabilities, known, provenance) }),
  }
  const defaults: Record<string, Json> = {
    version: '1.0.0',
    defaultInputModes: [...modeDefaults],
    defaultOutputModes: [...modeDefaults],
    skills: [
      {
        id: 'main',
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        tags: ['general'],
      },
    ],
  }
  for (const [field, value] of Object.entries(defaults)) {
    const authored = card[field]
    if (authored !== undefined && !(Array.isArray(authored) && authored.length === 0)) continue
    provenance.noteDefault(formatPointer(field), `set to ${JSON.stringify(value)}`)
    filled[field] = value
  }
  return filled
}

const fillFlags = (capabilities: JsonObject, known: Record<string, boolean>, provenance: Provenance): JsonObject => {
  const missing = Object.entries({ ...capabilityDefaults, ...known }).filter(([name]) => !(name in capabilities))
  for (const [name, value] of missing) provenance.noteDefault(formatPointer('capabilities', name), `set to ${value}`)
  return { ...capabilities, ...Object.fromEntries(missing) }
}
