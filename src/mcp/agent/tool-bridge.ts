import { log, sha256Hex } from '../../http/index.ts'
import { Alarm } from '../../registry/index.ts'
import { A2AServer, type AgentContext } from './a2a-server.ts'
import { RunningTasks } from './executor.ts'
import type { CallerIdentity } from './quotas.ts'
import { TaskTable } from './task-table.ts'
import type { BridgeCall } from './tool-call.ts'
import { ToolClient } from './tool-client.ts'

/** The object wakes that often while tools run or sessions are open, so that the platform does not evict it. */
const HEARTBEAT_MS = 30_000
const REFRESH_INTERVAL_MS = 10_000

/** Fetches the card of an agent again. */
export type RefreshCard = (agent: string, env: Env) => Promise<unknown>

/** Serves an MCP server as an A2A agent. */
export class ToolBridge {
  readonly #context: AgentContext
  readonly #agent: A2AServer
  readonly #identifyCaller = createCallerIdentifier()
  readonly #alarm: Alarm
  #id = ''

  constructor(ctx: DurableObjectState, env: Env, refreshCard: RefreshCard) {
    this.#alarm = new Alarm(ctx.storage)
    const refresh = throttle(async () => {
      try {
        await refreshCard(this.#id, env)
      } catch (error) {
        log('error', 'refresh-failed', { 'gen_ai.agent.id': this.#id, 'exception.message': String(error) })
      }
    }, REFRESH_INTERVAL_MS)
    this.#context = {
      tasks: new TaskTable(ctx.storage),
      running: new RunningTasks(),
      client: new ToolClient(env, () => ctx.waitUntil(refresh())),
    }
    this.#context.tasks.failInterrupted()
    this.#agent = new A2AServer(this.#context)
  }

  /** Answers a `BridgeCall` of the gateway. */
  async fetch(request: Request): Promise<Response> {
    const call: BridgeCall = await request.json()
    this.#id = call.agent
    if (call.tool ?? call.resource) await this.#alarm.wakeAt(Date.now() + HEARTBEAT_MS)
    return this.#agent.answer(call, await this.#identifyCaller(call))
  }

  /** Keeps the object awake while tools run or sessions are open. Closes unused sessions, and deletes expired tasks. */
  async alarm(): Promise<void> {
    this.#alarm.clear()
    const { tasks, running, client } = this.#context
    const now = Date.now()
    const nextExpiry = tasks.deleteExpired(now)
    const nextIdle = client.closeIdle(now)
    if (running.size > 0 || nextIdle !== undefined)
      return this.#alarm.wakeAt(Math.min(nextIdle ?? Number.POSITIVE_INFINITY, now + HEARTBEAT_MS))
    if (nextExpiry !== undefined) await this.#alarm.wakeAt(nextExpiry)
  }
}

/** Returns a function that identifies the caller of a call: an address as a hash with a secret that is never stored. */
export const createCallerIdentifier = () => {
  const secret = crypto.randomUUID()
  return async ({ caller, address }: Pick<BridgeCall, 'caller' | 'address'>): Promise<CallerIdentity> => {
    if (caller !== '') return { authenticated: true, name: caller }
    return { authenticated: false, name: (await sha256Hex(`${secret} ${address}`)).slice(0, 32) }
  }
}

/** Returns a function that runs `work` at once, and once more for all calls meanwhile, at most every `intervalMs`. */
export const throttle = (work: () => Promise<void>, intervalMs: number): (() => Promise<void>) => {
  let isRequested = false
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (isRequested) {
      isRequested = false
      await work()
      await new Promise(resolve => setTimeout(resolve, intervalMs))
    }
    running = undefined
  }
  return () => {
    isRequested = true
    running ??= run()
    return running
  }
}
