import type { CheckedAnswer } from './read-result.ts'

/** Unchecked events that arrive in parts are withheld up to this size; longer ones pass as they arrive. */
const MAX_WITHHELD_BYTES = 64 * 1024

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a
/** The smallest buffer for what is withheld: most events are small. */
const MIN_BUFFER_BYTES = 4 * 1024
const NO_BYTES = new Uint8Array(0)

/**
 * What may pass of a stream: whole events, with the comments between them; comments, which may be cut anywhere; and a
 * part of an event that is too large to be withheld, `oversized` for its first part. The bytes are those of the chunk
 * or of a buffer that is used again, so write them before the next call.
 */
export type Piece = { kind: 'events' | 'comments' | 'oversized' | 'part'; bytes: Uint8Array }

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
  #pieces: Piece[] = []
  #withheld = NO_BYTES
  /** The buffer that was returned last, which has been written by now. */
  #spare = NO_BYTES
  #size = 0
  /** The last two bytes so far. A stream begins as if after a blank line. */
  #secondLast = LINE_FEED
  #last = LINE_FEED

  constructor(maxBytes = MAX_WITHHELD_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** Returns what may pass, now that a chunk has arrived. */
  push(chunk: Uint8Array): Piece[] {
    this.#pieces = []
    let at = this.#passing ? this.#passOn(chunk) : 0
    if (!this.#passing) at = this.#passEvents(chunk, at)
    if (!this.#passing && this.#size === 0) at = this.#passComments(chunk, at)
    if (at < chunk.byteLength) this.#withhold(chunk.subarray(at))
    this.#secondLast = chunk.at(-2) ?? this.#last
    this.#last = chunk.at(-1) ?? this.#last
    return this.#pieces
  }

  /** Returns what was withheld. For a stream that ends, not for one that breaks off. */
  flush(): Piece[] {
    return this.#size === 0 ? [] : [{ kind: 'events', bytes: this.#takeWith(NO_BYTES) }]
  }

  #pass(kind: Piece['kind'], bytes: Uint8Array, endsEvent: boolean): void {
    this.#pieces.push({ kind, bytes })
    this.isMidEvent = !endsEvent
    // A CR may be half of a line ending.
    this.isMidLine = !endsEvent && bytes.at(-1) !== LINE_FEED
  }

  /** Passes on what has begun to pass. Returns where it ends in the chunk, like the methods that follow. */
  #passOn(chunk: Uint8Array): number {
    const isComment = this.#passing === 'comment'
    const end = isComment ? endOfLine(chunk, 0) : this.#endOfFirstEvent(chunk)
    const bytes = end === 0 ? chunk : chunk.subarray(0, end)
    this.#pass(isComment ? 'comments' : 'part', bytes, !isComment && end > 0)
    if (end > 0) this.#passing = undefined
    return bytes.byteLength
  }

  /** Passes the events that end in the chunk; a withheld one that is too large with its end is on its own. */
  #passEvents(chunk: Uint8Array, begin: number): number {
    const end = this.#endOfEvents(chunk)
    const first = this.#size > 0 && this.#size + end > this.#maxBytes ? this.#endOfFirstEvent(chunk) : 0
    const isTooLarge = this.#size + first > this.#maxBytes
    if (isTooLarge) this.#pass('oversized', this.#takeWith(chunk.subarray(0, first)), true)
    const at = isTooLarge ? first : begin
    if (end <= at) return at
    this.#pass('events', this.#takeWith(chunk.subarray(at, end)), true)
    return end
  }

  /** Passes comments between events: they are keep-alives without a blank line, and half of one can be lost. */
  #passComments(chunk: Uint8Array, begin: number): number {
    let end = begin
    // A LF is half of a CR LF.
    while (chunk[end] === LINE_FEED || chunk[end] === COLON) {
      const next = endOfLine(chunk, end)
      if (next === 0) this.#passing = 'comment'
      end = next || chunk.byteLength
    }
    if (end > begin) this.#pass('comments', chunk.subarray(begin, end), false)
    return end
  }

  #withhold(rest: Uint8Array): void {
    if (this.#size + rest.byteLength > this.#maxBytes) {
      this.#pass('oversized', this.#takeWith(rest), false)
      this.#passing = 'event'
    } else this.#append(rest)
  }

  #append(bytes: Uint8Array): void {
    const size = this.#size + bytes.byteLength
    if (size > this.#withheld.byteLength) {
      const larger = new Uint8Array(Math.max(size, Math.min(2 * size, this.#maxBytes), MIN_BUFFER_BYTES))
      larger.set(this.#withheld.subarray(0, this.#size))
      this.#withheld = larger
    }
    this.#withheld.set(bytes, this.#size)
    this.#size = size
  }

  /** Returns what was withheld, and these bytes after it. */
  #takeWith(bytes: Uint8Array): Uint8Array {
    if (this.#size === 0) return bytes
    this.#append(bytes)
    const taken = this.#withheld.subarray(0, this.#size)
    const isLarge = this.#withheld.byteLength > 2 * MAX_WITHHELD_BYTES
    ;[this.#withheld, this.#spare] = [this.#spare, isLarge ? NO_BYTES : this.#withheld]
    this.#size = 0
    return taken
  }

  /** Returns the index after the last blank line that ends in the chunk; or 0. */
  #endOfEvents(chunk: Uint8Array): number {
    for (let index = chunk.byteLength - 1; index >= 0; index--)
      if ((chunk[index] ?? 0) <= CARRIAGE_RETURN && this.#endsBlankLine(chunk, index)) return index + 1
    return 0
  }

  /** Returns the index after the first blank line that ends in the chunk; or 0. */
  #endOfFirstEvent(chunk: Uint8Array): number {
    for (let index = 0, { byteLength } = chunk; index < byteLength; index++)
      if ((chunk[index] ?? 0) <= CARRIAGE_RETURN && this.#endsBlankLine(chunk, index)) return index + 1
    return 0
  }

  /** Checks whether a blank line ends at an index. Lines end in LF, CR or CR LF. */
  #endsBlankLine(chunk: Uint8Array, index: number): boolean {
    const byte = chunk[index]
    const before = this.#byteAt(chunk, index - 1)
    if (byte === LINE_FEED && before === CARRIAGE_RETURN) return isLineEnd(this.#byteAt(chunk, index - 2))
    return isLineEnd(byte) && isLineEnd(before)
  }

  /** Returns a byte of the chunk, or of the two before it. */
  #byteAt(chunk: Uint8Array, index: number): number | undefined {
    return index >= 0 ? chunk[index] : index === -1 ? this.#last : this.#secondLast
  }
}

const isLineEnd = (byte: number | undefined): boolean => byte === LINE_FEED || byte === CARRIAGE_RETURN

/** Returns the index after the line that begins at `start`, if it ends in the chunk; or 0. */
const endOfLine = (chunk: Uint8Array, start: number): number => {
  for (let index = start; index < chunk.byteLength; index++) if (isLineEnd(chunk[index])) return index + 1
  return 0
}

const lineEnd = /\r\n?|\n/g

/** An event with data, and where it is in its text. */
type SseEvent = { start: number; end: number; data: string }

/** Returns the events that have data. The last one may lack its blank line. */
export const parseEvents = (text: string): SseEvent[] => {
  const events: SseEvent[] = []
  let start = afterByteOrderMark(text, 0)
  let data: string | undefined
  for (let line = start; line < text.length; ) {
    lineEnd.lastIndex = line
    const end = lineEnd.exec(text)?.index ?? text.length
    let next = end === text.length ? end : lineEnd.lastIndex
    if (end > line) {
      const value = text.startsWith('data', line) ? dataOf(text.slice(line, end)) : undefined
      if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
    } else {
      if (data !== undefined) {
        events.push({ start, end: next, data })
        data = undefined
        next = afterByteOrderMark(text, next)
      }
      start = next
    }
    line = next
  }
  if (data !== undefined) events.push({ start, end: text.length, data })
  return events
}

/** A stream may begin with a byte order mark. */
const afterByteOrderMark = (text: string, at: number): number => (text.charCodeAt(at) === 0xfeff ? at + 1 : at)

/** Returns the value of a line that has the field `data`. */
const dataOf = (line: string): string | undefined => {
  if (line === 'data') return ''
  if (!line.startsWith('data:')) return undefined
  return line.slice(line[5] === ' ' ? 6 : 5)
}

/** Replaces the data of an event, and its type if there is another one, and keeps its other lines. */
export const replaceEvent = (event: string, { text, eventType }: Extract<CheckedAnswer, { text: string }>): string => {
  const written = eventType === 'error' ? `event: error\ndata: ${text}` : `data: ${text}`
  let isReplaced = false
  return event.replace(/([^\r\n]+)(\r\n?|\n|$)/g, (line, content: string) => {
    if (eventType !== undefined && /^event(?::|$)/.test(content)) return ''
    if (dataOf(content) === undefined) return line
    if (isReplaced) return ''
    isReplaced = true
    return line.replace(content, () => written)
  })
}
