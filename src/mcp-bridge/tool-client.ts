import type { Progress } from '@modelcontextprotocol/client'
import { createUpstreamFetch, type UpstreamFetch } from '../http/bindings.ts'
import type { JsonObject } from '../json/json.ts'
import type { McpError } from '../mcp/errors.ts'
import { openSession, type Session } from '../mcp/session.ts'
import { type BridgeCall, longestTool } from './bridge-call.ts'
import { largeBytes, type Permit, type ResponseSemaphore } from './quotas.ts'
import { answered, misconfigured, type Outcome, outcomeOf } from './results.ts'

/** What is done with a body as it comes; `end` once, however it ends. `chunk` may throw: then nothing more of it is read. */
type Seen = { chunk: (chunk: Uint8Array) => Promise<void> | void; end: () => void }

/** A body that is seen as it is read; no more of it is read than somebody wants. */
export const watchedBody = (body: ReadableStream<Uint8Array>, seen: Seen): ReadableStream<Uint8Array> => {
  const reader = body.getReader()
  const { chunk } = seen
  let ended = false
  // A body that is cancelled while a read is pending ends by both.
  const end = (): void => {
    if (!ended) seen.end()
    ended = true
  }
  return new ReadableStream({
    pull: async controller => {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          await chunk(value)
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
  watched(fetch: UpstreamFetch): UpstreamFetch {
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

/** How a tool is called. */
export type ToolTerms = {
  signal: AbortSignal
  /** How long a tool may be silent. */
  seconds: number
  onProgress: (progress: Progress) => void
  /** The turn of its answer, if that is large. */
  hold: Permit
}

/** A session under use: it is closed when it was left and its last call is over. */
type SharedSession = { address: string; session: Session; watch: ResponseMonitor; calls: number; left: boolean }

/** An MCP server, called through one session that is opened when it is needed and kept. */
export class ToolClient {
  readonly #env: Env
  readonly #large: ResponseSemaphore
  readonly #onToolsChanged: () => void
  #held: SharedSession | undefined
  #opening: { address: string; held: Promise<SharedSession | McpError> } | undefined
  #calls = 0
  /** When the last call ended, in ms. */
  used = 0

  constructor(env: Env, large: ResponseSemaphore, onToolsChanged: () => void) {
    this.#env = env
    this.#large = large
    this.#onToolsChanged = onToolsChanged
  }

  /** Whether a session is open. */
  get open(): boolean {
    return this.#held !== undefined
  }

  /** Calls a tool; once more where the server has forgotten the session, which says that the tool did not run. */
  async call(upstream: BridgeCall['upstream'], name: string, given: JsonObject, terms: ToolTerms): Promise<Outcome> {
    const fetch = createUpstreamFetch(upstream, this.#env)
    if ('misconfigured' in fetch) return misconfigured(fetch.misconfigured)
    for (let again = true; ; again = false) {
      const held = await this.#hold(upstream, fetch)
      if ('code' in held) return outcomeOf(held, terms.seconds)
      const came = await this.#callOnce(held, name, given, terms)
      if (!('code' in came)) return came
      if (came.code === 'lost' && again) continue
      return outcomeOf(came, terms.seconds)
    }
  }

  /** Ends the session, once the calls under way are over. */
  leave(): void {
    const held = this.#held
    this.#held = undefined
    if (held) leave(held)
  }

  async #hold(upstream: BridgeCall['upstream'], fetch: UpstreamFetch): Promise<SharedSession | McpError> {
    const address = JSON.stringify(upstream)
    if (this.#held && (this.#held.address !== address || this.#held.session.isCut())) this.leave()
    if (this.#held) return this.#held
    if (this.#opening?.address === address) return this.#opening.held
    const held = this.#openTo(upstream.url, address, fetch)
    this.#opening = { address, held }
    const came = await held
    if (this.#opening?.held === held) this.#opening = undefined
    return came
  }

  async #openTo(url: string, address: string, fetch: UpstreamFetch): Promise<SharedSession | McpError> {
    const watch = new ResponseMonitor(this.#large)
    const opened = await openSession(url, watch.watched(fetch), { onToolsChanged: this.#onToolsChanged })
    if ('failure' in opened) return opened.failure
    // One that was opened to another address meanwhile.
    this.leave()
    this.#held = { address, session: opened.session, watch, calls: 0, left: false }
    return this.#held
  }

  async #callOnce(held: SharedSession, name: string, given: JsonObject, terms: ToolTerms): Promise<Outcome | McpError> {
    const { session, watch } = held
    const call = `${++this.#calls}`
    const cut = new AbortController()
    let why: CutShort | undefined
    const cutShort = (reason: CutShort) => {
      why = reason
      cut.abort()
    }
    const forget = watch.watch(call, { cutShort, hold: terms.hold })
    held.calls++
    try {
      const result = await session.client.callTool(
        { name, arguments: given },
        {
          headers: { [callHeader]: call },
          signal: AbortSignal.any([terms.signal, cut.signal]),
          onprogress: terms.onProgress,
          timeout: terms.seconds * 1000,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: longestTool * 1000,
        },
      )
      return answered(result)
    } catch (error) {
      if (why) return why.failed === 'crowded' ? { crowded: true } : { failure: why }
      const failure = session.failure(error)
      if (failure.code !== 'refused' && failure.code !== 'timeout') this.#drop(held)
      return failure
    } finally {
      forget()
      held.calls--
      this.used = Date.now()
      if (held.left) leave(held)
    }
  }

  /** Of a session that does not do any more, the next call opens another. */
  #drop(held: SharedSession): void {
    if (this.#held === held) this.#held = undefined
    held.left = true
  }
}

const leave = (held: SharedSession): void => {
  held.left = true
  if (held.calls === 0) void held.session.close()
}
