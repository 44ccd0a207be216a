import type { A2ACall, CallError, Inspected, ResultFacts } from '../../a2a/index.ts'
import {
  INVALID_PAGE_TOKEN,
  invalidParam,
  listsTasks,
  operations,
  readPage,
  readTaskReferences,
  withPage,
} from '../../a2a/index.ts'
import { type Authentication, distinctSubject } from '../../auth/index.ts'
import { log } from '../../http/index.ts'
import { CLEARED_ID_SECONDS, MAX_CONTEXT_ID_LENGTH, MAX_PAGE_TOKEN_LENGTH, MAX_TASK_ID_LENGTH } from '../../limits.ts'
import { ClockCache } from '../../registry/edge/index.ts'
import type { RpcClient } from '../../registry/index.ts'
import type { OwnerStore } from './owner-store.ts'
import { contextKey, type Ids, keysOf, mayUse, type Owners, taskKey, UNOWNED } from './owner-table.ts'

/**
 * A call as the agent gets it, whose tasks and contexts its caller may use. `inspect` records those in a response or an
 * event before the caller sees it, and refuses those of another caller. Synchronous where nothing is new.
 */
export type OwnedCall = { call: A2ACall; inspect: (facts: ResultFacts) => Inspected | Promise<Inspected> }

/** Refuses a call that names an unknown task, or one of another caller, with the same error: nobody may learn which. */
export const checkTaskOwner = async (
  call: A2ACall,
  { agent, caller }: { agent: string; caller: Authentication },
  env: Env,
): Promise<OwnedCall | CallError> => {
  const named = readTaskReferences(call)
  if ('kind' in named) return named
  const owner: Owner = { agent, subject: distinctSubject(caller) || UNOWNED, env }
  const { sends = false } = operations[call.operation]
  const isList = listsTasks(call.operation)
  // Without an id, an agent might take a task of its own choice.
  if (!sends && !isList && named.tasks.length === 0) return invalidParam('id', 'must be the id of a task')
  const unknown = withoutUsable(owner, named)
  if (hasLonger(unknown.tasks, MAX_TASK_ID_LENGTH)) return NOT_FOUND
  // An unknown context that a message names becomes the caller's.
  const use: Send<Owners | null> = object => object.use(owner.subject, unknown, sends)
  const refused = isEmpty(unknown) ? undefined : await requestOwners(owner, use, NOT_FOUND)
  if (refused) return refused
  if (isList) return openTaskList(call, owner)
  if (sends) return { call, inspect: recordStarted(owner, named) }
  const areNamed = ({ tasks }: ResultFacts) => tasks.every(({ id }) => named.tasks.includes(id))
  return { call, inspect: facts => (areNamed(facts) ? undefined : unusable('the answer is about another task')) }
}

/** A caller as the owner of tasks and contexts of one agent. */
type Owner = { agent: string; subject: string; env: Env }
type Send<Value> = (object: RpcClient<OwnerStore>) => Promise<Value>

/** Makes the tasks and contexts that a message starts the caller's: those in its response that it does not name. */
const recordStarted = (owner: Owner, named: Ids): OwnedCall['inspect'] => {
  const seen = new Set(keysOf(named))
  const command = `npx sync-card tasks clear ${owner.agent}`
  const detail = `An id of the agent belongs to another caller. If it restarted and uses ids again: ${command}`
  return facts => {
    const tasks = facts.tasks.map(({ id }) => id).filter(id => !seen.has(taskKey(id)))
    const contexts = facts.contexts.filter(id => !seen.has(contextKey(id)))
    for (const key of keysOf({ tasks, contexts })) seen.add(key)
    const unknown = withoutUsable(owner, { tasks, contexts })
    if (isEmpty(unknown)) return undefined
    if (hasLonger(unknown.tasks, MAX_TASK_ID_LENGTH) || hasLonger(unknown.contexts, MAX_CONTEXT_ID_LENGTH))
      return unusable('the id of a task or context is too long')
    const own: Owners = new Map(keysOf(unknown).map(key => [key, owner.subject]))
    const record: Send<Owners | null> = async object => ((await object.record(owner.subject, unknown)) ? own : null)
    return requestOwners(owner, record, { kind: 'foreign-task', detail })
  }
}

const UNAVAILABLE: CallError = { kind: 'unavailable' }
const NOT_FOUND: CallError = { kind: 'task-not-found' }

/** Returns the error of a response with something that this host cannot record or pass on. */
const unusable = (detail: string): CallError => ({ kind: 'invalid-response', status: 200, detail })

const isEmpty = ({ tasks, contexts }: Ids): boolean => tasks.length + contexts.length === 0

const hasLonger = (ids: readonly string[], maxLength: number): boolean => ids.some(id => id.length > maxLength)

const CACHE_BYTES = 4 * 1024 * 1024

const remembered = new ClockCache<{ owner: string; until: number; size: number }>(CACHE_BYTES)

/** The time for which it remembers an owner. Reading it again records the use, and shows a release. */
const REMEMBERED_MS = (CLEARED_ID_SECONDS / 2) * 1000

/** Leaves out usable ids. One of another caller counts as unknown: a fast refusal would show that it exists. */
const withoutUsable = ({ agent, subject }: Owner, { tasks, contexts }: Ids): Ids => {
  const isUnknown = (keyOf: (id: string) => string) => (id: string) => {
    const found = remembered.get(`${agent} ${keyOf(id)}`)
    return found === undefined || found.until <= Date.now() || !mayUse(subject, found.owner)
  }
  return { tasks: tasks.filter(isUnknown(taskKey)), contexts: contexts.filter(isUnknown(contextKey)) }
}

/** Requests the owners of unknown ids, and remembers them. Returns `foreign` if one is another caller's. */
const requestOwners = async (owner: Owner, send: Send<Owners | null>, foreign: CallError) => {
  const found = await request(owner, send)
  if (!found) return found === null ? foreign : UNAVAILABLE
  const until = Date.now() + REMEMBERED_MS
  for (const [name, subject] of found) {
    const key = `${owner.agent} ${name}`
    remembered.set(key, { owner: subject, until, size: 2 * (key.length + subject.length) + 100 })
  }
  return undefined
}

/** Calls the agent's Durable Object. Returns undefined, and logs why, if it does not respond. */
const request = async <Value>({ agent, env }: Owner, send: Send<Value>): Promise<Value | undefined> => {
  try {
    return await send(env.TASK_OWNERS.getByName(agent) as unknown as RpcClient<OwnerStore>)
  } catch (error) {
    log('error', 'task-owners-unavailable', { 'gen_ai.agent.id': agent, 'exception.message': String(error) })
    return undefined
  }
}

/** Encrypted tokens are shorter: six bytes for a character of the agent's token, a third more in base64, and digits. */
const MAX_ENCRYPTED_LENGTH = 9 * MAX_PAGE_TOKEN_LENGTH

const PAGE_SIZE = 50

/**
 * Opens the page token of a list, which this host has encrypted, for the agent. Reduces the response to the caller's
 * own tasks. Requests pages of one size from the agent: the number of empty pages shows how many such pages of other
 * tasks match a filter, but with pages of one task it would count them.
 */
const openTaskList = async (call: A2ACall, owner: Owner): Promise<OwnedCall | CallError> => {
  const page = readPage(call, MAX_ENCRYPTED_LENGTH)
  if ('kind' in page) return page
  const { token: encrypted, size } = page
  const position =
    encrypted === ''
      ? { token: '', skip: 0, seen: 0 }
      : await request(owner, object => object.openPage(owner.subject, encrypted))
  if (!position) return position === null ? INVALID_PAGE_TOKEN : UNAVAILABLE
  return {
    call: withPage(call, { token: position.token, size: PAGE_SIZE }),
    inspect: async ({ kind, tasks, nextPageToken: next = '' }) => {
      if (kind === 'error') return undefined
      if (next.length > MAX_PAGE_TOKEN_LENGTH) return unusable('nextPageToken is too long')
      const found = { tasks: tasks.map(({ id }) => id), next, position, size }
      const owned = await request(owner, object => object.page(owner.subject, found))
      if (owned === undefined) return UNAVAILABLE
      const { own, totalSize, nextPageToken } = owned
      return { list: { ids: new Set(own), nextPageToken, pageSize: size, totalSize } }
    },
  }
}
