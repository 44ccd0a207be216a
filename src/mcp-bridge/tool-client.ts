import type { Progress } from '@modelcontextprotocol/client'
import { createUpstreamFetch, type UpstreamFetch } from '../http/bindings.ts'
import type { JsonObject } from '../json/json.ts'
import { MAX_TOOL_RESULT_BYTES, MAX_TOOL_SECONDS } from '../limits.ts'
import type { McpError } from '../mcp/errors.ts'
import { openSession, type Session } from '../mcp/session.ts'
import type { BridgeCall } from './bridge-call.ts'
import { misconfigured, type ToolOutcome, toFailedOutcome, toOutcome } from './results.ts'

/** How to call a tool. */
export type CallOptions = {
  signal: AbortSignal
  /** How long the tool may take without reporting progress. */
  timeoutSeconds: number
  onProgress: (progress: Progress) => void
}

/** A session that concurrent calls share. One that is retired closes with its last call. */
type SharedSession = { upstream: string; session: Session; calls: number; isRetired: boolean }

/** Calls the tools of an MCP server through one session, which opens with the first call and stays open. */
export class ToolClient {
  readonly #env: Env
  readonly #onToolsChanged: () => void
  #shared: SharedSession | undefined
  #opening: { upstream: string; shared: Promise<SharedSession | McpError> } | undefined
  #lastUsed = 0

  constructor(env: Env, onToolsChanged: () => void) {
    this.#env = env
    this.#onToolsChanged = onToolsChanged
  }

  /** When the last call ended, while a session is open. */
  get idleSince(): number | undefined {
    return this.#shared && this.#lastUsed
  }

  /** Calls a tool, and again if the server has lost the session: then it has not run the tool. */
  async call(
    upstream: BridgeCall['upstream'],
    name: string,
    args: JsonObject,
    options: CallOptions,
  ): Promise<ToolOutcome> {
    const fetch = createUpstreamFetch(upstream, this.#env)
    if ('misconfigured' in fetch) return misconfigured(fetch.misconfigured)
    for (let isRetry = false; ; isRetry = true) {
      const shared = await this.#open(upstream, fetch)
      if ('code' in shared) return toFailedOutcome(shared, options.timeoutSeconds)
      const called = await this.#callOnce(shared, name, args, options)
      if ('result' in called) return toOutcome(called.result)
      if (called.failure.code !== 'session-lost' || isRetry)
        return toFailedOutcome(called.failure, options.timeoutSeconds)
    }
  }

  /** Ends the session as soon as no call uses it. */
  close(): void {
    if (this.#shared) this.#retire(this.#shared)
  }

  async #open(upstream: BridgeCall['upstream'], fetch: UpstreamFetch): Promise<SharedSession | McpError> {
    const key = JSON.stringify(upstream)
    if (this.#shared && (this.#shared.upstream !== key || this.#shared.session.isClosed())) this.close()
    if (this.#shared) return this.#shared
    if (this.#opening?.upstream === key) return this.#opening.shared
    const shared = this.#openSession(upstream.url, key, fetch)
    this.#opening = { upstream: key, shared }
    try {
      return await shared
    } finally {
      if (this.#opening?.shared === shared) this.#opening = undefined
    }
  }

  async #openSession(url: string, upstream: string, fetch: UpstreamFetch): Promise<SharedSession | McpError> {
    const options = { maxResponseBytes: MAX_TOOL_RESULT_BYTES, onToolsChanged: this.#onToolsChanged }
    const opened = await openSession(url, fetch, options)
    if ('failure' in opened) return opened.failure
    // A session to another URL may have opened meanwhile.
    this.close()
    this.#shared = { upstream, session: opened.session, calls: 0, isRetired: false }
    return this.#shared
  }

  async #callOnce(shared: SharedSession, name: string, args: JsonObject, options: CallOptions) {
    const { signal, timeoutSeconds, onProgress } = options
    shared.calls++
    try {
      const called = await shared.session.callTool(name, args, {
        signal,
        onProgress,
        timeoutMs: timeoutSeconds * 1000,
        maxTimeoutMs: MAX_TOOL_SECONDS * 1000,
      })
      if ('failure' in called && endsSession.has(called.failure.code)) this.#retire(shared)
      return called
    } finally {
      shared.calls--
      this.#lastUsed = Date.now()
      if (shared.isRetired) this.#retire(shared)
    }
  }

  /** Stops using a session for new calls. It closes with its last call. */
  #retire(shared: SharedSession): void {
    if (this.#shared === shared) this.#shared = undefined
    shared.isRetired = true
    if (shared.calls === 0) void shared.session.close()
  }
}

/** Errors after which the session as a whole is of no use; the others concern one call. */
const endsSession: ReadonlySet<McpError['code']> = new Set(['unreachable', 'not-ready', 'session-lost'])
