import type { Json, JsonObject } from '../../json/json.ts'
import { formatPointer, type Pointer } from '../../json/pointer.ts'
import { limits } from '../../limits.ts'
import type { CardError } from '../model/report.ts'

/** Names that reach an object's prototype when a reader copies members carelessly. */
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Names of fields that clients follow or show as links. */
const linkName = /(?:ur[li]s?|icon|logo|image|href|src|link|links|website|homepage|documentation)$/i

/** Schemes that run, or read local files, when a client follows them. */
const dangerousUrl = /^[\s\p{Cc}]*(?:javascript|data|vbscript|file|blob)[\s\p{Cc}]*:/iu

const credentials = /^\s*[a-z][a-z0-9+.-]*:[\\/]{2}[^\\/?#]*@/i

/**
 * What no document may hold anywhere: forbidden names, strings over the limit or that are not text, NUL, depth, more
 * members than anybody needs, numbers that JSON cannot carry, and URLs that act or hold a password. It goes first, and
 * not into what is over a limit: whatever read that would take its time.
 */
export const checkDocument = (document: Json): CardError[] => {
  const errors: CardError[] = []
  const add = (pointer: Pointer, message: string): void => {
    errors.push({ pointer, message })
  }
  const visit = (value: Json, place: Pointer, name: string, depth: number): void => {
    if (errors.length >= mostErrors) return
    const refused = valueError(value, name, depth)
    if (refused !== undefined) add(place, refused)
    else if (typeof value === 'object' && value !== null)
      for (const [member, inner] of Object.entries(value)) {
        const at = place + formatPointer(member)
        const refused = nameError(member)
        if (refused === undefined) visit(inner, at, Array.isArray(value) ? name : member, depth + 1)
        else add(at, refused)
      }
  }
  visit(document, '', '', 0)
  return errors
}

/** More than this would help nobody. */
const mostErrors = 100

const nameError = (name: string): string | undefined =>
  forbiddenNames.has(name) ? `"${name}" is not allowed as a name` : textError(name)

const valueError = (value: Json, name: string, depth: number): string | undefined => {
  if (typeof value === 'string') return textError(value) ?? linkError(value, name)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : 'is too large a number'
  if (typeof value !== 'object' || value === null) return undefined
  return depth >= limits.depth ? `nests deeper than ${limits.depth} levels` : countError(value, name)
}

const countError = (value: Json[] | JsonObject, name: string): string | undefined => {
  const isList = Array.isArray(value)
  const count = isList ? value.length : Object.keys(value).length
  const [kind] = (isList && /^skills$|interfaces$/i.exec(name)) || []
  const most = kind ? limits[kind === 'skills' ? 'skills' : 'interfaces'] : limits.members
  const what = kind?.toLowerCase() ?? (isList ? 'items' : 'members')
  return count > most ? `holds ${count} ${what}; at most ${most} are allowed` : undefined
}

const textError = (value: string): string | undefined => {
  if (value.length > limits.string) return `is ${value.length} characters long; at most ${limits.string} are allowed`
  if (value.includes('\0')) return 'holds a NUL character'
  return value.isWellFormed() ? undefined : 'holds half a character (a lone surrogate), which is not text'
}

const linkError = (value: string, name: string): string | undefined => {
  if (!linkName.test(name)) return undefined
  if (dangerousUrl.test(value)) return 'must be an http or https URL, not one that runs or reads local data'
  return credentials.test(value) ? 'must not hold a user name or password' : undefined
}
