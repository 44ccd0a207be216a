import type { WireVersion } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'

/** The first member of these names that an object has: ProtoJSON has two names for a field, and readers take both. */
export const firstDefined = (object: Json | undefined, ...names: readonly string[]): Json | undefined => {
  if (!isJsonObject(object)) return undefined
  for (const name of names) {
    const value = object[name]
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

/** What a call's message is called: readers of v0.3 over HTTP take `request` for `message`. */
export const messageNames = ['message', 'request'] as const

/** What the list of a message's parts is called. */
export const partLists = ['parts', 'content'] as const

/** The parts of a call's message; v0.3 over HTTP calls them its content. What is no list has none: the agent will say so. */
export const messageParts = (params: JsonObject): Json[] => {
  const lists: Json[][] = []
  for (const message of messageNames)
    for (const name of partLists) {
      const parts = firstDefined(params[message], name)
      if (Array.isArray(parts)) lists.push(parts)
    }
  return lists[0] !== undefined && lists.length === 1 ? lists[0] : lists.flat()
}

/** The media types that a part says or implies; none where it cannot be told. An agent must take all of them. */
export const partMediaTypes = (part: Json, version: WireVersion): string[] =>
  isJsonObject(part) ? partReaders[version](part) : []

const partReaders: Record<WireVersion, (part: JsonObject) => string[]> = {
  '0.3': part => {
    const has = (kind: string) => part.kind === kind || firstDefined(part, kind) !== undefined
    return [
      ...(has('text') ? ['text/plain'] : []),
      ...(has('data') ? ['application/json'] : []),
      ...textsOf(part.file, 'mimeType', 'mime_type'),
    ]
  },
  '1.0': part => {
    const explicit = textsOf(part, 'mediaType', 'media_type')
    if (explicit.length > 0) return explicit
    return [
      ...(firstDefined(part, 'text') !== undefined ? ['text/plain'] : []),
      // Data may be null: it is any JSON.
      ...(part.data !== undefined ? ['application/json'] : []),
    ]
  },
}

/** Whether a part says its type in a way that readers take for one type or another: as no text, or as a range of types. */
export const hasOddType = (part: Json): boolean => isOddlyTyped(part) || isOddlyTyped(firstDefined(part, 'file'))

/** Where a part says its media type: in one version or another, in one spelling or another. */
export const typeNames = ['mediaType', 'media_type', 'mimeType', 'mime_type']

const isOddlyTyped = (object: Json | undefined): boolean =>
  isJsonObject(object) &&
  typeNames.some(name => {
    const type = object[name]
    return type !== undefined && type !== null && (typeof type !== 'string' || type.includes('*'))
  })

/** The texts that an object has under each of these names, of which its reader may take any. */
const textsOf = (object: Json | undefined, ...names: readonly string[]): string[] => {
  const texts: string[] = []
  for (const name of names) {
    const text = firstDefined(object, name)
    if (typeof text === 'string' && text !== '') texts.push(text)
  }
  return texts
}
