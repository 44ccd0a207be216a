import type { SourceFetch } from '../http/source-fetch.ts'

/** The header by which a call's request is known again: it goes no further than here. */
export const callHeader = 'X-Calling-Card-Call'

/** Why the answer to a call will not come, though nobody says so. */
export type CutShort = { failed: 'broken-off' } | { failed: 'too-large'; most: number }

/** The most bytes that a server may answer to one call. */
export const mostBytes = 3 * 1024 * 1024

/** How long after the end of a stream its answer is waited for, in ms: where it can be taken up again, until that has failed. */
const patience = { over: 500, resumable: 10_000 }

/**
 * Watches over the answers to calls. The client library waits for an answer until the time is up, though the server has died
 * over it: here the end of its stream is seen.
 */
export class CallWatch {
  readonly #calls = new Map<string, (why: CutShort) => void>()
  readonly #ended = new Set<string>()
  #resumed = 0

  /** Tells of a call under way what becomes of it. Returns how to forget it. */
  watch(call: string, cutShort: (why: CutShort) => void): () => void {
    this.#calls.set(call, cutShort)
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
    let bytes = 0
    let tail = ''
    let resumable = false
    const decoder = new TextDecoder()
    return {
      chunk: chunk => {
        bytes += chunk.byteLength
        if (bytes > mostBytes) {
          this.#calls.get(call)?.({ failed: 'too-large', most: mostBytes })
          throw new RangeError(`more than ${mostBytes} bytes`)
        }
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
    return {
      chunk: () => undefined,
      end: () => {
        this.#resumed--
        for (const call of this.#ended) this.#end(call, true)
      },
    }
  }

  #end(call: string, resumable: boolean): void {
    if (!this.#calls.has(call)) return
    this.#ended.add(call)
    const giveUp = () => this.#resumed === 0 && this.#calls.get(call)?.({ failed: 'broken-off' })
    setTimeout(giveUp, resumable ? patience.resumable : patience.over)
  }
}

/** What is done with a body as it comes; `end` once, however it ends. `chunk` may throw: then nothing more of it is read. */
type Seen = { chunk: (chunk: Uint8Array) => void; end: () => void }

const watchedBody = (body: ReadableStream<Uint8Array>, { chunk, end }: Seen): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  return new ReadableStream({
    pull: async controller => {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          chunk(value)
          return controller.enqueue(value)
        }
        end()
        controller.close()
      } catch (error) {
        end()
        controller.error(error)
        reader.cancel(error).catch(() => undefined)
      }
    },
    cancel: reason => {
      end()
      return reader.cancel(reason)
    },
  })
}
