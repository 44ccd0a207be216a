import { isObject, type Json, type JsonObject, without } from './json.ts'
import { pointer } from './pointer.ts'
import type { Reading } from './reading.ts'

/** Flags that have been seen under other spellings. */
const spellings: Record<string, string> = {
  push_notifications: 'pushNotifications',
  extended_agent_card: 'extendedAgentCard',
  state_transition_history: 'stateTransitionHistory',
  multi_turn: 'multiTurn',
}

/** Reads flags written as an object, a list of names or one name, and v0.3's flag for the extended card. */
export const readCapabilities = (card: JsonObject, reading: Reading): JsonObject => {
  const extended = card.supportsAuthenticatedExtendedCard
  const rest = without(card, 'supportsAuthenticatedExtendedCard')
  const capabilities = asFlags(card.capabilities, reading)
  if (!isObject(capabilities)) return { ...rest, capabilities }
  if (extended === undefined || capabilities.extendedAgentCard !== undefined) return { ...rest, capabilities }
  reading.moved('/capabilities/extendedAgentCard', '/supportsAuthenticatedExtendedCard')
  return { ...rest, capabilities: { ...capabilities, extendedAgentCard: extended } }
}

const asFlags = (value: Json | undefined, reading: Reading): Json => {
  if (value === undefined || value === null) return {}
  const names = typeof value === 'string' ? [value] : value
  if (Array.isArray(names) && names.every(name => typeof name === 'string')) {
    reading.convert('/capabilities', 'a list of names, read as flags')
    return Object.fromEntries(names.map(name => [spellings[name] ?? name, true]))
  }
  if (!isObject(value)) return value
  const renamed = Object.entries(value).map(([name, flag]): [string, Json] => {
    const spelled = spellings[name]
    if (spelled === undefined || Object.hasOwn(value, spelled)) return [name, flag]
    reading.moved(pointer('capabilities', spelled), pointer('capabilities', name))
    reading.convert(pointer('capabilities', name), `read as ${spelled}`)
    return [spelled, flag]
  })
  return Object.fromEntries(renamed)
}
