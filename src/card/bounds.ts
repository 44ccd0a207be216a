import type { Json } from './json.ts'
import { limits } from './limits.ts'
import { type Pointer, pointer } from './pointer.ts'
import type { CardError } from './report.ts'

/** Names that reach an object's prototype when a reader copies members carelessly. */
const forbiddenNames = new Set(['__proto__', 'constructor', 'prototype'])

/** Schemes that run, or read local files, when a client follows them. */
const dangerousUrl = /^[\s\p{Cc}]*(?:javascript|data|vbscript|file|blob)[\s\p{Cc}]*:/iu

/** What no document may hold anywhere: forbidden names, strings over the limit, NUL, depth, and URLs that act. */
export const checkBounds = (document: Json): CardError[] => {
  const errors: CardError[] = []
  const visit = (value: Json, place: Pointer, name: string, depth: number): void => {
    if (typeof value === 'string') errors.push(...stringErrors(value, place, name))
    else if (typeof value !== 'object' || value === null) return
    else if (depth >= limits.depth) errors.push({ pointer: place, message: `nests deeper than ${limits.depth} levels` })
    else if (Array.isArray(value))
      value.forEach((item, index) => {
        visit(item, place + pointer(index), name, depth + 1)
      })
    else
      for (const [member, inner] of Object.entries(value)) {
        const at = place + pointer(member)
        if (forbiddenNames.has(member)) errors.push({ pointer: at, message: `"${member}" is not allowed as a name` })
        else visit(inner, at, member, depth + 1)
      }
  }
  visit(document, '', '', 0)
  return errors
}

const stringErrors = (value: string, place: Pointer, name: string): CardError[] => {
  if (value.length > limits.string)
    return [{ pointer: place, message: `is ${value.length} characters long; at most ${limits.string} are allowed` }]
  if (value.includes('\0')) return [{ pointer: place, message: 'holds a NUL character' }]
  if (/ur[li]s?$/i.test(name) && dangerousUrl.test(value))
    return [{ pointer: place, message: 'must be an http or https URL, not one that runs or reads local data' }]
  return []
}
