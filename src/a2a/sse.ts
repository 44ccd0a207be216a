import { MAX_EVENT_BYTES } from '../limits.ts'
import type { CallError } from './call-error.ts'
import type { CheckedAnswer } from './read-result.ts'

/** The limits and checks of an agent's stream. */
type StreamWatch = {
  /** The silence of the agent after which its stream is ended. */
  idleSeconds: number
  /** The silence after which the caller gets a comment: only a write shows that the caller has disconnected. */
  heartbeatSeconds: number
  /** Writes the event that ends a stream in place of the agent. */
  lastEvent: (error: CallError) => string
  /** Checks the data of each event before it passes; it is undefined if the event is too large to be read. */
  check?: (data: string | undefined) => CheckedAnswer | Promise<CheckedAnswer>
}

/**
 * Relays an agent's events as they arrive, no faster than the caller reads. A stream that falls silent, breaks off or
 * fails a check ends after its last whole event with an error event. A disconnected caller cancels the agent's stream.
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

/** Most streams have small events: the large buffer is for those that fill the small one. */
const BUFFER_BYTES = 4 * 1024
const LARGE_BUFFER_BYTES = 64 * 1024

/** The relay of one stream. */
class SseRelay {
  readonly #reader: ReadableStreamBYOBReader
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #watch: StreamWatch
  readonly #framer: SseFramer
  /** When this began to wait for the agent, in ms; undefined while the caller has unread data. */
  #silentSince: number | undefined
  /** When something of the agent or a heartbeat was last written, in ms. */
  #lastWrite = Date.now()
  #heartbeatPending = false
  #ended = false
  #stopTimer = (): void => undefined

  constructor(reader: ReadableStreamBYOBReader, writer: WritableStreamDefaultWriter<Uint8Array>, watch: StreamWatch) {
    this.#reader = reader
    this.#writer = writer
    this.#watch = watch
    this.#framer = new SseFramer(watch.check ? MAX_EVENT_BYTES : undefined)
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
      for (const piece of read.done ? this.#framer.flush() : this.#framer.push(read.value)) {
        const error = await this.#pass(piece)
        if (error) return this.#endWith(error)
      }
      if (read.done) break
      const { byteLength, buffer: filled } = read.value
      const isTooSmall = byteLength === filled.byteLength && byteLength < LARGE_BUFFER_BYTES
      buffer = isTooSmall ? new Uint8Array(LARGE_BUFFER_BYTES) : new Uint8Array(filled)
    }
    this.#stop()
    await this.#writer.close()
  }

  /** Writes a piece of the stream once it is checked. Returns the error that ends the stream, if any. */
  async #pass({ kind, bytes }: Piece): Promise<CallError | undefined> {
    const { check } = this.#watch
    if (check && kind === 'events') {
      const checked = await checkEvents(decodeAll(bytes), check)
      if (checked) {
        if (checked.text !== '') await this.#write(encoder.encode(checked.text))
        return checked.error
      }
    }
    const tooLarge = check && kind === 'oversized' ? await check(undefined) : undefined
    if (tooLarge && 'kind' in tooLarge) return tooLarge
    for (const each of bytes) await this.#write(each)
    return undefined
  }

  async #write(bytes: Uint8Array): Promise<void> {
    await this.#writer.write(bytes)
    this.#lastWrite = Date.now()
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
    if (now - silentSince >= idleMs) return this.#endWith({ kind: 'silent', seconds: this.#watch.idleSeconds })
    // An agent that sends an event in small parts is not silent, but the caller gets nothing.
    const quietSince = this.#silentSince === undefined ? now : this.#lastWrite
    const isDue = now - quietSince >= heartbeatMs
    if (isDue) this.#lastWrite = now
    this.#schedule(Math.min((isDue ? now : quietSince) + heartbeatMs, silentSince + idleMs) - now)
    if (!isDue || this.#heartbeatPending || this.#framer.isMidLine) return
    this.#heartbeatPending = true
    await this.#writer.write(this.#framer.isMidEvent ? HEARTBEAT_IN_EVENT : HEARTBEAT)
    this.#heartbeatPending = false
  }

  async #endWith(error: CallError): Promise<void> {
    this.#stop()
    this.#reader.cancel().catch(() => undefined)
    await this.#writer.write(encoder.encode((this.#framer.isMidEvent ? '\n\n' : '') + this.#watch.lastEvent(error)))
    await this.#writer.close()
  }

  #cancel(reason: unknown): void {
    this.#stop()
    this.#reader.cancel(reason).catch(() => undefined)
    // A caller that is still connected would wait forever.
    this.#writer.abort(reason).catch(() => undefined)
  }

  #stop(): void {
    this.#ended = true
    this.#stopTimer()
  }
}

/** Unchecked events that arrive in parts are withheld up to this size; longer ones pass as they arrive. */
const MAX_WITHHELD_BYTES = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a

/**
 * What may pass of a stream: whole events, with the comments between them; comments, which may be cut anywhere; and a
 * part of an event that is too large to be withheld, `oversized` for its first part. It is not copied, so write it
 * before the next call.
 */
type Piece = { kind: 'events' | 'comments' | 'oversized' | 'part'; bytes: readonly Uint8Array[] }

/**
 * Cuts a stream of server-sent events between its events, so that a stream which breaks off can be ended properly: its
 * incomplete last event is left out. Bytes are never changed and rarely copied, because most events arrive in one
 * chunk.
 */
export class SseFramer {
  /** Whether something has passed since the last event, so that only a line of its own can follow. */
  isMidEvent = false
  /** Whether what has passed ends in the middle of a line, so that nothing else can be written. */
  isMidLine = false
  readonly #maxBytes: number
  /** What passes up to its end: the line of a comment, or an event that is too large to be withheld. */
  #passing: 'comment' | 'event' | undefined
  #withheld = NO_BYTES
  /** The buffer that was returned last, which has been written by now. */
  #spare = NO_BYTES
  #size = 0
  /** The last two bytes so far. A stream begins as if after a blank line. */
  #previous: [number, number] = [LINE_FEED, LINE_FEED]

  constructor(maxBytes = MAX_WITHHELD_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Returns what may pass, now that a chunk has arrived. */
  push(chunk: Uint8Array): Piece[] {
    const pieces: Piece[] = []
    const resumed = this.#passing ? this.#passOn(this.#passing, chunk, pieces) : 0
    const end = Math.max(resumed, this.#passing ? 0 : this.#endOfEvents(chunk))
    const begin = this.#size > 0 && this.#size + end > this.#maxBytes ? this.#passOversized(chunk, pieces) : resumed
    if (end > begin) {
      pieces.push({ kind: 'events', bytes: [...this.#takeWithheld(), chunk.subarray(begin, end)] })
      this.#setPosition(false, false)
    }
    const rest = this.#size > 0 || this.#passing ? end : this.#passComments(chunk, end, pieces)
    if (rest < chunk.byteLength) this.#withhold(chunk.subarray(rest), pieces)
    this.#previous = [chunk.at(-2) ?? this.#previous[1], chunk.at(-1) ?? this.#previous[1]]
    return pieces
  }

  /** Returns what was withheld. For a stream that ends, not for one that breaks off. */
  flush(): Piece[] {
    return this.#size === 0 ? [] : [{ kind: 'events', bytes: this.#takeWithheld() }]
  }

  /** Passes the withheld event if it is too large with its end, which this chunk has. Returns the index after it. */
  #passOversized(chunk: Uint8Array, pieces: Piece[]): number {
    const end = this.#endOfFirstEvent(chunk) ?? 0
    if (this.#size + end <= this.#maxBytes) return 0
    pieces.push({ kind: 'oversized', bytes: [...this.#takeWithheld(), chunk.subarray(0, end)] })
    this.#setPosition(false, false)
    return end
  }

  /** Passes on what has begun to pass. Returns where it ends in the chunk. */
  #passOn(passing: 'comment' | 'event', chunk: Uint8Array, pieces: Piece[]): number {
    const isComment = passing === 'comment'
    const end = isComment ? endOfLine(chunk, 0) : this.#endOfFirstEvent(chunk)
    const bytes = chunk.subarray(0, end ?? chunk.byteLength)
    pieces.push({ kind: isComment ? 'comments' : 'part', bytes: [bytes] })
    if (end !== undefined) this.#passing = undefined
    if (isComment || end === undefined) this.#setPosition(true, bytes.at(-1) !== LINE_FEED)
    else this.#setPosition(false, false)
    return bytes.byteLength
  }

  /** Passes comments between events: they are keep-alives without a blank line, and half of one can be lost. */
  #passComments(chunk: Uint8Array, begin: number, pieces: Piece[]): number {
    let end = begin
    while (end < chunk.byteLength && !this.#passing) {
      const first = chunk[end]
      // Half of a CR LF.
      if (first === LINE_FEED) end++
      else if (first === COLON) {
        const next = endOfLine(chunk, end)
        if (next === undefined) this.#passing = 'comment'
        end = next ?? chunk.byteLength
      } else break
    }
    if (end === begin) return end
    pieces.push({ kind: 'comments', bytes: [chunk.subarray(begin, end)] })
    // A CR may be half of a line ending.
    this.#setPosition(true, chunk[end - 1] !== LINE_FEED)
    return end
  }

  #withhold(rest: Uint8Array, pieces: Piece[]): void {
    const size = this.#size + rest.byteLength
    if (size > this.#maxBytes) {
      pieces.push({ kind: 'oversized', bytes: [...this.#takeWithheld(), rest] })
      this.#passing = 'event'
      this.#setPosition(true, rest.at(-1) !== LINE_FEED)
      return
    }
    if (size > this.#withheld.byteLength) {
      const larger = new Uint8Array(Math.min(this.#maxBytes, Math.max(2 * size, BUFFER_BYTES)))
      larger.set(this.#withheld.subarray(0, this.#size))
      this.#withheld = larger
    }
    this.#withheld.set(rest, this.#size)
    this.#size = size
  }

  #takeWithheld(): Uint8Array[] {
    if (this.#size === 0) return []
    const taken = this.#withheld.subarray(0, this.#size)
    const isLarge = this.#withheld.byteLength > MAX_WITHHELD_BYTES
    ;[this.#withheld, this.#spare] = [this.#spare, isLarge ? NO_BYTES : this.#withheld]
    this.#size = 0
    return [taken]
  }

  #setPosition(isMidEvent: boolean, isMidLine: boolean): void {
    this.isMidEvent = isMidEvent
    this.isMidLine = isMidLine
  }

  /** Returns the index after the last blank line of a chunk, or 0. */
  #endOfEvents(chunk: Uint8Array): number {
    for (let index = chunk.byteLength - 1; index >= 0; index--) if (this.#endsBlankLine(chunk, index)) return index + 1
    return 0
  }

  #endOfFirstEvent(chunk: Uint8Array): number | undefined {
    for (let index = 0; index < chunk.byteLength; index++) if (this.#endsBlankLine(chunk, index)) return index + 1
    return undefined
  }

  /** Whether a blank line ends at an index. Lines end in LF, CR or CR LF. */
  #endsBlankLine(chunk: Uint8Array, index: number): boolean {
    const last = chunk[index]
    if (last !== LINE_FEED && last !== CARRIAGE_RETURN) return false
    const byteAt = (at: number): number | undefined => (at < 0 ? this.#previous[at + 2] : chunk[at])
    const isCrLf = last === LINE_FEED && byteAt(index - 1) === CARRIAGE_RETURN
    const before = byteAt(isCrLf ? index - 2 : index - 1)
    return before === LINE_FEED || before === CARRIAGE_RETURN
  }
}

const NO_BYTES = new Uint8Array(0)

/** Returns the index after the line that begins at `start`, if it ends in the chunk. */
const endOfLine = (chunk: Uint8Array, start: number): number | undefined => {
  for (let index = start; index < chunk.byteLength; index++)
    if (chunk[index] === LINE_FEED || chunk[index] === CARRIAGE_RETURN) return index + 1
  return undefined
}

// Events

/** A byte order mark stays in the text, because the text may be written again. */
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** Decodes bytes that end with an event, so that nothing of them stays in the decoder. */
const decodeAll = (bytes: readonly Uint8Array[]): string =>
  bytes.map(each => decoder.decode(each, { stream: true })).join('') + decoder.decode()

/**
 * Checks the events of a text. Returns undefined if all pass as they are; else the text that passes, and the error that
 * ends the stream after it, if any.
 */
const checkEvents = async (
  text: string,
  check: NonNullable<StreamWatch['check']>,
): Promise<{ text: string; error?: CallError } | undefined> => {
  let passed = ''
  let copied = 0
  for (let event = nextEvent(text, 0); event; event = nextEvent(text, event.end)) {
    const checking = check(event.data)
    const checked = checking instanceof Promise ? await checking : checking
    if (checked === undefined) continue
    passed += text.slice(copied, event.start)
    if ('kind' in checked) return { text: passed, error: checked }
    if (checked.text !== '') passed += replaceEvent(text.slice(event.start, event.end), checked.text, checked.eventType)
    copied = event.end
  }
  return copied === 0 ? undefined : { text: passed + text.slice(copied) }
}

const lineEnd = /\r\n?|\n/g

/** Returns the next event with data, and where it is in the text. The last one may lack its blank line. */
const nextEvent = (text: string, from: number): { start: number; end: number; data: string } | undefined => {
  // A stream may begin with a byte order mark.
  let start = text.charCodeAt(from) === 0xfeff ? from + 1 : from
  let data: string | undefined
  for (let line = start; line < text.length; ) {
    lineEnd.lastIndex = line
    const end = lineEnd.exec(text)?.index ?? text.length
    const next = end === text.length ? end : lineEnd.lastIndex
    if (end === line) {
      if (data !== undefined) return { start, end: next, data }
      start = next
    } else if (text.startsWith('data', line)) {
      const value = dataOf(text.slice(line, end))
      if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
    }
    line = next
  }
  return data === undefined ? undefined : { start, end: text.length, data }
}

/** Returns the value of a line that has the field `data`. */
const dataOf = (line: string): string | undefined => {
  if (line === 'data') return ''
  if (!line.startsWith('data:')) return undefined
  return line.slice(line[5] === ' ' ? 6 : 5)
}

/** Replaces the data of an event, and its type if there is another one, and keeps its other lines. */
const replaceEvent = (event: string, data: string, type: 'message' | 'error' | undefined): string => {
  const written = type === 'error' ? `event: error\ndata: ${data}` : `data: ${data}`
  let isReplaced = false
  return event.replace(/([^\r\n]+)(\r\n?|\n|$)/g, (line, content: string) => {
    if (type !== undefined && /^event(?::|$)/.test(content)) return ''
    if (dataOf(content) === undefined) return line
    if (isReplaced) return ''
    isReplaced = true
    return line.replace(content, () => written)
  })
}
