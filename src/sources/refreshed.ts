import type { Drift } from '../card/diff/drift.ts'
import type { Note } from '../card/model/report.ts'
import type { SourceFailure } from '../registry/source-failure.ts'
import type { PendingCard } from '../registry/source-record.ts'

/** What came of refreshing an agent's card. */
export type RefreshOutcome =
  | { outcome: 'refreshed'; seq: number; published: boolean; drift: Drift; notes: Note[] }
  | { outcome: 'unchanged' }
  /** The new card widens access, and its manifest says `pin`: it waits until an owner accepts it by its entity tag. */
  | { outcome: 'held'; held: PendingCard }
  | { outcome: 'failed'; failure: SourceFailure }
  /** Not before `due`, in ms since 1970. */
  | { outcome: 'fresh'; due: number }
  /** Somebody else is at it. */
  | { outcome: 'busy' }
  /** The card is of an agent that uses a secret or a binding of the host: where that goes is for an admin to accept. */
  | { outcome: 'needs-admin' }
  /** No card of that entity tag waits. */
  | { outcome: 'not-held' }
  /** The agent was registered anew, or removed, meanwhile. */
  | { outcome: 'overtaken' }
  /** This run of the Worker may ask nobody any more. */
  | { outcome: 'spent' }
  /** There is no such agent, or its card comes from nowhere else. */
  | { outcome: 'no-source' }

/** What of the context of a request, or of a Durable Object, is needed. */
export type RefreshContext = Pick<ExecutionContext, 'waitUntil' | 'exports'>
