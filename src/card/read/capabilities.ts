import { isJsonObject, type Json, type JsonObject, omit } from '../../json/json.ts'
import type { Provenance } from './provenance.ts'
import { canonicalizeKeys, canonicalKey } from './spelling.ts'

/** Reads flags written as an object, a list of names or one name, and v0.3's flag for the extended card. */
export const readCapabilities = (card: JsonObject, reading: Provenance): JsonObject => {
  const { supportsAuthenticatedExtendedCard: extended } = card
  const rest = omit(card, 'supportsAuthenticatedExtendedCard')
  const capabilities = asFlags(card.capabilities, reading)
  if (!isJsonObject(capabilities) || extended === undefined) return { ...rest, capabilities }
  const flag = capabilities.extendedAgentCard
  if (flag === undefined) {
    reading.mapFrom('/capabilities/extendedAgentCard', '/supportsAuthenticatedExtendedCard')
    return { ...rest, capabilities: { ...capabilities, extendedAgentCard: extended } }
  }
  if (flag !== extended)
    reading.noteConversion(
      '/supportsAuthenticatedExtendedCard',
      'left out: capabilities.extendedAgentCard is there too, and counts',
    )
  return { ...rest, capabilities }
}

const asFlags = (value: Json | undefined, reading: Provenance): Json => {
  if (value === undefined) return {}
  if (isJsonObject(value)) return canonicalizeKeys(value, 'capabilities', '/capabilities', reading)
  const names = typeof value === 'string' ? [value] : value
  if (!Array.isArray(names) || !names.every(name => typeof name === 'string')) return value
  reading.noteConversion('/capabilities', 'a list of names, read as flags')
  reading.mapWhole('/capabilities', '/capabilities')
  return Object.fromEntries(names.map(name => [canonicalKey(name, 'capabilities'), true]))
}
