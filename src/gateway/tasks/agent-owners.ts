import type { A2ACall, CallError, Inspected, ResultFacts } from '../../a2a/index.ts'
import { type Authentication, distinctSubject } from '../../auth/index.ts'
import { log } from '../../http/index.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_TASK_ID_LENGTH } from '../../limits.ts'
import { ClockCache } from '../../registry/edge/index.ts'
import type { RpcClient } from '../../registry/start.ts'
import { ANYONE, type Ids, type Owners, REMEMBERED_MS } from './owner-table.ts'
import type { TaskOwners } from './task-owners.ts'

/** A call whose tasks and contexts its caller may use. */
export type OwnedCall = {
  /** The call as it is sent to the agent. */
  call: A2ACall
  /**
   * Records the tasks and contexts that an answer or an event shows, before the caller sees it. Refuses one that shows a task or
   * context of another caller. Synchronous where nothing is new.
   */
  inspect: (facts: ResultFacts) => Inspected | Promise<Inspected>
}

/** The error of a call while the Durable Object does not respond, which is logged where it arises. */
export const UNAVAILABLE: CallError = { kind: 'unavailable' }

/** Builds the error of a response with something that this host cannot record or pass on. */
export const unusable = (detail: string): CallError => ({ kind: 'invalid-response', status: 200, detail })

const NOT_FOUND: CallError = { kind: 'task-not-found' }

const CACHE_BYTES = 4 * 1024 * 1024

const known = new ClockCache<{ owner: string; until: number; size: number }>(CACHE_BYTES)

/** The owners of one agent's tasks, for one caller: what this isolate remembers, and the agent's Durable Object. */
export class AgentOwners {
  readonly #agent: string
  readonly #caller: string
  readonly #env: Env

  constructor(agent: string, caller: Authentication, env: Env) {
    this.#agent = agent
    this.#caller = distinctSubject(caller) || ANYONE
    this.#env = env
  }

  /** Refuses ids that the caller may not use. With `claim`, an unknown context becomes the caller's. */
  async use(ids: Ids, claim: boolean): Promise<CallError | undefined> {
    const unknown = this.#withoutUsable(ids)
    if (isEmpty(unknown)) return undefined
    if (unknown.tasks.some(id => id.length > MAX_TASK_ID_LENGTH)) return NOT_FOUND
    const owners = await this.request(object => object.use(this.#caller, unknown, claim))
    if (owners === undefined) return UNAVAILABLE
    return owners === null ? NOT_FOUND : this.#remember(owners)
  }

  /** Makes tasks and contexts that the agent started the caller's. */
  async record(ids: Ids): Promise<CallError | undefined> {
    const unknown = this.#withoutUsable(ids)
    if (isEmpty(unknown)) return undefined
    const isTooLong =
      unknown.tasks.some(id => id.length > MAX_TASK_ID_LENGTH) ||
      unknown.contexts.some(id => id.length > MAX_CONTEXT_ID_LENGTH)
    if (isTooLong) return unusable('the id of a task or context is too long')
    const owners = await this.request(object => object.record(this.#caller, unknown))
    if (owners === undefined) return UNAVAILABLE
    if (owners !== null) return this.#remember(owners)
    const detail = `An id of the agent belongs to another caller. If it restarted and uses ids again: npx sync-card tasks clear ${this.#agent}`
    return { kind: 'foreign-task', detail }
  }

  /** Calls the agent's Durable Object on behalf of the caller. Returns undefined, and logs why, if it does not respond. */
  async request<Value>(
    ask: (object: RpcClient<TaskOwners>, caller: string) => Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      return await ask(this.#env.TASK_OWNERS.getByName(this.#agent) as unknown as RpcClient<TaskOwners>, this.#caller)
    } catch (error) {
      log('error', 'task-owners-unavailable', { 'gen_ai.agent.id': this.#agent, 'exception.message': String(error) })
      return undefined
    }
  }

  #withoutUsable({ tasks, contexts }: Ids): Ids {
    return {
      tasks: tasks.filter(id => !this.#isUsable('task', id)),
      contexts: contexts.filter(id => !this.#isUsable('context', id)),
    }
  }

  /** An id of another caller counts as unknown: otherwise a fast refusal would show that it exists. */
  #isUsable(kind: string, id: string): boolean {
    const fact = known.get(this.#keyOf(kind, id))
    return fact !== undefined && fact.until > Date.now() && (fact.owner === this.#caller || fact.owner === ANYONE)
  }

  #remember({ tasks, contexts }: Owners): undefined {
    const until = Date.now() + REMEMBERED_MS
    for (const [kind, owners] of [
      ['task', tasks],
      ['context', contexts],
    ] as const)
      for (const [id, owner] of owners) {
        const key = this.#keyOf(kind, id)
        known.set(key, { owner, until, size: 2 * (key.length + owner.length) + 100 })
      }
  }

  #keyOf(kind: string, id: string): string {
    return `${this.#agent} ${kind} ${id}`
  }
}

const isEmpty = ({ tasks, contexts }: Ids): boolean => tasks.length + contexts.length === 0
