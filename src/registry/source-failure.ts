import type { CardError } from '../card/model/report.ts'

/** Why a card could not be had. */
export type SourceFailure = {
  /** What a client is told that asks for a card of which none is left. */
  status: 502 | 503 | 504
  /** One word for each kind, for the owner. What this host does not call is `unreachable` too: nobody can probe with it. */
  code: 'unreachable' | 'timeout' | 'invalid-card' | 'not-ready'
  /** What the owner is told. */
  message: string
  /** Where the card is wrong: pointers into it. */
  errors?: CardError[]
}
