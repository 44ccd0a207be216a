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

/** A session that is being opened, and the calls that wait for it. */
type Opening = { pooled: Promise<PooledSession | McpError>; calls: number }

/**
 * The sessions of one agent with its MCP server: one for each caller, or one for all where the owner wants that, or where the server
 * keeps nothing between two requests.
 */
export class SessionPool {
  readonly #sessions = new Map<string, PooledSession>()
  readonly #openings = new Map<string, Opening>()
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
    const pooled = this.#sessions.get(SHARED) ?? this.#sessions.get(key)
    if (pooled) {
      pooled.calls++
      return pooled
    }
    const opening = this.#openings.get(`${target} ${key}`) ?? this.#open(upstream, owner, fetch)
    opening.calls++
    return opening.pooled
  }

  /** Gives a session back after a call. */
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
  #open(upstream: BridgeCall['upstream'], owner: CallerIdentity | undefined, fetch: UpstreamFetch): Opening {
    const target = JSON.stringify(upstream)
    const key = `${target} ${owner ? keyOf(owner) : SHARED}`
    const open = async (): Promise<PooledSession | McpError> => {
      try {
        const opened = await openSession(upstream.url, fetch, {
          maxResponseBytes: MAX_TOOL_RESULT_BYTES,
          onToolsChanged: this.#onToolsChanged,
          // Callers without a token may share an address, and with it a session.
          ...(owner && { questions: owner.authenticated ? 'any' : 'only-call' }),
        })
        return 'failure' in opened ? opened.failure : this.#add(opened.session, target, owner, opening.calls)
      } finally {
        this.#openings.delete(key)
      }
    }
    const opening: Opening = { pooled: open(), calls: 0 }
    this.#openings.set(key, opening)
    return opening
  }

  /** Adds a session, with the calls that wait for it: nothing may close it before they get it. */
  #add(session: Session, upstream: string, owner: CallerIdentity | undefined, calls: number): PooledSession {
    const caller = session.isStateless ? undefined : owner
    const key = caller ? keyOf(caller) : SHARED
    const other = this.#sessions.get(key)
    // Another caller of a server without sessions was faster.
    if (other?.upstream === upstream && !other.session.isClosed()) {
      void session.close()
      other.calls += calls
      return other
    }
    if (other) this.retire(other)
    const [linked, lastUsed] = [new LinkedResources(), Date.now()]
    const pooled = { session, upstream, caller, linked, calls, isRetired: false, lastUsed }
    this.#sessions.set(key, pooled)
    this.#evict()
    return pooled
  }

  /** Closes the sessions that were unused longest, those of callers without a token first, while there are too many. */
  #evict(): void {
    while (this.#sessions.size > MAX_MCP_SESSIONS) {
      const idle = this.#idle()
      const evicted = idle.find(({ caller }) => caller?.authenticated === false) ?? idle[0]
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
