import type { Pointer } from '../../json/json.ts'

/** Something that was done to a card, and where in the authored card. */
export type Note = { pointer: Pointer; message: string }

/** Why a document is refused, and where in it. */
export type CardError = { pointer: Pointer; message: string }

/** One finding of the linter. `rule` is stable; `pointer` is into the authored card. */
export type Issue = { rule: string; severity: Severity; pointer: Pointer; message: string }

/** How much a finding matters: an error breaks clients, a warning misleads them, an info could be better. */
export type Severity = 'error' | 'warning' | 'info'

/** What a registration did to the card, told to its owner. Every pointer is into the authored card; every list is bounded. */
export type Report = {
  /** The dialect that the card was written in. */
  dialect: string
  /** Defaults that were added. */
  filled: Note[]
  /** Values that were read in another form than they were written. */
  converted: Note[]
  /** By dialect: what that dialect has no place for; where that is too much, the last entry says how much more. */
  dropped: Record<string, Pointer[]>
  /** What the linter found. */
  issues: Issue[]
}

/** A report is stored, sent and read by people: more entries of one kind, or longer ones, would help nobody. */
const most = { entries: 100, pointer: 128, message: 250 }

/** The place itself; where its pointer is long, one that holds it. */
const clipped = (place: Pointer): Pointer =>
  place.length > most.pointer ? place.slice(0, Math.max(0, place.lastIndexOf('/', most.pointer))) : place

/** As many notes as help, none of them long and each where `at` says; the last says how many more there are. */
export const truncateNotes = <Note extends { pointer: Pointer; message: string }>(
  notes: readonly Note[],
  at: (place: Pointer) => Pointer,
): Note[] =>
  notes.slice(0, most.entries + 1).map((note, index) => {
    const { pointer, message } = note
    const rest = index < most.entries ? '' : ` (one of ${notes.length - index} more)`
    const said = message.length > most.message ? `${message.slice(0, most.message).toWellFormed()}…` : message
    return { ...note, pointer: clipped(at(pointer)), message: said + rest }
  })

/** As many places as help, each once; the last entry says how many more there are. */
export const truncatePointers = (places: readonly Pointer[]): string[] => {
  const each = [...new Set(places.map(clipped))]
  const rest = each.length - most.entries
  return rest > 0 ? [...each.slice(0, most.entries), `(${rest} more)`] : each
}
