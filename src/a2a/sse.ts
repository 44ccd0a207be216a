import { SseFramer } from './event-stream-whole.ts'
import type { Failure } from './verdict.ts'

/** How an agent's stream is watched. */
type StreamWatch = {
  /** How long the agent may be silent before its stream is ended. */
  idleSeconds: number
  /** How often a silence is met with a comment to the caller: it is by writing that one learns that nobody reads any more. */
  heartbeatSeconds: number
  /** The event that ends a stream in place of the agent. */
  lastEvent: (why: Failure) => string
}

/**
 * An agent's events as they come, no faster than the caller reads. A stream that goes silent or breaks off ends after its last
 * whole event with one that says so. When the caller leaves, the agent's stream is cancelled.
 */
export const relaySse = (body: ReadableStream<Uint8Array>, watch: StreamWatch): ReadableStream<Uint8Array> => {
  const { readable, writable } = new IdentityTransformStream()
  new SseRelay(body.getReader({ mode: 'byob' }), writable.getWriter(), watch).begin()
  return readable
}

const encoder = new TextEncoder()
/** A comment; and one amid the lines of an event, which a blank line would end. */
const heartbeat = encoder.encode(':\n\n')
const heartbeatWithin = encoder.encode(':\n')

/** Most streams are of small events, and a host has many of them: the large buffer is for those that fill the small one. */
const bufferBytes = 4 * 1024
const largeBufferBytes = 64 * 1024

/** The way of one stream's events through this host. */
class SseRelay {
  readonly #reader: ReadableStreamBYOBReader
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #watch: StreamWatch
  readonly #events = new SseFramer()
  /** Since when the agent is silent, in ms; nobody waits for it while its caller has not read what came. */
  #silentSince: number | undefined
  #beats = false
  #over = false
  #stopClock = (): void => undefined

  constructor(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>, watch: StreamWatch) {
    this.#reader = reader
    this.#writer = writer
    this.#watch = watch
  }

  begin(): void {
    const { idleSeconds, heartbeatSeconds } = this.#watch
    const leave = (reason: unknown) => this.#leave(reason)
    // One clock for all of the stream: to wait for each event by itself would cost each a timer.
    const period = Math.min(idleSeconds, heartbeatSeconds) * 1000
    const clock = setInterval(() => this.#listen(period).catch(leave), period)
    this.#stopClock = () => clearInterval(clock)
    // Nobody reads: a caller that leaves while the agent is silent is known by this alone.
    this.#writer.closed.catch(leave)
    this.#pass().catch(leave)
  }

  /** Reads into one buffer, over and over: what is written has left it when the write is done. */
  async #pass(): Promise<void> {
    for (let buffer = new Uint8Array(bufferBytes); ; ) {
      this.#silentSince = Date.now()
      const came = await this.#reader.read(buffer).catch(() => 'broken' as const)
      this.#silentSince = undefined
      if (this.#over) return
      if (came === 'broken') return this.#end({ failed: 'broken-off' })
      for (const bytes of came.done ? this.#events.rest() : this.#events.take(came.value))
        await this.#writer.write(bytes)
      if (came.done) break
      const { byteLength, buffer: read } = came.value
      const isTooSmall = byteLength === read.byteLength && byteLength < largeBufferBytes
      buffer = isTooSmall ? new Uint8Array(largeBufferBytes) : new Uint8Array(read)
    }
    this.#stop()
    await this.#writer.close()
  }

  /** Looks whether the agent is silent: for too long, or for long enough to see whether anybody still waits for it. */
  async #listen(period: number): Promise<void> {
    if (this.#silentSince === undefined || this.#beats) return
    const silence = Date.now() - this.#silentSince
    const { idleSeconds } = this.#watch
    if (silence >= idleSeconds * 1000) {
      this.#reader.cancel().catch(() => undefined)
      return this.#end({ failed: 'silent', seconds: idleSeconds })
    }
    // Half of the time between two looks: a whole one would leave a caller unmissed for almost twice as long.
    if (silence < period / 2 || this.#events.amidLine) return
    this.#beats = true
    await this.#writer.write(this.#events.open ? heartbeatWithin : heartbeat)
    this.#beats = false
  }

  async #end(why: Failure): Promise<void> {
    this.#stop()
    await this.#writer.write(encoder.encode((this.#events.open ? '\n\n' : '') + this.#watch.lastEvent(why)))
    await this.#writer.close()
  }

  #leave(reason: unknown): void {
    this.#stop()
    this.#reader.cancel(reason).catch(() => undefined)
  }

  #stop(): void {
    this.#over = true
    this.#stopClock()
  }
}
