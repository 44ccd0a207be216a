import { isObject, type Json, type JsonObject } from './json.ts'
import { pointer } from './pointer.ts'
import type { Reading } from './reading.ts'

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
export const fillDefaults = (card: JsonObject, known: Record<string, boolean>, reading: Reading): JsonObject => {
  const fill = (place: string, value: Json): Json => {
    reading.fill(place, `set to ${JSON.stringify(value)}`)
    return value
  }
  const filled: JsonObject = { ...card }
  const capabilities = card.capabilities
  if (isObject(capabilities)) {
    const flags = { ...capabilityDefaults, ...known }
    filled.capabilities = { ...capabilities }
    for (const [name, value] of Object.entries(flags))
      if (capabilities[name] === undefined) filled.capabilities[name] = fill(pointer('capabilities', name), value)
  }
  for (const name of ['defaultInputModes', 'defaultOutputModes'])
    if (isAbsent(card[name])) filled[name] = fill(pointer(name), [...modeDefaults])
  if (card.version === undefined) filled.version = fill('/version', '1.0.0')
  if (isAbsent(card.skills) && typeof card.name === 'string' && typeof card.description === 'string')
    filled.skills = fill('/skills', [{ id: 'main', name: card.name, description: card.description, tags: ['general'] }])
  return filled
}

const isAbsent = (value: Json | undefined): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)
