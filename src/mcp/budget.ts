import type { UpstreamFetch } from '../http/bindings.ts'
import { type McpError, notReady } from './errors.ts'

/** What a server may cost this host in a minute of a session. */
export type Budget = {
  /** Requests that it brings about: answers to its own, and event streams that are asked for again as they end. */
  unasked: number
  /** Of all its responses together. */
  bytes: number
  /** What each request of this host's own adds: who asks much, is told much. */
  perRequest: { unasked: number; bytes: number }
}

const minute = 60_000

const overdrawn = {
  unasked: notReady(
    'has this host make more requests than a session may: it asks for answers, or ends its event streams, over and over',
  ),
  bytes: notReady('sends more in a minute than a session may'),
}

/** Counts what a session costs. Once that is more than its budget, `cut` is told why. */
export class RateBudget {
  readonly #budget: Budget
  readonly #cut: (why: McpError) => void
  #left = { unasked: 0, bytes: 0 }
  #until = 0

  constructor(budget: Budget, cut: (why: McpError) => void) {
    this.#budget = budget
    this.#cut = cut
  }

  /** Counts a request of this host's own. */
  asked(): void {
    this.#begin()
    const { unasked, bytes } = this.#budget.perRequest
    this.#left.unasked += unasked
    this.#left.bytes += bytes
  }

  /** Counts a request that the server brings about. Whether it may be made. */
  mayAsk(): boolean {
    return this.#take('unasked', 1)
  }

  /** Counts what has come. Whether it may be read. */
  mayRead(bytes: number): boolean {
    return this.#take('bytes', bytes)
  }

  #take(what: 'unasked' | 'bytes', many: number): boolean {
    this.#begin()
    this.#left[what] -= many
    if (this.#left[what] >= 0) return true
    this.#cut(overdrawn[what])
    return false
  }

  /** Begins another minute, where one is over. */
  #begin(): void {
    const now = Date.now()
    if (now < this.#until) return
    const { unasked, bytes } = this.#budget
    this.#left = { unasked, bytes }
    this.#until = now + minute
  }
}

/** What the responses of a session may cost, and whether it listens for what the server says unasked. */
type FetchBounds = {
  /** The most bytes of one response, of an event stream too. */
  responseBytes: number
  listens: boolean
  meter: Pick<RateBudget, 'mayAsk' | 'mayRead'>
  /** Called once a response is larger; the rest of it is not read. */
  onTooLarge: () => void
}

/** The requests of a session, their responses bounded. Redirects come back as they are. */
export const boundedFetch =
  (fetch: UpstreamFetch, { responseBytes, listens, meter, onTooLarge }: FetchBounds) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The client opens a stream for notifications by itself, and again: who does not listen says for the server that it has none.
    if (init.method === 'GET' && !(listens && meter.mayAsk())) return new Response(null, { status: 405 })
    const response = await fetch(`${url}`, init)
    if (response.body === null) return response
    let size = 0
    const mayRead = ({ byteLength }: Uint8Array): boolean => {
      size += byteLength
      if (size > responseBytes) onTooLarge()
      return size <= responseBytes && meter.mayRead(byteLength)
    }
    return new Response(response.body.pipeThrough(readWhile(mayRead)), response)
  }

const readWhile = (mayRead: (chunk: Uint8Array) => boolean): TransformStream<Uint8Array, Uint8Array> =>
  new TransformStream({
    transform: (chunk, controller) => {
      if (mayRead(chunk)) controller.enqueue(chunk)
      else controller.error(new RangeError('more than may be read'))
    },
  })
