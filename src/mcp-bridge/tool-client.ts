import type { Progress } from '@modelcontextprotocol/client'
import { createUpstreamFetch, type SourceFetch } from '../http/source-fetch.ts'
import type { JsonObject } from '../json/json.ts'
import type { McpError } from '../mcp/errors.ts'
import { openSession, type Session } from '../mcp/session.ts'
import { type BridgeCall, longestTool } from './bridge-call.ts'
import { type CutShort, callHeader, ResponseMonitor } from './call-watch.ts'
import type { Permit, ResponseSemaphore } from './large-answers.ts'
import { answered, misconfigured, type Outcome, outcomeOf } from './results.ts'

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

  async #hold(upstream: BridgeCall['upstream'], fetch: SourceFetch): Promise<SharedSession | McpError> {
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

  async #openTo(url: string, address: string, fetch: SourceFetch): Promise<SharedSession | McpError> {
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
