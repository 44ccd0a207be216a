import { WholeEvents } from './event-stream-whole.ts'
import { within } from './upstream-patience.ts'

/** How an agent's stream is watched. */
export type StreamWatch = {
  /** How long the agent may be silent before its stream is ended. */
  idleSeconds: number
  /** After how long a silence the caller is sent a comment: it is by writing that one learns that nobody reads any more. */
  heartbeatSeconds: number
  /** The event that ends a stream in place of the agent; `why` is for people. */
  lastEvent: (why: string) => string
}

const encoder = new TextEncoder()
const heartbeat = encoder.encode(':\n\n')

/**
 * An agent's events as they come, never more of them than the caller reads. A stream that goes silent or breaks off ends after
 * its last whole event with one that says so. When the caller leaves, so does this: the agent's stream is cancelled.
 */
export const watchedEvents = (
  body: ReadableStream<Uint8Array>,
  { idleSeconds, heartbeatSeconds, lastEvent }: StreamWatch,
): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  const events = new WholeEvents()
  let coming: ReturnType<typeof reader.read> | undefined
  let silentSeconds = 0

  const end = (controller: ReadableStreamDefaultController<Uint8Array>, why: string) => {
    controller.enqueue(encoder.encode((events.open ? '\n\n' : '') + lastEvent(why)))
    controller.close()
  }

  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    // A pull must bring something, or there is no other.
    for (let passed = 0; passed === 0; ) {
      coming ??= reader.read()
      const patience = Math.min(heartbeatSeconds, idleSeconds - silentSeconds)
      const came = await within(coming, patience).catch(() => 'broken' as const)
      if (came === 'broken') return end(controller, 'The agent broke off its stream.')
      if (came === undefined) {
        silentSeconds += patience
        if (silentSeconds >= idleSeconds) {
          reader.cancel().catch(() => undefined)
          return end(controller, `The agent went silent: nothing came for ${idleSeconds} seconds.`)
        }
        if (events.open) continue
        controller.enqueue(heartbeat)
        return
      }
      coming = undefined
      silentSeconds = 0
      const passing = came.done ? events.rest() : events.take(came.value)
      for (const bytes of passing) controller.enqueue(bytes)
      if (came.done) return controller.close()
      passed = passing.length
    }
  }

  return new ReadableStream({ pull, cancel: reason => reader.cancel(reason) }, { highWaterMark: 0 })
}
