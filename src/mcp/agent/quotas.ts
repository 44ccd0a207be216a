import { MAX_UNREAD_BYTES } from '../../limits.ts'

/** A caller whose calls count together: an authenticated subject, or a network address as a hash. */
export type CallerIdentity = { authenticated: boolean; name: string }

/** The quota that is used up: that of the agent, that of all anonymous callers, or the caller's own. */
export type QuotaExceeded = 'agent' | 'anonymous' | 'caller'

/** Limits the units of something that one agent uses at once: per caller, and for all anonymous callers together. */
export class Quota {
  readonly #capacity: number
  readonly #used = new Map<string, number>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Takes one unit, or returns the quota that does not allow it. */
  acquire(identity: CallerIdentity): QuotaExceeded | undefined {
    const exceeded = sharesOf(identity).find(({ key, share }) => (this.#used.get(key) ?? 0) >= this.#capacity * share)
    if (!exceeded) this.#add(identity, 1)
    return exceeded?.quota
  }

  release(identity: CallerIdentity): void {
    this.#add(identity, -1)
  }

  #add(identity: CallerIdentity, amount: 1 | -1): void {
    for (const { key } of sharesOf(identity)) {
      const used = (this.#used.get(key) ?? 0) + amount
      if (used > 0) this.#used.set(key, used)
      else this.#used.delete(key)
    }
  }
}

/** Lists the quotas that a call of a caller counts for, each with its share of the capacity. */
const sharesOf = ({ authenticated, name }: CallerIdentity) => [
  { quota: 'caller' as const, key: `caller ${authenticated} ${name}`, share: authenticated ? 3 / 4 : 1 / 4 },
  ...(authenticated ? [] : [{ quota: 'anonymous' as const, key: 'anonymous', share: 1 / 2 }]),
  { quota: 'agent' as const, key: 'agent', share: 1 },
]

/** The time for which a client may leave pending events unread. */
const READER_TIMEOUT_MS = 30_000

/** A stream of events that limits how many bytes are unread. */
export class BoundedEventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #onClosed: () => void
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isEnding = false
  #unread = 0
  #timer: ReturnType<typeof setTimeout> | null = null

  /** Calls `onClosed` once: after the last event was read, or when the client has left. */
  constructor(onClosed: () => void) {
    this.#onClosed = onClosed
    this.body = new ReadableStream(
      {
        start: controller => {
          this.#controller = controller
        },
        pull: () => this.#observe(),
        cancel: () => this.#close(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
    )
  }

  /** True while a client may still read what is written. */
  get isOpen(): boolean {
    return this.#controller !== undefined && !this.#isEnding
  }

  /** Adds an event. Returns false where too much is unread. Without a reader, every event is accepted and dropped. */
  write(event: Uint8Array): boolean {
    if (this.#controller === undefined || this.#isEnding) return true
    if ((this.#controller.desiredSize ?? 0) < 0) return false
    this.#controller.enqueue(event)
    this.#observe()
    return true
  }

  /** Ends the stream after the pending events, and after a last one, which is always accepted. */
  end(last?: Uint8Array): void {
    if (this.#isEnding) return
    this.#isEnding = true
    if (last) this.#controller?.enqueue(last)
    this.#observe()
  }

  /** Measures how much is unread. Closes the stream once all is read, or if the client reads nothing for too long. */
  #observe(): void {
    const unread = MAX_UNREAD_BYTES - (this.#controller?.desiredSize ?? 0)
    if (unread < this.#unread) this.#stopTimer()
    this.#unread = unread
    if (unread > 0)
      this.#timer ??= setTimeout(() => {
        this.#controller?.error(new Error('The client did not read the events.'))
        this.#close()
      }, READER_TIMEOUT_MS)
    else if (this.#isEnding) {
      this.#controller?.close()
      this.#close()
    }
  }

  #stopTimer(): void {
    clearTimeout(this.#timer)
    this.#timer = null
  }

  #close(): void {
    this.#stopTimer()
    if (this.#controller) this.#onClosed()
    this.#controller = undefined
    this.#isEnding = true
  }
}
