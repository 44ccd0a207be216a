import type { Json } from './json.ts'
import { limits } from './limits.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { CardError } from './report.ts'

/** Names that reach an object's prototype when a reader copies members carelessly. */
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Names of fields that clients follow or show as links. */
const linkName = /(?:ur[li]s?|icon|logo|image|href|src|link|links|website|homepage|documentation)$/i

/** Schemes that run, or read local files, when a client follows them. */
const dangerousUrl = /^[\s\p{Cc}]*(?:javascript|data|vbscript|file|blob)[\s\p{Cc}]*:/iu

const credentials = /^\s*[a-z][a-z0-9+.-]*:[\\/]{2}[^\\/?#]*@/i

/**
 * What no document may hold anywhere: forbidden names, strings over the limit or that are not text, NUL, depth, numbers
 * that JSON cannot carry, and URLs that act or hold a password.
 */
export const checkBounds = (document: Json): CardError[] => {
  const errors: CardError[] = []
  const add = (place: Pointer, message: string | undefined): void => {
    if (message !== undefined && errors.length < mostErrors) errors.push({ pointer: place, message })
  }
  const visit = (value: Json, place: Pointer, name: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) add(place, leafError(value, name))
    else if (depth >= limits.depth) add(place, `nests deeper than ${limits.depth} levels`)
    else
      for (const [member, inner] of Object.entries(value)) {
        const at = place + pointer(member)
        const refused = forbiddenNames.has(member) ? `"${member}" is not allowed as a name` : textError(member)
        if (refused === undefined) visit(inner, at, Array.isArray(value) ? name : member, depth + 1)
        else add(at.slice(0, limits.string), refused)
      }
  }
  visit(document, '', '', 0)
  return errors
}

/** More than this would help nobody. */
const mostErrors = 100

const leafError = (value: string | number | boolean | null, name: string): string | undefined => {
  if (typeof value === 'string') return textError(value) ?? linkError(value, name)
  return typeof value === 'number' && !Number.isFinite(value) ? 'is too large a number' : undefined
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
