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
