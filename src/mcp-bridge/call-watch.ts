import type { SourceFetch } from '../http/source-fetch.ts'
import { largeBytes, type Permit, type ResponseSemaphore } from './large-answers.ts'
import { type Seen, watchedBody } from './watched-body.ts'

/** The header by which a call's request is known again: it goes no further than here. */
export const callHeader = 'X-Calling-Card-Call'

/** Why the answer to a call will not come, though nobody says so. */
export type CutShort = { failed: 'broken-off' } | { failed: 'too-large'; most: number } | { failed: 'crowded' }

/** The most bytes that a server may answer to one call. */
export const mostBytes = 3 * 1024 * 1024

/** A call under way: what is done where its answer will not come, and its turn if that is large. */
type Watched = { cutShort: (why: CutShort) => void; hold: Permit }

/** Whose the streams are that are taken up again: which call each is of, the server alone knows. */
const resumedStreams = { known: true, name: '' }

/** How long after the end of a stream its answer is waited for, in ms: where it can be taken up again, until that has failed. */
const patience = { over: 500, resumable: 10_000 }

/**
 * Watches over the answers to calls. The client library waits for an answer until the time is up, though the server has died
 * over it: here the end of its stream is seen.
 */
export class ResponseMonitor {
  readonly #large: ResponseSemaphore
  readonly #calls = new Map<string, Watched>()
  readonly #ended = new Set<string>()
  #resumed = 0

  constructor(large: ResponseSemaphore) {
    this.#large = large
  }

  /** Tells of a call under way what becomes of it. Returns how to forget it. */
  watch(call: string, watched: Watched): () => void {
    this.#calls.set(call, watched)
    return () => {
      this.#calls.delete(call)
      this.#ended.delete(call)
    }
  }

  /** A fetch through which the requests of a session go. */
  watched(fetch: SourceFetch): SourceFetch {
    return async (url, init = {}) => {
      const headers = new Headers(init.headers)
      const call = headers.get(callHeader)
      headers.delete(callHeader)
      const resumes = init.method === 'GET' && headers.has('Last-Event-ID')
      const response = await fetch(url, { ...init, headers })
      if (response.body === null || !response.ok || (call === null && !resumes)) return response
      const seen = call === null ? this.#ofResumed() : this.#ofCall(call)
      return new Response(watchedBody(response.body, seen), response)
    }
  }

  #ofCall(call: string): Seen {
    const read = this.#reading(this.#calls.get(call))
    let tail = ''
    let resumable = false
    const decoder = new TextDecoder()
    return {
      chunk: async chunk => {
        await read(chunk)
        const text = tail + decoder.decode(chunk, { stream: true })
        resumable ||= /(?:^|[\r\n])id:/.test(text)
        tail = text.slice(-3)
      },
      end: () => this.#end(call, resumable),
    }
  }

  /** Which call it goes on with, the server alone knows: while there is one, nobody is given up. */
  #ofResumed(): Seen {
    this.#resumed++
    const hold = this.#large.hold(resumedStreams)
    const leave = hold.use()
    return {
      chunk: this.#reading({ hold, cutShort: () => undefined }),
      end: () => {
        leave()
        this.#resumed--
        for (const call of this.#ended) this.#end(call, true)
      },
    }
  }

  /** Reads no more than one answer may be, and of a large one nothing until it is its turn. */
  #reading(watched: Watched | undefined): (chunk: Uint8Array) => Promise<void> {
    let bytes = 0
    const stop = (why: CutShort): never => {
      watched?.cutShort(why)
      throw new RangeError(why.failed)
    }
    return async ({ byteLength }) => {
      bytes += byteLength
      if (bytes > mostBytes) stop({ failed: 'too-large', most: mostBytes })
      if (bytes > largeBytes && watched && !(await watched.hold.take())) stop({ failed: 'crowded' })
    }
  }

  #end(call: string, resumable: boolean): void {
    if (!this.#calls.has(call)) return
    this.#ended.add(call)
    const giveUp = () => this.#resumed === 0 && this.#calls.get(call)?.cutShort({ failed: 'broken-off' })
    setTimeout(giveUp, resumable ? patience.resumable : patience.over)
  }
}
