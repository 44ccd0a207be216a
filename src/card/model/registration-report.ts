import * as v from 'valibot'
import type { Pointer } from '../../json/index.ts'

/** What was found at a place in a document: why it is rejected, or what was changed in it. */
export const Finding = v.object({
  pointer: v.pipe(v.string(), v.description('A JSON Pointer (RFC 6901).')),
  message: v.pipe(v.string(), v.description('What is wrong or was changed, as a clause for people.')),
})
export type Finding = v.InferOutput<typeof Finding>

/** A finding of the linter, with its pointer in the authored card. The name of a rule is stable. */
export type Issue = Finding & { rule: string; severity: Severity }

/** The severity of a finding: an error breaks clients, a warning misleads them, an info suggests an improvement. */
export type Severity = 'error' | 'warning' | 'info'

/** The changes that a registration made. Every pointer is into the authored card; every list is bounded. */
export type Report = {
  /** The dialect of the authored card. */
  dialect: string
  /** Defaults that were added. */
  filled: Finding[]
  /** Values that were read in another form. */
  converted: Finding[]
  /** By dialect: the fields that it cannot express. */
  dropped: Record<string, Pointer[]>
  /** The losses where this host translates calls, and interfaces to which it forwards none. */
  lossy: Finding[]
  /** The fate of the author's signatures, and the documents that this host signs. */
  signatures: Finding[]
  /** The findings of the linter. */
  issues: Issue[]
}

const MAX_ENTRIES = 100
const MAX_POINTER_LENGTH = 128
const MAX_MESSAGE_LENGTH = 250

/** Limits a list of notes and their lengths; the last one gives the number of those left out. Maps their pointers. */
export const truncateFindings = <Entry extends Finding>(
  notes: readonly Entry[],
  toAuthored: (pointer: Pointer) => Pointer,
): Entry[] =>
  notes.slice(0, MAX_ENTRIES + 1).map((note, index) => {
    const { pointer, message } = note
    const more = index < MAX_ENTRIES ? '' : ` (one of ${notes.length - index} more)`
    return { ...note, pointer: truncatePointer(toAuthored(pointer)), message: truncateMessage(message) + more }
  })

/** Returns what was found at places, with their pointers mapped. */
export const relocate = <Found extends { pointer: Pointer }>(
  found: readonly Found[],
  toPlace: (pointer: Pointer) => Pointer,
): Found[] => found.map(each => ({ ...each, pointer: toPlace(each.pointer) }))

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
