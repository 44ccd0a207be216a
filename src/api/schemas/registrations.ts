import * as v from 'valibot'
import { changeClasses, Issue, json, Report, strictObject } from '../../card/model/index.ts'
import { anyObject, count, Finding, flag, id, mapOf, Pointer, Problem, seq, text, url } from './parts.ts'
import { registeredSource } from './sources.ts'

// Registrations: what the linter and the compiler report, and what a write returns.

export { Issue, Report }

export const LintResult = v.object({
  valid: flag('Whether a registration would be accepted.'),
  errors: v.array(Finding),
  ...v.partial(Report).entries,
  representations: v.optional(
    mapOf(anyObject('A card.'), 'The card in each representation, by name. Only on request, if the card is valid.'),
  ),
})

export const ChangeClass = v.pipe(v.picklist(changeClasses), v.description('What a change means for clients.'))

export const Change = v.object({
  class: ChangeClass,
  rule: text('The stable name of the kind of change.'),
  pointer: Pointer,
  message: v.string(),
  tier: v.optional(text('The tier of the extended card that has the change.')),
})

export const Receipt = v.object({
  id,
  seq,
  changed: flag('Whether a new revision was made.'),
  published: flag('Whether every location serves it. If not, the host retries.'),
  class: v.optional(ChangeClass),
  changes: v.optional(v.array(Change)),
  root: flag('Whether the agent answers on host names that no agent claims.'),
  urls: v.object({ card: url('The card.'), agent: url('The agent.') }),
  etags: mapOf(v.string(), 'The entity tags of the manifest and of each representation of the card, by name.'),
  source: v.optional(registeredSource),
  report: v.optional(Report),
})
export type Receipt = v.InferOutput<typeof Receipt>

const headerText = v.optional(v.pipe(v.string(), v.regex(/^[\x20-\x7e]*$/, 'must be the value of a header')))

/** A line of a batch: the body of `PUT /agents/{id}`, with its conditions. */
export const BatchLine = strictObject({ id: v.string(), manifest: json, ifMatch: headerText, ifNoneMatch: headerText })

export const BatchResult = v.object({
  line: count('The number of the line in the request.'),
  id: v.optional(id),
  status: v.pipe(v.number(), v.integer(), v.description('The status that the registration would have had.')),
  agent: v.optional(Receipt),
  error: v.optional(Problem),
})
export type BatchResult = v.InferOutput<typeof BatchResult>
