import { matchesGlob } from '../../card/model/index.ts'
import type { StoredChange } from '../records.ts'

/** A change as one reader sees it. */
type ChangeEvent = Pick<StoredChange, 'id' | 'seq' | 'at' | 'class'> & { event: StoredChange['kind'] }

/**
 * Returns a change as a reader of the agents in `covered` sees it; undefined for none. All others see the public agents only: for them
 * an agent that becomes internal is removed, and one that becomes public is registered.
 */
const toVisibleEvent = (change: StoredChange, covered: readonly string[]): ChangeEvent | undefined => {
  const { id, seq, at, kind, publicKind, class: changeClass } = change
  const event = covered.some(glob => matchesGlob(glob, id)) ? kind : publicKind
  if (event === undefined) return undefined
  return { id, seq, at, event, ...(event === 'changed' && changeClass && { class: changeClass }) }
}

/** The data of a change, which streams and the webhook have in common. */
export const toEventData = ({ id, seq, at, class: changeClass }: ChangeEvent) => ({
  agent: id,
  seq,
  ...(changeClass && { class: changeClass }),
  time: new Date(at).toISOString(),
})

/** Writes a change as a server-sent event, whose `id` is the number of the change. */
const toSse = (number: number, event: ChangeEvent): string =>
  `id: ${number}\nevent: ${event.event}\ndata: ${JSON.stringify(toEventData(event))}\n\n`

/**
 * Writes a page of changes for readers of the agents in `covered`, as one message: a line with `last`, the change up to
 * which the page is complete, then server-sent events.
 */
export const writePage = (last: number, changes: readonly StoredChange[], covered: readonly string[]): string => {
  const events = changes.map(change => {
    const event = toVisibleEvent(change, covered)
    return event ? toSse(change.number, event) : ''
  })
  return `${last}\n${events.join('')}`
}

/** Reads a page that `writePage` has written. */
export const readPage = (message: string): { last: number; events: string } => {
  const end = message.indexOf('\n')
  return { last: Number(message.slice(0, end)), events: message.slice(end + 1) }
}

/** How long a client waits before it connects again, in ms. */
const RECONNECT_MS = 3000

/** Writes a heartbeat: no event, but where a client resumes that gets none before it reconnects. */
export const sseId = (number: number): string => `id: ${number}\n\n`

/** Begins a stream after a change. */
export const sseStart = (number: number): string => `retry: ${RECONNECT_MS}\n${sseId(number)}`
