import type { Failure } from './errors.ts'

/** Events that came in parts are kept back up to this many bytes; longer ones pass on as they come. */
const mostKept = 64 * 1024

const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a

/**
 * Lets server-sent events pass whole, so that a stream which breaks off can be ended properly: what came of its last event is
 * left out. Bytes pass untouched and, as a rule, uncopied: most often an event comes in one chunk.
 */
export class SseFramer {
  /** Whether a part of an event has passed: what follows would be glued to it. */
  open = false
  /** Whether what has passed ends amid a line, so that nothing of another's can stand behind it. */
  amidLine = false
  #kept: Uint8Array | undefined
  /** What was handed out last, and is written by now. */
  #spare: Uint8Array | undefined
  #size = 0
  /** The last two bytes so far. A stream begins as if after a blank line. */
  #before: [number, number] = [lineFeed, lineFeed]

  /** What of the stream may pass, now that this has come: to be written before more is taken, it is not copied. */
  take(chunk: Uint8Array): Uint8Array[] {
    const end = this.#endOfEvents(chunk)
    this.#before = [chunk.at(-2) ?? this.#before[1], chunk.at(-1) ?? this.#before[1]]
    const passing = end === 0 ? [] : [...this.rest(), chunk.subarray(0, end)]
    if (end > 0) this.#passed(false, false)
    const rest = chunk.subarray(end)
    if (rest.byteLength === 0) return passing
    // Comments are signs of life that come without a blank line, and nothing is lost with half of one.
    if (this.open || (this.#size === 0 && rest[0] === colon) || this.#size + rest.byteLength > mostKept) {
      passing.push(...this.rest(), rest)
      // A CR may be the half of a line's end.
      this.#passed(true, rest.at(-1) !== lineFeed)
    } else this.#keep(rest)
    return passing
  }

  /** What was kept back: of a stream that ends, not of one that breaks off. */
  rest(): Uint8Array[] {
    const kept = this.#kept
    if (kept === undefined || this.#size === 0) return []
    const rest = kept.subarray(0, this.#size)
    this.#kept = this.#spare
    this.#spare = kept
    this.#size = 0
    return [rest]
  }

  #passed(open: boolean, amidLine: boolean): void {
    this.open = open
    this.amidLine = amidLine
  }

  #keep(rest: Uint8Array): void {
    this.#kept ??= new Uint8Array(mostKept)
    this.#kept.set(rest, this.#size)
    this.#size += rest.byteLength
  }

  /** The place after the last blank line in a chunk; 0 where there is none. Lines end in LF, CR or CR LF. */
  #endOfEvents(chunk: Uint8Array): number {
    const byte = (at: number): number | undefined => (at < 0 ? this.#before[at + 2] : chunk[at])
    for (let at = chunk.byteLength - 1; at >= 0; at--) {
      const last = chunk[at]
      if (last !== lineFeed && last !== carriageReturn) continue
      const before = byte(last === lineFeed && byte(at - 1) === carriageReturn ? at - 2 : at - 1)
      if (before === lineFeed || before === carriageReturn) return at + 1
    }
    return 0
  }
}

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
