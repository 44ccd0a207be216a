import type { UpstreamFetch } from '../http/bindings.ts'
import {
  MAX_LINKED_RESOURCES,
  MAX_MCP_SESSIONS,
  MAX_RESOURCE_URI_LENGTH,
  MAX_TOOL_RESULT_BYTES,
  MCP_SESSION_IDLE_SECONDS,
} from '../limits.ts'
import type { McpError } from '../mcp/errors.ts'
import { openSession, type Session } from '../mcp/session.ts'
import type { BridgeCall } from './bridge-call.ts'
import type { CallerIdentity } from './quotas.ts'

/** An open session with an MCP server. One that is retired closes with its last call. */
export type PooledSession = {
  readonly session: Session
  /** The server and how it is reached, as JSON. */
  readonly upstream: string
  /** Absent where all callers share the session. */
  readonly caller: CallerIdentity | undefined
  readonly linked: LinkedResources
  calls: number
  isRetired: boolean
  lastUsed: number
}

/** The resources that results of tools have linked, for each caller. */
class LinkedResources {
  readonly #keys = new Set<string>()

  /** Adds a resource, unless its URI is so long that a few of them would fill the memory. */
  add(caller: CallerIdentity, uri: string): void {
    if (uri.length > MAX_RESOURCE_URI_LENGTH) return
    this.#keys.add(keyOf(caller, uri))
    const [oldest] = this.#keys
    if (this.#keys.size > MAX_LINKED_RESOURCES && oldest !== undefined) this.#keys.delete(oldest)
  }

  has(caller: CallerIdentity, uri: string): boolean {
    return this.#keys.has(keyOf(caller, uri))
  }
}

const keyOf = ({ authenticated, name }: CallerIdentity, detail = ''): string =>
  JSON.stringify([authenticated, name, detail])

/** The key of a session that all callers share. */
const SHARED = ''

/**
 * The sessions of one agent with its MCP server: one for each caller, or one for all where the owner wants that, or where the server
 * keeps nothing between two requests.
 */
export class SessionPool {
  readonly #sessions = new Map<string, PooledSession>()
  readonly #opening = new Map<string, Promise<PooledSession | McpError>>()
  readonly #onToolsChanged: () => void

  constructor(onToolsChanged: () => void) {
    this.#onToolsChanged = onToolsChanged
  }

  /** Returns the caller's session, which opens if there is none. It stays open at least until it is released. */
  async acquire(
    upstream: BridgeCall['upstream'],
    caller: CallerIdentity,
    fetch: UpstreamFetch,
  ): Promise<PooledSession | McpError> {
    const target = JSON.stringify(upstream)
    for (const pooled of this.#sessions.values())
      if (pooled.upstream !== target || pooled.session.isClosed()) this.retire(pooled)
    const owner = upstream.session === 'shared' ? undefined : caller
    const key = owner ? keyOf(owner) : SHARED
    const pooled = this.#sessions.get(SHARED) ?? this.#sessions.get(key) ?? (await this.#open(upstream, owner, fetch))
    if ('code' in pooled) return pooled
    pooled.calls++
    this.#evict()
    return pooled
  }

  /** Gives a session back after a call. */
  release(pooled: PooledSession): void {
    pooled.calls--
    pooled.lastUsed = Date.now()
    if (pooled.isRetired) this.retire(pooled)
  }

  /** Stops using a session for new calls. It closes with its last call. */
  retire(pooled: PooledSession): void {
    for (const [key, each] of this.#sessions) if (each === pooled) this.#sessions.delete(key)
    pooled.isRetired = true
    if (pooled.calls === 0) void pooled.session.close()
  }

  /** Retires all sessions. */
  close(): void {
    for (const pooled of this.#sessions.values()) this.retire(pooled)
  }

  /** Closes the sessions that nobody has used for a while. Returns when the next one is due, in ms since the epoch. */
  closeIdle(now: number): number | undefined {
    const idleMs = MCP_SESSION_IDLE_SECONDS * 1000
    for (const pooled of this.#idle()) if (pooled.lastUsed + idleMs <= now) this.retire(pooled)
    const [next] = this.#idle()
    return next && next.lastUsed + idleMs
  }

  /** Opens a session; two calls of one caller wait for the same one. */
  async #open(
    upstream: BridgeCall['upstream'],
    owner: CallerIdentity | undefined,
    fetch: UpstreamFetch,
  ): Promise<PooledSession | McpError> {
    const target = JSON.stringify(upstream)
    const key = `${target} ${owner ? keyOf(owner) : SHARED}`
    const pending = this.#opening.get(key)
    if (pending) return pending
    const opening = this.#openSession(upstream, owner, fetch)
    this.#opening.set(key, opening)
    try {
      return await opening
    } finally {
      this.#opening.delete(key)
    }
  }

  async #openSession(
    upstream: BridgeCall['upstream'],
    owner: CallerIdentity | undefined,
    fetch: UpstreamFetch,
  ): Promise<PooledSession | McpError> {
    const opened = await openSession(upstream.url, fetch, {
      maxResponseBytes: MAX_TOOL_RESULT_BYTES,
      onToolsChanged: this.#onToolsChanged,
      // Callers without a token may share an address, and with it a session.
      ...(owner && { questions: owner.authenticated ? 'any' : 'only-call' }),
    })
    if ('failure' in opened) return opened.failure
    const { session } = opened
    const caller = session.isStateless ? undefined : owner
    const key = caller ? keyOf(caller) : SHARED
    const target = JSON.stringify(upstream)
    const [linked, lastUsed] = [new LinkedResources(), Date.now()]
    const pooled = { session, upstream: target, caller, linked, calls: 0, isRetired: false, lastUsed }
    // Another caller, or a call to another URL, may have opened one meanwhile.
    const other = this.#sessions.get(key)
    if (other) this.retire(other)
    this.#sessions.set(key, pooled)
    return pooled
  }

  /** Closes the session that was unused longest, those of callers without a token first, if there are too many. */
  #evict(): void {
    if (this.#sessions.size <= MAX_MCP_SESSIONS) return
    const idle = this.#idle()
    const evicted = idle.find(({ caller }) => caller?.authenticated === false) ?? idle[0]
    if (evicted) this.retire(evicted)
  }

  /** Returns the sessions that no call uses, the one first that was unused longest. */
  #idle(): PooledSession[] {
    return [...this.#sessions.values()]
      .filter(({ calls }) => calls === 0)
      .sort((one, other) => one.lastUsed - other.lastUsed)
  }
}
