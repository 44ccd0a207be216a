import { type Json, type JsonObject, jsonEquals } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { knownFields, type Level } from './named-fields.ts'
import type { Provenance } from './provenance.ts'

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** All of them have been seen in snake_case, and with null for "not there". */
const spellings = Object.fromEntries(
  Object.entries(knownFields).map(([level, names]) => [
    level,
    new Map(names.flatMap(name => [[name, name] as const, [snakeCase(name), name] as const])),
  ]),
) as Record<Level, Map<string, string>>

/** The proper spelling of a name at one level of the card, or the name as it is. */
export const canonicalKey = (name: string, level: Level): string => spellings[level].get(name) ?? name

/**
 * An object with the known names of its level spelled properly, and without those that are null. Where two spellings of a
 * name are there, the proper one counts.
 */
export const canonicalizeKeys = (object: JsonObject, level: Level, at: Pointer, reading: Provenance): JsonObject => {
  const known = spellings[level]
  const entries = Object.entries(object).flatMap(([name, value]): [string, Json][] => {
    const proper = known.get(name)
    if (proper !== undefined && value === null) return []
    if (proper === undefined || proper === name) return [[name, value]]
    const other = object[proper]
    if (other === undefined || other === null) {
      reading.noteConversion(at + formatPointer(name), `read as ${proper}`)
      reading.mapFrom(at + formatPointer(proper), at + formatPointer(name))
      return [[proper, value]]
    }
    if (!jsonEquals(value, other))
      reading.noteConversion(at + formatPointer(name), `left out: ${proper} is there too, and counts`)
    return []
  })
  return Object.fromEntries(entries)
}
