import type { Progress } from '@modelcontextprotocol/client'
import { config } from '../../config.ts'
import { createUpstreamFetch } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_TOOL_SECONDS } from '../../limits.ts'
import type { McpError, OnElicitation } from '../client/index.ts'
import type { CallerIdentity } from './quotas.ts'
import { addLinked, isLinked, type PooledSession, type SessionOwner, SessionPool } from './session-pool.ts'
import type { BridgeCall } from './tool-call.ts'
import { misconfigured, type ToolOutcome, type ToolResult, toFailedOutcome, toOutcome } from './tool-outcome.ts'

/** The circumstances of a call. */
export type CallOptions = {
  caller: CallerIdentity
  /** The id of the A2A context. */
  context: string
  signal: AbortSignal
  /** The time that the tool may take without reporting progress. */
  timeoutSeconds: number
  onProgress: (progress: Progress) => void
  onElicitation: OnElicitation
}

/** Calls the tools of an MCP server, and reads its resources, in sessions that open with the first call. */
export class ToolClient {
  readonly #env: Env
  readonly #pool: SessionPool

  constructor(env: Env, onToolsChanged: () => void) {
    this.#env = env
    this.#pool = new SessionPool(onToolsChanged)
  }

  /** Calls a tool. */
  async call(
    upstream: BridgeCall['upstream'],
    name: string,
    args: JsonObject,
    options: CallOptions,
  ): Promise<ToolOutcome> {
    const { signal, timeoutSeconds, onProgress, onElicitation } = options
    const [timeoutMs, maxTimeoutMs] = [timeoutSeconds * 1000, MAX_TOOL_SECONDS * 1000]
    const owner = ownerOf(options)
    return this.#inSession(upstream, options, async pooled => {
      const limits = { signal, timeoutMs, maxTimeoutMs, onProgress, onElicitation }
      const called = await pooled.session.callTool(name, args, limits)
      const content = ('result' in called && called.result.content) || []
      for (const block of content) if (block.type === 'resource_link') addLinked(pooled, owner, block.uri)
      return called
    })
  }

  /** Reads a resource that the card lists or that a result has linked for the owner of the session. */
  async read(
    upstream: BridgeCall['upstream'],
    { uri, isListed }: NonNullable<BridgeCall['resource']>,
    options: Omit<CallOptions, 'onProgress' | 'onElicitation'>,
  ): Promise<ToolOutcome> {
    const { signal, timeoutSeconds } = options
    return this.#inSession(upstream, options, async pooled => {
      if (!isListed && !isLinked(pooled, ownerOf(options), uri)) return { failure: unknownResource }
      const read = await pooled.session.readResource(uri, { signal, timeoutMs: timeoutSeconds * 1000 })
      if ('failure' in read) return read
      return { result: { content: read.contents.map(resource => ({ type: 'resource' as const, resource })) } }
    })
  }

  /** Closes the sessions that nobody has used for a while. Returns when the next one is due, in ms since the epoch. */
  closeIdle(now: number): number | undefined {
    return this.#pool.closeIdle(now)
  }

  /** Does some work in the owner's session, and again if the server has lost the session: then it has done nothing. */
  async #inSession(
    upstream: BridgeCall['upstream'],
    options: Pick<CallOptions, 'caller' | 'context' | 'timeoutSeconds'>,
    work: (pooled: PooledSession) => Promise<{ result: ToolResult } | { failure: McpError }>,
  ): Promise<ToolOutcome> {
    const { timeoutSeconds } = options
    const fetch = createUpstreamFetch(upstream, this.#env, config(this.#env))
    if ('misconfigured' in fetch) return misconfigured(fetch.misconfigured)
    for (let isRetry = false; ; isRetry = true) {
      const pooled = await this.#pool.acquire(upstream, ownerOf(options), fetch)
      if ('code' in pooled) return toFailedOutcome(pooled, timeoutSeconds)
      try {
        const done = await work(pooled)
        if ('result' in done) return toOutcome(done.result)
        const { failure } = done
        if (endsSession.has(failure.code)) this.#pool.retire(pooled)
        if (failure.code !== 'session-lost' || isRetry) return toFailedOutcome(failure, timeoutSeconds)
      } finally {
        this.#pool.release(pooled)
      }
    }
  }
}

/** Errors after which the session as a whole is of no use; the others concern one call. */
const endsSession: ReadonlySet<McpError['code']> = new Set(['unreachable', 'not-ready', 'session-lost'])

const unknownResource: McpError = {
  code: 'refused',
  message: 'The card does not list this resource, and no result of your recent calls has linked it.',
}

const ownerOf = ({ caller, context }: Pick<CallOptions, 'caller' | 'context'>): SessionOwner =>
  caller.authenticated ? caller : { ...caller, context }
