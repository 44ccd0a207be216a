import type { WireVersion } from '../card/call-profile.ts'
import { isObject, type Json, type JsonObject } from '../card/json.ts'

/** The first member of these names that an object has: ProtoJSON has two names for a field, and readers take both. */
export const member = (object: Json | undefined, ...names: readonly string[]): Json | undefined =>
  isObject(object) ? names.map(name => object[name]).find(value => value !== undefined && value !== null) : undefined

/**
 * The parts of a call's message; v0.3 over HTTP calls them its content, and its readers take `request` for `message`. What is
 * no list has none: the agent will say so.
 */
export const messageParts = (params: JsonObject): Json[] =>
  ['message', 'request'].flatMap(message =>
    ['parts', 'content'].flatMap(name => {
      const parts = member(params[message], name)
      return Array.isArray(parts) ? parts : []
    }),
  )

/** The media types that a part says or implies; none where it cannot be told. An agent must take all of them. */
export const partTypes = (part: Json, version: WireVersion): string[] =>
  isObject(part) ? partReaders[version](part).filter(type => typeof type === 'string' && type !== '') : []

const partReaders: Record<WireVersion, (part: JsonObject) => string[]> = {
  '0.3': part => {
    const has = (kind: string) => part.kind === kind || member(part, kind) !== undefined
    return [
      ...(has('text') ? ['text/plain'] : []),
      ...(has('data') ? ['application/json'] : []),
      ...textOf(member(part.file, 'mimeType', 'mime_type')),
    ]
  },
  '1.0': part => {
    const explicit = textOf(member(part, 'mediaType', 'media_type'))
    if (explicit.some(type => type !== '')) return explicit
    return [
      ...(member(part, 'text') !== undefined ? ['text/plain'] : []),
      // Data may be null: it is any JSON.
      ...(part.data !== undefined ? ['application/json'] : []),
    ]
  },
}

const textOf = (value: Json | undefined): string[] => (typeof value === 'string' ? [value] : [])
