import {
  type A2ACall,
  type CallError,
  foldName,
  type Inspected,
  invalidParam,
  listsTasks,
  operations,
  type ResultFacts,
  readTaskReferences,
  type TaskReferences,
} from '../../a2a/index.ts'
import { type Authentication, distinctSubject } from '../../auth/index.ts'
import { log } from '../../http/index.ts'
import { type Json, type JsonObject, toText } from '../../json/index.ts'
import { CLEARED_ID_SECONDS, MAX_CONTEXT_ID_LENGTH, MAX_PAGE_TOKEN_LENGTH, MAX_TASK_ID_LENGTH } from '../../limits.ts'
import { ClockCache } from '../../registry/edge/index.ts'
import type { RpcClient } from '../../registry/index.ts'
import { UNAVAILABLE } from '../gate/index.ts'
import { ANYONE, type Ids, type Owners } from './owner-table.ts'
import type { TaskOwners } from './task-owners.ts'

/** A call whose tasks and contexts its caller may use. */
export type OwnedCall = {
  /** The call as it is sent to the agent. */
  call: A2ACall
  /**
   * Records the tasks and contexts that an answer or an event shows, before the caller sees it. Refuses one that shows
   * a task or context of another caller. Synchronous where nothing is new.
   */
  inspect: (facts: ResultFacts) => Inspected | Promise<Inspected>
}

/** Refuses a call that names an unknown task, or one of another caller, with the same error: nobody may learn which. */
export const checkTaskOwner = async (
  call: A2ACall,
  { agent, caller }: { agent: string; caller: Authentication },
  env: Env,
): Promise<OwnedCall | CallError> => {
  const references = readTaskReferences(call)
  if ('kind' in references) return references
  const owners = new AgentOwners(agent, caller, env)
  const { sends = false } = operations[call.operation]
  const isList = listsTasks(call.operation)
  // Without an id, an agent might take a task of its own choice.
  if (!sends && !isList && references.tasks.length === 0) return invalidParam('id', 'must be the id of a task')
  const refused = await owners.use(references, sends)
  if (refused) return refused
  if (isList) return openTaskList(call, owners)
  if (sends) return { call, inspect: recordStarted(references, owners) }
  const areNamed = ({ tasks }: ResultFacts) => tasks.every(({ id }) => references.tasks.includes(id))
  return { call, inspect: facts => (areNamed(facts) ? undefined : unusable('the answer is about another task')) }
}

/** Records what the answer to a message shows that it has started. */
const recordStarted = (references: TaskReferences, owners: AgentOwners): OwnedCall['inspect'] => {
  const seen = { tasks: new Set(references.tasks), contexts: new Set(references.contexts) }
  return ({ tasks, contexts }) => {
    const started = {
      tasks: tasks.map(({ id }) => id).filter(id => !seen.tasks.has(id)),
      contexts: contexts.filter(id => !seen.contexts.has(id)),
    }
    if (isEmpty(started)) return undefined
    for (const id of started.tasks) seen.tasks.add(id)
    for (const id of started.contexts) seen.contexts.add(id)
    return owners.record(started)
  }
}

const NOT_FOUND: CallError = { kind: 'task-not-found' }

/** Builds the error of a response with something that this host cannot record or pass on. */
const unusable = (detail: string): CallError => ({ kind: 'invalid-response', status: 200, detail })

const CACHE_BYTES = 4 * 1024 * 1024

const known = new ClockCache<{ owner: string; until: number; size: number }>(CACHE_BYTES)

/** The time for which an isolate remembers an owner. Reading it again records the use, and shows a release. */
const REMEMBERED_MS = (CLEARED_ID_SECONDS / 2) * 1000

/** The owners of one agent's tasks, for one caller: what this isolate remembers, and the agent's Durable Object. */
class AgentOwners {
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
    const command = `npx sync-card tasks clear ${this.#agent}`
    const detail = `An id of the agent belongs to another caller. If it restarted and uses ids again: ${command}`
    return { kind: 'foreign-task', detail }
  }

  /** Calls the agent's Durable Object for the caller. Returns undefined, and logs why, if it does not respond. */
  async request<Value>(
    send: (object: RpcClient<TaskOwners>, caller: string) => Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      return await send(this.#env.TASK_OWNERS.getByName(this.#agent) as unknown as RpcClient<TaskOwners>, this.#caller)
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
    for (const [kind, owners] of Object.entries({ task: tasks, context: contexts }))
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

// Lists

/**
 * Opens the page token of a list, which this host has encrypted, for the agent. Its answer is reduced to the caller's
 * own tasks. The agent is asked for pages of one size, whatever the caller asks for: the number of empty pages shows
 * how many such pages of other tasks match a filter, but with pages of one task it would count them.
 */
const openTaskList = async (call: A2ACall, owners: AgentOwners): Promise<OwnedCall | CallError> => {
  const { params, sources } = call
  const objects = sources ? Object.values(sources) : [params]
  const [encrypted = '', ...others] = new Set(objects.flatMap(object => readMembers(object, 'pagetoken')))
  if (typeof encrypted !== 'string' || encrypted.length > MAX_ENCRYPTED_LENGTH || others.length > 0)
    return INVALID_TOKEN
  const size = readPageSize(objects)
  if (size === undefined) return invalidParam('pageSize', 'must be an integer from 1 to 100')
  const position =
    encrypted === ''
      ? { token: '', skip: 0, seen: 0 }
      : await owners.request((object, caller) => object.openPage(caller, encrypted))
  if (position === undefined) return UNAVAILABLE
  if (position === null) return INVALID_TOKEN
  const { token } = position
  const page = { pageSize: PAGE_SIZE, ...(token !== '' && { pageToken: token }) }
  const query = sources && { ...withoutPage(sources.query), ...page, pageSize: String(PAGE_SIZE) }
  return {
    call: { ...call, params: { ...withoutPage(params), ...page }, ...(query && { sources: { ...sources, query } }) },
    inspect: async ({ kind, tasks, nextPageToken: next = '' }) => {
      if (kind === 'error') return undefined
      if (next.length > MAX_PAGE_TOKEN_LENGTH) return unusable('nextPageToken is too long')
      const found = { tasks: tasks.map(({ id }) => id), next, position, size }
      const owned = await owners.request((object, caller) => object.page(caller, found))
      if (owned === undefined) return UNAVAILABLE
      const { own, totalSize, nextPageToken } = owned
      return { list: { ids: new Set(own), nextPageToken, pageSize: size, totalSize } }
    },
  }
}

/** Encrypted tokens are shorter: six bytes for a character of the agent's token, a third more in base64, and digits. */
const MAX_ENCRYPTED_LENGTH = 9 * MAX_PAGE_TOKEN_LENGTH

const INVALID_TOKEN = invalidParam('pageToken', 'must be the `nextPageToken` of a page of this list')

/** The size of the agent's pages, and of the caller's where a request has none (A2A 1.0 §3.1.4). */
const PAGE_SIZE = 50

/** Returns the values of a member under every name that an agent might read, unless they are empty. */
const readMembers = (object: JsonObject, folded: string): Json[] =>
  Object.entries(object).flatMap(([name, value = null]) =>
    foldName(name) === folded && value !== null && value !== '' ? [value] : [],
  )

/** Reads the page size. Zero counts as absent, as in ProtoJSON. */
const readPageSize = (objects: readonly JsonObject[]): number | undefined => {
  const [value = 0] = objects.flatMap(object => readMembers(object, 'pagesize'))
  const size = Number(toText(value) || Number.NaN)
  if (size === 0) return PAGE_SIZE
  return Number.isInteger(size) && size > 0 && size <= 100 ? size : undefined
}

const withoutPage = <Value>(members: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !['pagetoken', 'pagesize'].includes(foldName(name))))
