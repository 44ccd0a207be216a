import type { Pointer } from '../../json/pointer.ts'

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
