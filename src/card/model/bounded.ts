import type { Pointer } from '../../json/pointer.ts'

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
