import { log } from '../http/log.ts'
import { ToolAgent } from './a2a-server.ts'
import type { BridgeCall } from './bridge-call.ts'
import { RunningTasks } from './executor.ts'
import { type Principal, ResponseSemaphore } from './quotas.ts'
import { TaskTable } from './task-table.ts'
import { ToolClient } from './tool-client.ts'

/**
 * Names accounts. That of an address leads back to none: it is a hash with a secret that is kept nowhere, and gone with the
 * object's memory.
 */
export class PrincipalQuotas {
  readonly #secret = crypto.randomUUID()

  async of({ caller, address }: Pick<BridgeCall, 'caller' | 'address'>): Promise<Principal> {
    if (caller !== '') return { known: true, name: caller }
    const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(`${this.#secret} ${address}`))
    const name = Array.from(new Uint8Array(hash, 0, 16), byte => byte.toString(16).padStart(2, '0')).join('')
    return { known: false, name }
  }
}

/**
 * Work that is to be done on news, however many come at once: at once, and then at most once in so many ms. Where it was not
 * `done`, it is done again.
 */
export const throttle = (work: () => Promise<'done' | 'again'>, between: number): (() => Promise<void>) => {
  let wanted = false
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (wanted) {
      wanted = false
      if ((await work()) === 'again') wanted = true
      await new Promise(resolve => setTimeout(resolve, between))
    }
    running = undefined
  }
  return () => {
    wanted = true
    running ??= run()
    return running
  }
}

/** How long a session is kept that nobody uses, how often the object is woken while tools run, and how often news are heard: in ms. */
const idle = 60_000
const heartbeat = 30_000
const between = 10_000

/** An MCP server as an A2A agent: it keeps the tasks that calls of tools are, and the session with the server. */
export class ToolBridge {
  readonly #ctx: DurableObjectState
  readonly #env: Env
  readonly #rows: TaskTable
  readonly #open = new RunningTasks()
  readonly #large = new ResponseSemaphore()
  readonly #accounts = new PrincipalQuotas()
  readonly #server: ToolClient
  readonly #refresh = throttle(() => this.#readAgain(), between)
  readonly #agent: ToolAgent
  #alarm = Number.POSITIVE_INFINITY
  #id = ''

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx
    this.#env = env
    this.#rows = new TaskTable(ctx.storage)
    // Their tools were called by an object that is no more.
    this.#rows.endOpen()
    this.#server = new ToolClient(env, this.#large, () => ctx.waitUntil(this.#refresh()))
    this.#agent = new ToolAgent({ rows: this.#rows, open: this.#open, large: this.#large, server: this.#server })
  }

  /** Answers a call of this host, which tells what there is to do. */
  async fetch(request: Request): Promise<Response> {
    const commission: BridgeCall = await request.json()
    this.#id = commission.agent
    if (commission.tool) await this.#wake(Date.now() + heartbeat)
    return this.#agent.answer(commission, await this.#accounts.of(commission))
  }

  /** Keeps the object in memory while tools run; then leaves a server that nobody calls, and forgets old tasks. */
  async alarm(): Promise<void> {
    this.#alarm = Number.POSITIVE_INFINITY
    const now = Date.now()
    const oldest = this.#rows.forgetOld(now)
    if (this.#open.size > 0) return this.#wake(now + heartbeat)
    if (this.#server.open && this.#server.used + idle > now) return this.#wake(this.#server.used + idle)
    this.#server.leave()
    if (oldest !== undefined) await this.#wake(oldest)
  }

  async #wake(at: number): Promise<void> {
    if (at >= this.#alarm) return
    this.#alarm = at
    await this.#ctx.storage.setAlarm(at)
  }

  /** The server says that its tools have changed: so has the card. */
  async #readAgain(): Promise<'done' | 'again'> {
    try {
      const { refreshAgent } = await import('../sources/refresh.ts')
      const { outcome } = await refreshAgent(this.#id, { force: true }, this.#env, this.#ctx)
      return outcome === 'busy' ? 'again' : 'done'
    } catch (error) {
      log('error', 'refresh', { agent: this.#id, error: String(error) })
      return 'done'
    }
  }
}
