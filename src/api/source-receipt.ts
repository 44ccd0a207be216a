import type { PendingCard, SourceRecord } from '../registry/source-record.ts'
import type { SourceState } from '../registry/source-state.ts'

/** How the source of a card stands after a registration, as its owner is told. */
export const sourceReceipt = ({
  source: { kind, url },
  card,
  checked,
  failure,
  held,
  drift = [],
  notes = [],
}: SourceRecord) => ({
  kind,
  url,
  state: failure ? (card === undefined ? 'no-card' : 'stale') : held ? 'held' : 'fresh',
  ...(checked !== undefined && { checked: timeOf(checked) }),
  ...(failure && { failure }),
  ...(held && { held: heldReceipt(held) }),
  ...(drift.length > 0 && { drift }),
  ...(notes.length > 0 && { notes: notes.slice(0, 100) }),
})

/** The same of what the Registry has kept since. */
export const stateReceipt = ({ seq, told, checked, due, failing, held, ...source }: SourceState) => ({
  ...source,
  state: failing ? (checked === undefined ? 'no-card' : 'stale') : held ? 'held' : 'fresh',
  ...(checked !== undefined && { checked: timeOf(checked) }),
  due: timeOf(due),
  ...(failing && { failure: { ...failing, since: timeOf(failing.since) } }),
  ...(held && { held: heldReceipt(held) }),
})

/** A card that waits for its owner: by its entity tag it is accepted. */
export const heldReceipt = ({ etag, widens, drift }: Pick<PendingCard, 'etag' | 'widens' | 'drift'>) => ({
  etag,
  widens,
  drift,
})

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()
