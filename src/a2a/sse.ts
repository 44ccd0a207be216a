import type { CallError } from './errors.ts'

/** How an agent's stream is watched. */
type StreamWatch = {
  /** How long the agent may be silent before its stream is ended. */
  idleSeconds: number
  /** After how long a silence the caller is sent a comment: only a write shows that the caller has disconnected. */
  heartbeatSeconds: number
  /** Writes the event that ends a stream in place of the agent. */
  lastEvent: (error: CallError) => string
}

/**
 * Relays an agent's events as they arrive, no faster than the caller reads. A stream that falls silent or breaks off ends after its
 * last whole event with an error event. When the caller disconnects, the agent's stream is cancelled.
 */
export const relaySse = (body: ReadableStream<Uint8Array>, watch: StreamWatch): ReadableStream<Uint8Array> => {
  const { readable, writable } = new IdentityTransformStream()
  new SseRelay(body.getReader({ mode: 'byob' }), writable.getWriter(), watch).start()
  return readable
}

const encoder = new TextEncoder()
/** A comment; and one between the lines of an event, which a blank line would end. */
const HEARTBEAT = encoder.encode(':\n\n')
const HEARTBEAT_IN_EVENT = encoder.encode(':\n')

/** Most streams have small events, and a host has many streams: the large buffer is for those that fill the small one. */
const BUFFER_BYTES = 4 * 1024
const LARGE_BUFFER_BYTES = 64 * 1024

/** The relay of one stream. */
class SseRelay {
  readonly #reader: ReadableStreamBYOBReader
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #watch: StreamWatch
  readonly #framer = new SseFramer()
  /** When this began to wait for the agent, in ms; undefined while the caller has unread data. */
  #silentSince: number | undefined
  /** When the last heartbeat was sent, in ms. */
  #lastHeartbeat = 0
  #heartbeatPending = false
  #ended = false
  #stopTimer = (): void => undefined

  constructor(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>, watch: StreamWatch) {
    this.#reader = reader
    this.#writer = writer
    this.#watch = watch
  }

  start(): void {
    const cancel = (reason: unknown) => this.#cancel(reason)
    this.#schedule(Math.min(this.#watch.heartbeatSeconds, this.#watch.idleSeconds) * 1000)
    // While the agent is silent, this is how a disconnected caller shows.
    this.#writer.closed.catch(cancel)
    this.#relay().catch(cancel)
  }

  /** Reads into one buffer over and over: when a write is done, its bytes have left the buffer. */
  async #relay(): Promise<void> {
    for (let buffer = new Uint8Array(BUFFER_BYTES); ; ) {
      this.#silentSince = Date.now()
      const read = await this.#reader.read(buffer).catch(() => 'broken-off' as const)
      this.#silentSince = undefined
      if (this.#ended) return
      if (read === 'broken-off') return this.#endWith({ kind: 'broken-off' })
      for (const bytes of read.done ? this.#framer.flush() : this.#framer.push(read.value))
        await this.#writer.write(bytes)
      if (read.done) break
      const { byteLength, buffer: filled } = read.value
      const isTooSmall = byteLength === filled.byteLength && byteLength < LARGE_BUFFER_BYTES
      buffer = isTooSmall ? new Uint8Array(LARGE_BUFFER_BYTES) : new Uint8Array(filled)
    }
    this.#stop()
    await this.#writer.close()
  }

  /** One timer for the whole stream: a timer for each read would cost more than the read. */
  #schedule(milliseconds: number): void {
    const timer = setTimeout(() => this.#onTick().catch(reason => this.#cancel(reason)), milliseconds)
    this.#stopTimer = () => clearTimeout(timer)
  }

  async #onTick(): Promise<void> {
    const now = Date.now()
    const idleMs = this.#watch.idleSeconds * 1000
    const heartbeatMs = this.#watch.heartbeatSeconds * 1000
    const silentSince = this.#silentSince ?? now
    if (now - silentSince >= idleMs) {
      this.#reader.cancel().catch(() => undefined)
      return this.#endWith({ kind: 'silent', seconds: this.#watch.idleSeconds })
    }
    const quietSince = Math.max(silentSince, this.#lastHeartbeat)
    const isDue = now - quietSince >= heartbeatMs
    if (isDue) this.#lastHeartbeat = now
    this.#schedule(Math.min((isDue ? now : quietSince) + heartbeatMs, silentSince + idleMs) - now)
    if (isDue) await this.#sendHeartbeat()
  }

  async #sendHeartbeat(): Promise<void> {
    if (this.#heartbeatPending || this.#framer.isMidLine) return
    this.#heartbeatPending = true
    await this.#writer.write(this.#framer.isMidEvent ? HEARTBEAT_IN_EVENT : HEARTBEAT)
    this.#heartbeatPending = false
  }

  async #endWith(error: CallError): Promise<void> {
    this.#stop()
    await this.#writer.write(encoder.encode((this.#framer.isMidEvent ? '\n\n' : '') + this.#watch.lastEvent(error)))
    await this.#writer.close()
  }

  #cancel(reason: unknown): void {
    this.#stop()
    this.#reader.cancel(reason).catch(() => undefined)
  }

  #stop(): void {
    this.#ended = true
    this.#stopTimer()
  }
}

/** Events that arrive in parts are withheld up to this size; longer ones are passed on as they arrive. */
const MAX_WITHHELD_BYTES = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a

/**
 * Passes server-sent events whole, so that a stream which breaks off can be ended properly: its incomplete last event is left out.
 * Bytes are never changed and rarely copied, because most events arrive in one chunk.
 */
export class SseFramer {
  /** Whether part of an event has passed, so that the next bytes would belong to it. */
  isMidEvent = false
  /** Whether what has passed ends in the middle of a line, so that nothing else can be written. */
  isMidLine = false
  #withheld: Uint8Array | undefined
  /** The buffer that was returned last, which has been written by now. */
  #spare: Uint8Array | undefined
  #size = 0
  /** The last two bytes so far. A stream begins as if after a blank line. */
  #previous: [number, number] = [LINE_FEED, LINE_FEED]

  /** Returns what may pass, now that a chunk has arrived. It is not copied, so write it before the next call. */
  push(chunk: Uint8Array): Uint8Array[] {
    const end = this.#endOfEvents(chunk)
    this.#previous = [chunk.at(-2) ?? this.#previous[1], chunk.at(-1) ?? this.#previous[1]]
    const passing = end === 0 ? [] : [...this.flush(), chunk.subarray(0, end)]
    if (end > 0) this.#setPosition(false, false)
    const rest = chunk.subarray(end)
    if (rest.byteLength === 0) return passing
    // Comments are keep-alives without a blank line, and half of one can be lost.
    const isComment = this.#size === 0 && rest[0] === COLON
    if (this.isMidEvent || isComment || this.#size + rest.byteLength > MAX_WITHHELD_BYTES) {
      passing.push(...this.flush(), rest)
      // A CR may be half of a line ending.
      this.#setPosition(true, rest.at(-1) !== LINE_FEED)
    } else this.#withhold(rest)
    return passing
  }

  /** Returns what was withheld. For a stream that ends, not for one that breaks off. */
  flush(): Uint8Array[] {
    const withheld = this.#withheld
    if (withheld === undefined || this.#size === 0) return []
    const rest = withheld.subarray(0, this.#size)
    this.#withheld = this.#spare
    this.#spare = withheld
    this.#size = 0
    return [rest]
  }

  #setPosition(isMidEvent: boolean, isMidLine: boolean): void {
    this.isMidEvent = isMidEvent
    this.isMidLine = isMidLine
  }

  #withhold(rest: Uint8Array): void {
    this.#withheld ??= new Uint8Array(MAX_WITHHELD_BYTES)
    this.#withheld.set(rest, this.#size)
    this.#size += rest.byteLength
  }

  /** Returns the index after the last blank line of a chunk, or 0. Lines end in LF, CR or CR LF. */
  #endOfEvents(chunk: Uint8Array): number {
    const byteAt = (index: number): number | undefined => (index < 0 ? this.#previous[index + 2] : chunk[index])
    for (let index = chunk.byteLength - 1; index >= 0; index--) {
      const last = chunk[index]
      if (last !== LINE_FEED && last !== CARRIAGE_RETURN) continue
      const isCrLf = last === LINE_FEED && byteAt(index - 1) === CARRIAGE_RETURN
      const before = byteAt(isCrLf ? index - 2 : index - 1)
      if (before === LINE_FEED || before === CARRIAGE_RETURN) return index + 1
    }
    return 0
  }
}
