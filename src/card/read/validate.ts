import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asList, asObject, formatPointer, getAt, jsonEntries } from '../../json/index.ts'
import {
  MAX_CARD_POINTER_LENGTH,
  MAX_INTERFACES,
  MAX_JSON_DEPTH,
  MAX_MEMBERS,
  MAX_MODES,
  MAX_SKILLS,
  MAX_STRING_LENGTH,
} from '../../limits.ts'
import { AgentCard, dedupeByPointer, type Finding, modeMembers, relocate, validate } from '../model/index.ts'
import { hasEndpoint } from './interfaces.ts'
import type { Provenance } from './provenance.ts'

const MAX_ERRORS = 100

/** Member names that reach an object's prototype when a reader copies members carelessly. */
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Names of fields that clients follow or show as links. */
const linkName = /(?:ur[li]s?|icon|logo|image|href|src|link|links|website|homepage|documentation)$/i

/** Schemes that run code or read local data when a client follows them. */
const dangerousScheme = /^[\s\p{Cc}]*(?:javascript|data|vbscript|file|blob)[\s\p{Cc}]*:/iu

const userInfo = /^\s*[a-z][a-z0-9+.-]*:[\\/]{2}[^\\/?#]*@/i

/**
 * Finds what no document may contain anywhere: forbidden names, text that is invalid or over a limit, too many members
 * or levels, numbers that JSON cannot express, and dangerous links. Runs before anything else reads the document, and
 * skips the values of what is over a limit, so that no document is expensive to reject.
 */
export const checkDocument = (document: Json): Finding[] => {
  const errors: Finding[] = []
  const visit = (value: Json, pointer: Pointer, name: string, depth: number): void => {
    if (errors.length >= MAX_ERRORS) return
    const message = valueError(value, name, depth)
    if (message !== undefined) errors.push({ pointer, message })
    else if (typeof value === 'object' && value !== null)
      for (const [member, inner] of jsonEntries(value)) {
        const innerPointer = pointer + formatPointer(member)
        const invalidName = nameError(member) ?? lengthError(innerPointer)
        if (invalidName !== undefined) errors.push({ pointer: innerPointer, message: invalidName })
        else visit(inner, innerPointer, Array.isArray(value) ? name : member, depth + 1)
      }
  }
  visit(document, '', '', 0)
  return errors
}

const nameError = (name: string): string | undefined =>
  forbiddenNames.has(name) ? `"${name}" is not allowed as a name` : textError(name)

const lengthError = ({ length }: Pointer): string | undefined =>
  length > MAX_CARD_POINTER_LENGTH
    ? `has a JSON Pointer of ${length} characters; at most ${MAX_CARD_POINTER_LENGTH} are allowed: ` +
      'shorten the names that lead to it'
    : undefined

const valueError = (value: Json, name: string, depth: number): string | undefined => {
  // An image within its URL is too long, too, but a shorter one would not help.
  if (typeof value === 'string') return linkError(value.slice(0, MAX_STRING_LENGTH), name) ?? textError(value)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'is too large for a number in JSON'
  if (typeof value !== 'object' || value === null) return undefined
  if (depth >= MAX_JSON_DEPTH) return `nests deeper than ${MAX_JSON_DEPTH} levels`
  const [max, noun] = countLimit(value, name)
  const count = Object.keys(value).length
  return count > max ? `has ${count} ${noun}; at most ${max} are allowed` : undefined
}

const countLimit = (value: Json[] | JsonObject, name: string): [max: number, noun: string] => {
  if (!Array.isArray(value)) return [MAX_MEMBERS, 'members']
  if (/^skills$/i.test(name)) return [MAX_SKILLS, 'skills']
  return /interfaces$/i.test(name) ? [MAX_INTERFACES, 'interfaces'] : [MAX_MEMBERS, 'items']
}

const textError = (text: string): string | undefined => {
  if (text.length > MAX_STRING_LENGTH)
    return `is ${text.length} characters long; at most ${MAX_STRING_LENGTH} are allowed`
  if (text.includes('\0')) return 'contains a NUL character'
  return text.isWellFormed() ? undefined : 'contains a lone surrogate, so it is not valid Unicode text'
}

const linkError = (value: string, name: string): string | undefined => {
  if (!linkName.test(name)) return undefined
  // URL parsers remove tabs and line breaks, also within a scheme.
  if (dangerousScheme.test(value.replace(/[\t\r\n]/g, '')))
    return 'must be an http or https URL, not one that runs code or reads local data'
  return userInfo.test(value) ? 'must not contain a user name or password' : undefined
}

/** Validates a canonical card. Each error has the pointer of the authored field, and no pointer has two. */
export const validateCard = (canonical: JsonObject, authored: JsonObject, provenance: Provenance): Finding[] => {
  const result = validate(AgentCard, canonical)
  const schemaErrors = 'errors' in result ? result.errors : []
  const skills = asList(canonical.skills)
  // A default made from an invalid value is invalid too, but only that value is the author's.
  const invalid = schemaErrors.flatMap(({ change, ...error }) => {
    const { pointer } = error
    if (provenance.isFilled(pointer)) return []
    // A correction of the canonical card is one of the author's where both have the same value.
    const isWritten = getAt(authored, provenance.sourceOf(pointer)) === getAt(canonical, pointer)
    return { ...error, ...(change && isWritten && { change }) }
  })
  const found = [...invalid, ...findDuplicateSkills(skills, provenance), ...findExcessiveModes(canonical, skills)]
  const errors = [...findMissingEndpoint(authored), ...provenance.errors, ...relocate(found, provenance.sourceOf)]
  return dedupeByPointer(errors)
}

const findMissingEndpoint = (authored: JsonObject): Finding[] => {
  if (hasEndpoint(authored)) return []
  const pointer = Array.isArray(authored.supportedInterfaces) ? '/supportedInterfaces' : '/url'
  return [{ pointer, message: "is missing: add the agent's `url` to the card, or `upstream.url` to the manifest" }]
}

/** Rejects more modes than a call can be checked against, at the list that exceeds the limit. */
const findExcessiveModes = (card: JsonObject, skills: readonly Json[]): Finding[] =>
  modeMembers.flatMap(({ direction, defaults, own }) => {
    const modes = new Set<Json>()
    const message =
      `brings the card to more than ${MAX_MODES} different ${direction} modes, the limit: ` +
      'use ranges such as "image/*"'
    const exceeding = [card, ...skills].findIndex((object, index) => {
      for (const mode of asList(asObject(object)[index === 0 ? defaults : own])) modes.add(mode)
      return modes.size > MAX_MODES
    })
    const pointer = exceeding > 0 ? formatPointer('skills', exceeding - 1, own) : formatPointer(defaults)
    return exceeding < 0 ? [] : [{ pointer, message }]
  })

const findDuplicateSkills = (skills: readonly Json[], provenance: Provenance): Finding[] => {
  const ids = skills.map(skill => asObject(skill).id)
  const firstIndexes = new Map(ids.map((id, index) => [id, index] as const).toReversed())
  return ids.flatMap((id, index) => {
    const first = firstIndexes.get(id) ?? index
    if (typeof id !== 'string' || first === index) return []
    const other = provenance.sourceOf(formatPointer('skills', first))
    const message = `repeats the id "${id}" of ${other}: give each skill its own id`
    return [{ pointer: formatPointer('skills', index, 'id'), message }]
  })
}
