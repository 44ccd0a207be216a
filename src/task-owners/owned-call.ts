import { type CallError, invalidParam } from '../a2a/errors.ts'
import { type A2ACall, operations } from '../a2a/operations.ts'
import { readTaskReferences, type TaskReferences } from '../a2a/task-references.ts'
import type { Authentication } from '../auth/principal.ts'
import { AgentOwners, NOT_THE_CALLERS } from './agent-owners.ts'

/** A task that an agent's response or event shows, and its context. */
type ShownTask = { id?: string; contextId?: string }

/** A call whose tasks and contexts its caller may use. */
export type OwnedCall = {
  /** The call as it is sent to the agent. */
  call: A2ACall
  /**
   * Records the tasks that a response or an event shows, before the caller sees it. Returns an error in place of one that shows a
   * task of another caller. Synchronous where nothing is new.
   */
  inspect: (shown: readonly ShownTask[]) => CallError | undefined | Promise<CallError | undefined>
  /** Reduces the response to a list to the caller's own tasks. */
  filter: (response: Response) => Promise<Response | CallError>
}

/** Who calls which agent. */
type Parties = { agent: string; caller: Authentication }

/** Refuses a call that names a task or context of another caller, or a task that this host does not know, with one error for both. */
export const checkTaskOwner = async (
  call: A2ACall,
  { agent, caller }: Parties,
  env: Env,
): Promise<OwnedCall | CallError> => {
  const references = readTaskReferences(call)
  if ('kind' in references) return references
  const owners = new AgentOwners(agent, caller, env)
  const refused = await checkReferences(call, references, owners)
  if (refused) return refused
  if (call.operation !== 'listTasks')
    return { call, inspect: createInspection(call, references, owners), filter: async response => response }
  const { openTaskList } = await import('./task-list.ts')
  const list = await openTaskList(call, owners)
  return 'kind' in list ? list : { ...list, inspect: () => undefined }
}

const checkReferences = (
  { operation }: A2ACall,
  references: TaskReferences,
  owners: AgentOwners,
): CallError | undefined | Promise<CallError | undefined> => {
  const { sends = false } = operations[operation]
  // An agent might take a task of its choice.
  if (!sends && operation !== 'listTasks' && references.tasks.length === 0)
    return invalidParam('id', 'must be the id of a task')
  return owners.use(references, sends)
}

/** Only messages start tasks: the response to any other call is about the tasks that it names. */
const createInspection = (
  { operation }: A2ACall,
  { tasks, contexts }: TaskReferences,
  owners: AgentOwners,
): OwnedCall['inspect'] => {
  const { sends } = operations[operation]
  const seen = { tasks: new Set(tasks), contexts: new Set(contexts) }
  return shown => {
    const started = {
      tasks: unseen(
        seen.tasks,
        shown.map(({ id }) => id),
      ),
      contexts: unseen(seen.contexts, sends ? shown.map(({ contextId }) => contextId) : []),
    }
    if (started.tasks.length + started.contexts.length === 0) return undefined
    return sends ? owners.record(started) : NOT_THE_CALLERS
  }
}

/** Adds ids to those that were seen. Returns the new ones. */
const unseen = (seen: Set<string>, ids: readonly (string | undefined)[]): string[] => {
  const found = ids.filter(id => id !== undefined && id !== '' && !seen.has(id)) as string[]
  for (const id of found) seen.add(id)
  return [...new Set(found)]
}
