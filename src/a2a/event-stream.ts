import { WholeEvents } from './event-stream-whole.ts'
import { within } from './upstream-patience.ts'
import type { Failure } from './verdict.ts'

/** How an agent's stream is watched. */
type StreamWatch = {
  /** How long the agent may be silent before its stream is ended. */
  idleSeconds: number
  /** After how long a silence the caller is sent a comment: it is by writing that one learns that nobody reads any more. */
  heartbeatSeconds: number
  /** The event that ends a stream in place of the agent. */
  lastEvent: (why: Failure) => string
}

const encoder = new TextEncoder()
const heartbeat = encoder.encode(':\n\n')
const bufferBytes = 64 * 1024

/**
 * An agent's events as they come, no faster than the caller reads. A stream that goes silent or breaks off ends after its last
 * whole event with one that says so. When the caller leaves, the agent's stream is cancelled.
 */
export const watchedEvents = (body: ReadableStream<Uint8Array>, watch: StreamWatch): ReadableStream<Uint8Array> => {
  const { readable, writable } = new IdentityTransformStream()
  const reader = body.getReader({ mode: 'byob' })
  const writer = writable.getWriter()
  const leave = (reason: unknown) => reader.cancel(reason).catch(() => undefined)
  // Nobody reads: a caller that leaves while the agent is silent is known by this alone.
  writer.closed.catch(leave)
  pass(reader, writer, watch).catch(leave)
  return readable
}

/** Reads into one buffer, over and over: what is written has left it when the write is done. */
const pass = async (
  reader: ReadableStreamBYOBReader,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  { idleSeconds, heartbeatSeconds, lastEvent }: StreamWatch,
): Promise<void> => {
  const events = new WholeEvents()
  let coming = reader.read(new Uint8Array(bufferBytes))
  let silentSeconds = 0

  const end = async (why: Failure): Promise<void> => {
    await writer.write(encoder.encode((events.open ? '\n\n' : '') + lastEvent(why)))
    await writer.close()
  }

  for (;;) {
    const patience = Math.min(heartbeatSeconds, idleSeconds - silentSeconds)
    const came = await within(coming, patience).catch(() => 'broken' as const)
    if (came === 'broken') return end({ failed: 'broken-off' })
    if (came === undefined) {
      silentSeconds += patience
      if (silentSeconds >= idleSeconds) {
        reader.cancel().catch(() => undefined)
        return end({ failed: 'silent', seconds: idleSeconds })
      }
      if (!events.open) await writer.write(heartbeat)
      continue
    }
    silentSeconds = 0
    for (const bytes of came.done ? events.rest() : events.take(came.value)) await writer.write(bytes)
    if (came.done) return writer.close()
    coming = reader.read(new Uint8Array(came.value.buffer))
  }
}
