import * as v from 'valibot'
import type { Pointer } from '../../json/index.ts'
import { described, Finding, type PatchOperation } from './validation.ts'

/** The severities of findings: an error breaks clients, a warning misleads them, an info suggests an improvement. */
export const severities = ['error', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/** A finding of the linter, with its pointer in the authored card. */
export const Issue = v.object({
  rule: described(v.string(), 'The stable name of the rule.'),
  severity: v.picklist(severities),
  ...Finding.entries,
})
export type Issue = v.InferOutput<typeof Issue>

const listOf = <Item extends v.GenericSchema>(item: Item, text: string) => described(v.array(item), text)

/** The changes that a registration made. Every pointer is into the authored card; every list is bounded. */
export const Report = v.object({
  dialect: described(v.string(), 'The dialect of the authored card.'),
  filled: listOf(Finding, 'Defaults that were added.'),
  converted: listOf(Finding, 'Values that were read in another form.'),
  dropped: described(
    v.record(v.string(), v.array(v.string())),
    'By dialect, pointers to the fields that it cannot express.',
  ),
  lossy: listOf(Finding, 'What is lost where this host translates calls, and interfaces to which it forwards none.'),
  signatures: listOf(Finding, 'The result for each signature of the author, and the documents that this host signs.'),
  issues: listOf(Issue, 'What the linter found.'),
})
export type Report = v.InferOutput<typeof Report>

const MAX_ENTRIES = 100
const MAX_POINTER_LENGTH = 128
const MAX_MESSAGE_LENGTH = 250
const MAX_VALUE_LENGTH = 1000

/** Limits a list of notes and their lengths; the last one gives the number of those left out. Maps their pointers. */
export const truncateFindings = <Entry extends Finding>(
  notes: readonly Entry[],
  toAuthored: (pointer: Pointer) => Pointer,
): Entry[] =>
  notes.slice(0, MAX_ENTRIES + 1).map((note, index) => {
    const { pointer, message, change, ...rest } = place(note, toAuthored)
    const more = index < MAX_ENTRIES ? '' : ` (one of ${notes.length - index} more)`
    const isKept = change && more === '' && JSON.stringify(change).length <= MAX_VALUE_LENGTH
    const shown = { pointer: truncatePointer(pointer), message: truncateMessage(message) + more }
    return { ...rest, ...shown, ...(isKept && { change }) } as Entry
  })

/** Returns what was found at places, with their pointers mapped. */
export const relocate = <Found extends Placed>(
  found: readonly Found[],
  toPlace: (pointer: Pointer) => Pointer,
): Found[] => found.map(each => place(each, toPlace))

type Placed = { pointer: Pointer; change?: PatchOperation | undefined }

const place = <Found extends Placed>(found: Found, toPlace: (pointer: Pointer) => Pointer): Found => {
  const { pointer, change } = found
  if (change === undefined) return { ...found, pointer: toPlace(pointer) }
  const { path, from } = change
  const placed = { ...change, path: toPlace(path), ...(from !== undefined && { from: toPlace(from) }) }
  return { ...found, pointer: toPlace(pointer), change: placed }
}

/** Removes duplicates from a list of pointers and limits it; the last entry gives the number of those left out. */
export const truncatePointers = (pointers: readonly Pointer[]): string[] => {
  const unique = [...new Set(pointers.map(truncatePointer))]
  const more = unique.length - MAX_ENTRIES
  return more > 0 ? [...unique.slice(0, MAX_ENTRIES), `(${more} more)`] : unique
}

/** Returns the pointer, or where it is too long the closest ancestor that is not. */
const truncatePointer = (pointer: Pointer): Pointer => {
  if (pointer.length <= MAX_POINTER_LENGTH) return pointer
  return pointer.slice(0, Math.max(0, pointer.lastIndexOf('/', MAX_POINTER_LENGTH)))
}

const truncateMessage = (message: string): string =>
  message.length > MAX_MESSAGE_LENGTH ? `${message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…` : message

/** The classes of changes for clients, the most severe first. */
export const changeClasses = ['breaking', 'additive', 'cosmetic'] as const
export type ChangeClass = (typeof changeClasses)[number]

/** The rules by which the text that a signature covers is made from a card. No two SDKs make it in the same way. */
export const payloadRules = ['wire', 'served', 'proto', 'proto-ascii'] as const

/** The name of a rule by which the payload of a signature is made from a card. */
export type PayloadRule = (typeof payloadRules)[number]
