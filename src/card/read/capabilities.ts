import { isObject, type Json, type JsonObject, without } from '../../json/json.ts'
import type { Reading } from './provenance.ts'
import { spell, spelled } from './spelling.ts'

/** Reads flags written as an object, a list of names or one name, and v0.3's flag for the extended card. */
export const readCapabilities = (card: JsonObject, reading: Reading): JsonObject => {
  const { supportsAuthenticatedExtendedCard: extended } = card
  const rest = without(card, 'supportsAuthenticatedExtendedCard')
  const capabilities = asFlags(card.capabilities, reading)
  if (!isObject(capabilities) || extended === undefined) return { ...rest, capabilities }
  const flag = capabilities.extendedAgentCard
  if (flag === undefined) {
    reading.moved('/capabilities/extendedAgentCard', '/supportsAuthenticatedExtendedCard')
    return { ...rest, capabilities: { ...capabilities, extendedAgentCard: extended } }
  }
  if (flag !== extended)
    reading.convert(
      '/supportsAuthenticatedExtendedCard',
      'left out: capabilities.extendedAgentCard is there too, and counts',
    )
  return { ...rest, capabilities }
}

const asFlags = (value: Json | undefined, reading: Reading): Json => {
  if (value === undefined) return {}
  if (isObject(value)) return spell(value, 'capabilities', '/capabilities', reading)
  const names = typeof value === 'string' ? [value] : value
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string')) return value
  reading.convert('/capabilities', 'a list of names, read as flags')
  reading.made('/capabilities', '/capabilities')
  return Object.fromEntries(names.map(name => [spelled(name, 'capabilities'), true]))
}
