import { type Json, type JsonObject, sameJson } from './json.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { Reading } from './reading.ts'

/** The names that this host knows, level by level. All have been seen in snake_case, and with null for "not there". */
const names = {
  card: `name description version url provider capabilities skills security signatures protocolVersion
    preferredTransport additionalInterfaces supportedInterfaces defaultInputModes defaultOutputModes supportedInputModes
    supportedOutputModes securitySchemes securityRequirements documentationUrl iconUrl supportsAuthenticatedExtendedCard`,
  interface: 'url transport protocolBinding protocolVersion tenant',
  provider: 'organization url',
  capabilities: 'streaming pushNotifications extendedAgentCard stateTransitionHistory multiTurn extensions',
  skill: 'id name description tags examples inputModes outputModes security securityRequirements',
  scheme: 'type description in name scheme bearerFormat flows oauth2MetadataUrl openIdConnectUrl',
} as const

type Level = keyof typeof names

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const spellings = Object.fromEntries(
  Object.entries(names).map(([level, list]) => [
    level,
    new Map(list.split(/\s+/).flatMap(name => [[name, name] as const, [snakeCase(name), name] as const])),
  ]),
) as Record<Level, Map<string, string>>

/** The proper spelling of a name at one level of the card, or the name as it is. */
export const spelled = (name: string, level: Level): string => spellings[level].get(name) ?? name

/**
 * An object with the known names of its level spelled properly, and without those that are null. Where two spellings of a
 * name are there, the proper one counts.
 */
export const spell = (object: JsonObject, level: Level, at: Pointer, reading: Reading): JsonObject => {
  const known = spellings[level]
  const entries = Object.entries(object).flatMap(([name, value]): [string, Json][] => {
    const proper = known.get(name)
    if (proper !== undefined && value === null) return []
    if (proper === undefined || proper === name) return [[name, value]]
    const other = object[proper]
    if (other === undefined || other === null) {
      reading.convert(at + pointer(name), `read as ${proper}`)
      reading.moved(at + pointer(proper), at + pointer(name))
      return [[proper, value]]
    }
    if (!sameJson(value, other)) reading.convert(at + pointer(name), `left out: ${proper} is there too, and counts`)
    return []
  })
  return Object.fromEntries(entries)
}
