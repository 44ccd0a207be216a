import { formatPointer, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { Provenance } from './provenance.ts'

/** GopherHole's defaults for capabilities. */
export const capabilityDefaults = {
  streaming: true,
  pushNotifications: true,
  extendedAgentCard: false,
  multiTurn: true,
} as const

/** GopherHole's default media types for input and output. */
export const modeDefaults = ['text/plain', 'application/json'] as const

/**
 * Adds what the author left out of a canonical card: GopherHole's defaults, then what A2A requires. `capabilities` are defaults
 * of the card's dialect, which take precedence over GopherHole's. Authored values stay, even of a wrong type.
 */
export const fillDefaults = (
  card: JsonObject,
  capabilities: Record<string, boolean>,
  provenance: Provenance,
): JsonObject => {
  const { name, description } = card
  const filled: JsonObject = {
    ...card,
    ...(isJsonObject(card.capabilities) && {
      capabilities: fillCapabilities(card.capabilities, capabilities, provenance),
    }),
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

const fillCapabilities = (
  declared: JsonObject,
  defaults: Record<string, boolean>,
  provenance: Provenance,
): JsonObject => {
  const missing = Object.entries({ ...capabilityDefaults, ...defaults }).filter(([name]) => !(name in declared))
  for (const [name, value] of missing) provenance.noteDefault(formatPointer('capabilities', name), `set to ${value}`)
  return { ...declared, ...Object.fromEntries(missing) }
}
