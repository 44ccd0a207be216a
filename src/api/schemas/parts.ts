import * as v from 'valibot'
import { described, Finding, json } from '../../card/model/index.ts'

export { described, Finding }

// A client must expect more members than these: objects are open. The tests reject others.

/** A text. */
export const text = (description: string) => described(v.string(), description)
/** A boolean. */
export const flag = (description: string) => described(v.boolean(), description)
/** A whole number. */
export const integer = v.pipe(v.number(), v.integer())
/** A whole number that is not negative. */
export const count = (description: string) => v.pipe(integer, v.minValue(0), v.description(description))
/** A time in ISO 8601, in UTC. */
export const time = (description: string) => v.pipe(v.string(), v.isoTimestamp(), v.description(description))
/** Returns a time in ms since 1970 as responses have it. */
export const toTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
/** Parses a date (UTC), or a time with its zone, into ms since 1970. Returns NaN for others, such as 30 February. */
export const parseTime = (text: string): number => {
  const date = timeForm.exec(text)?.[1]
  if (date === undefined) return Number.NaN
  const midnight = Date.parse(date)
  return new Date(midnight || 0).toISOString().startsWith(date) ? Date.parse(text) : Number.NaN
}
const timeForm = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/
/** A URL. */
export const url = (description: string) => v.pipe(v.string(), v.url(), v.description(description))
/** One of a few texts. */
export const oneOf = <const Options extends readonly string[]>(options: Options, description: string) =>
  described(v.picklist(options), description)
/** A list. */
export const list = <Item extends v.GenericSchema>(item: Item, description: string) =>
  described(v.array(item), description)
/** A list of texts. */
export const texts = (description: string) => list(v.string(), description)
/** An object whose members have names that are not known before. */
export const mapOf = <Item extends v.GenericSchema>(item: Item, description: string) =>
  described(v.record(v.string(), item), description)
/** An object whose members are not described here. */
export const anyObject = (description: string) => mapOf(v.optional(json), description)
/** The cursor of a page. */
export const cursor = v.optional(text('The `cursor` of the next page. The last page has none.'))
/** The number of a revision. */
export const seq = v.pipe(integer, v.minValue(1), v.description('The number of the revision, from 1.'))
/** The id of an agent. */
export const id = text('The id of the agent.')

/** A JSON Pointer. */
export const Pointer = text('A JSON Pointer (RFC 6901).')

/** Problem details (RFC 9457). */
export const Problem = v.object({
  type: v.literal('about:blank'),
  title: text('The name of the status.'),
  status: integer,
  code: text('The stable code of the error.'),
  detail: text('What is wrong, for people.'),
  errors: v.optional(list(Finding, 'What is wrong with the body, place by place.')),
})

// Cards and manifests have schemas of their own, which documents name (card/manifest).

/** An Agent Card, in whatever dialect. */
export const AgentCard = anyObject('An Agent Card.')
/** What an owner registers: a manifest, or a bare card. The compiler checks it. */
export const Manifest = described(json, 'A manifest, or a bare card in any dialect.')
