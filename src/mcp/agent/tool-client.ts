import type { Progress } from '@modelcontextprotocol/client'
import { config } from '../../config.ts'
import { createUpstreamFetch, type UpstreamFetch } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import {
  MAX_LINKED_RESOURCES,
  MAX_MCP_SESSIONS,
  MAX_RESOURCE_URI_LENGTH,
  MAX_TOOL_RESULT_BYTES,
  MAX_TOOL_SECONDS,
  MCP_SESSION_IDLE_SECONDS,
} from '../../limits.ts'
import { type McpError, type OnElicitation, openSession, type Session } from '../client/index.ts'
import type { CallerIdentity } from './quotas.ts'
import type { BridgeCall } from './tool-call.ts'
import { misconfigured, type ToolOutcome, type ToolResult, toFailedOutcome, toOutcome } from './tool-outcome.ts'

type ReadOptions = {
  caller: CallerIdentity
  /** The id of the A2A context. */
  context: string
  signal: AbortSignal
  /** The time that the tool may take without reporting progress. */
  timeoutSeconds: number
}

/** The circumstances of a call. */
export type CallOptions = ReadOptions & {
  onProgress: (progress: Progress) => void
  onElicitation: OnElicitation
}

type Upstream = BridgeCall['upstream']
type Resource = NonNullable<BridgeCall['resource']>

/** Calls the tools of an MCP server, and reads its resources, in sessions that open with the first call. */
export class ToolClient {
  readonly pool: SessionPool
  readonly #env: Env

  constructor(env: Env, onToolsChanged: () => void) {
    this.#env = env
    this.pool = new SessionPool(onToolsChanged)
  }

  async call(upstream: Upstream, name: string, args: JsonObject, options: CallOptions): Promise<ToolOutcome> {
    const limits = { timeoutMs: options.timeoutSeconds * 1000, maxTimeoutMs: MAX_TOOL_SECONDS * 1000 }
    const owner = ownerOf(options)
    return this.#inSession(upstream, options, async pooled => {
      const called = await pooled.session.callTool(name, args, { ...options, ...limits })
      const content = ('result' in called && called.result.content) || []
      for (const block of content) if (block.type === 'resource_link') addLinked(pooled, owner, block.uri)
      return called
    })
  }

  /** Reads a resource that the card lists or that a result has linked for the owner of the session. */
  async read(upstream: Upstream, { uri, isListed }: Resource, options: ReadOptions): Promise<ToolOutcome> {
    const { signal, timeoutSeconds } = options
    return this.#inSession(upstream, options, async pooled => {
      if (!isListed && !pooled.linked.has(keyOf(ownerOf(options), uri))) return { failure: unknownResource }
      const read = await pooled.session.readResource(uri, { signal, timeoutMs: timeoutSeconds * 1000 })
      if ('failure' in read) return read
      return { result: { content: read.contents.map(resource => ({ type: 'resource' as const, resource })) } }
    })
  }

  /** Does some work in the owner's session, and again if the server has lost the session: then it has done nothing. */
  async #inSession(
    upstream: Upstream,
    options: ReadOptions,
    work: (pooled: PooledSession) => Promise<{ result: ToolResult } | { failure: McpError }>,
  ): Promise<ToolOutcome> {
    const fetch = createUpstreamFetch(upstream, this.#env, config(this.#env))
    if ('misconfigured' in fetch) return misconfigured(fetch.misconfigured)
    for (let isRetry = false; ; isRetry = true) {
      const pooled = await this.pool.acquire(upstream, ownerOf(options), fetch)
      if ('code' in pooled) return toFailedOutcome(pooled, options.timeoutSeconds)
      try {
        const done = await work(pooled)
        if ('result' in done) return toOutcome(done.result)
        const { failure } = done
        if (endsSession.has(failure.code)) this.pool.retire(pooled)
        if (failure.code !== 'session-lost' || isRetry) return toFailedOutcome(failure, options.timeoutSeconds)
      } finally {
        this.pool.release(pooled)
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

/**
 * The caller whose state a server keeps in a session: an authenticated one, or one context of an address. People who
 * share an address do not know the ids of each other's contexts.
 */
type SessionOwner = CallerIdentity & { context?: string }

/** An open session with an MCP server. One that is retired closes with its last call. */
type PooledSession = {
  readonly session: Session
  /** The server and how it is reached, as JSON. */
  readonly upstream: string
  /** Absent where all callers share the session. */
  readonly owner: SessionOwner | undefined
  /** The resources that results of tools have linked, for each owner: several may share the session. */
  readonly linked: Set<string>
  calls: number
  isRetired: boolean
  lastUsed: number
}

/** Records that a result has linked a resource, unless its URI is so long that a few of them would fill the memory. */
const addLinked = ({ linked }: PooledSession, owner: SessionOwner, uri: string): void => {
  if (uri.length > MAX_RESOURCE_URI_LENGTH) return
  linked.add(keyOf(owner, uri))
  const [oldest] = linked
  if (linked.size > MAX_LINKED_RESOURCES && oldest !== undefined) linked.delete(oldest)
}

const SHARED = ''

const keyOf = (owner: SessionOwner | undefined, uri = ''): string =>
  owner ? JSON.stringify([owner.authenticated, owner.name, owner.context ?? '', uri]) : SHARED

/**
 * The sessions of one agent with its MCP server: one for each owner, or one for all if the manifest says so, or if the
 * server keeps nothing between two requests.
 */
class SessionPool {
  readonly #sessions = new Map<string, PooledSession>()
  readonly #openings = new Map<string, Promise<PooledSession | McpError>>()
  readonly #onToolsChanged: () => void

  constructor(onToolsChanged: () => void) {
    this.#onToolsChanged = onToolsChanged
  }

  /** Returns the session of an owner, and opens one if there is none. It stays open at least until it is released. */
  async acquire(upstream: Upstream, owner: SessionOwner, fetch: UpstreamFetch): Promise<PooledSession | McpError> {
    const target = JSON.stringify(upstream)
    for (const pooled of this.#sessions.values())
      if (pooled.upstream !== target || pooled.session.isClosed()) this.retire(pooled)
    const opener = upstream.session === 'shared' ? undefined : owner
    const key = keyOf(opener)
    const opening = this.#openings.get(`${target} ${key}`)
    const pooled = this.#sessions.get(SHARED) ?? this.#sessions.get(key) ?? (opening && (await opening))
    if (pooled === undefined) return this.#open(upstream, opener, fetch)
    if ('session' in pooled) pooled.calls++
    return pooled
  }

  release(pooled: PooledSession): void {
    pooled.calls--
    pooled.lastUsed = Date.now()
    if (pooled.isRetired) this.retire(pooled)
    this.#evict()
  }

  /** Stops using a session for new calls. It closes with its last call. */
  retire(pooled: PooledSession): void {
    for (const [key, each] of this.#sessions) if (each === pooled) this.#sessions.delete(key)
    pooled.isRetired = true
    if (pooled.calls === 0) void pooled.session.close()
  }

  /** Closes the sessions that nobody has used for a while. Returns when the next one is due, in ms since the epoch. */
  closeIdle(now: number): number | undefined {
    const idleMs = MCP_SESSION_IDLE_SECONDS * 1000
    for (const pooled of this.#idle()) if (pooled.lastUsed + idleMs <= now) this.retire(pooled)
    const [next] = this.#idle()
    return next && next.lastUsed + idleMs
  }

  /** Opens a session for a call. Others of the same caller wait for it. */
  #open(upstream: Upstream, owner: SessionOwner | undefined, fetch: UpstreamFetch): Promise<PooledSession | McpError> {
    const target = JSON.stringify(upstream)
    const key = `${target} ${keyOf(owner)}`
    const opening = openSession(upstream.url, fetch, {
      maxResponseBytes: MAX_TOOL_RESULT_BYTES,
      onToolsChanged: this.#onToolsChanged,
      // Callers who share an address may have chosen the same context.
      ...(owner && { elicitations: owner.authenticated ? 'any' : 'only-call' }),
    })
      .then(opened => ('failure' in opened ? opened.failure : this.#add(opened.session, target, owner)))
      .finally(() => this.#openings.delete(key))
    this.#openings.set(key, opening)
    return opening
  }

  /** Adds a session with the call that has opened it, so that nothing closes it before those that wait get it. */
  #add(session: Session, upstream: string, caller: SessionOwner | undefined): PooledSession {
    const owner = session.isStateless ? undefined : caller
    const key = keyOf(owner)
    const other = this.#sessions.get(key)
    // Another caller of a server without sessions was faster.
    if (other?.upstream === upstream && !other.session.isClosed()) {
      void session.close()
      other.calls++
      return other
    }
    if (other) this.retire(other)
    const linked = new Set<string>()
    const pooled = { session, upstream, owner, linked, calls: 1, isRetired: false, lastUsed: Date.now() }
    this.#sessions.set(key, pooled)
    this.#evict()
    return pooled
  }

  /** Closes sessions while there are too many: of the address that has most, else the one that was unused longest. */
  #evict(): void {
    while (this.#sessions.size > MAX_MCP_SESSIONS) {
      const sizes = new Map<string, number>()
      for (const { owner } of this.#sessions.values())
        if (owner?.authenticated === false) sizes.set(owner.name, (sizes.get(owner.name) ?? 0) + 1)
      const sizeOf = ({ owner }: PooledSession): number => (owner && !owner.authenticated && sizes.get(owner.name)) || 0
      const [evicted] = this.#idle().sort((one, other) => sizeOf(other) - sizeOf(one))
      if (!evicted) return
      this.retire(evicted)
    }
  }

  /** Returns the sessions that no call uses, the one first that was unused longest. */
  #idle(): PooledSession[] {
    return [...this.#sessions.values()]
      .filter(({ calls }) => calls === 0)
      .sort((one, other) => one.lastUsed - other.lastUsed)
  }
}
