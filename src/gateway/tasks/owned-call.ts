import {
  type A2ACall,
  type CallError,
  invalidParam,
  operations,
  readTaskReferences,
  type TaskReferences,
} from '../../a2a/index.ts'
import type { Authentication } from '../../auth/index.ts'
import { AgentOwners, type OwnedCall, unusable } from './agent-owners.ts'

/**
 * Refuses a call that names a task or context of another caller, or a task that this host does not know, with one error for both:
 * nobody may learn which tasks exist.
 */
export const checkTaskOwner = async (
  call: A2ACall,
  { agent, caller }: { agent: string; caller: Authentication },
  env: Env,
): Promise<OwnedCall | CallError> => {
  const references = readTaskReferences(call)
  if ('kind' in references) return references
  const owners = new AgentOwners(agent, caller, env)
  const { sends = false } = operations[call.operation]
  const isList = call.operation === 'listTasks'
  // Without an id, an agent might take a task of its own choice.
  if (!sends && !isList && references.tasks.length === 0) return invalidParam('id', 'must be the id of a task')
  const refused = await owners.use(references, sends)
  if (refused) return refused
  if (!isList) return { call, inspect: sends ? recordStarted(references, owners) : requireNamed(references) }
  const { openTaskList } = await import('./task-list.ts')
  return openTaskList(call, owners)
}

/** The answer to a message shows what it has started. */
const recordStarted = (references: TaskReferences, owners: AgentOwners): OwnedCall['inspect'] => {
  const seen = { tasks: new Set(references.tasks), contexts: new Set(references.contexts) }
  return ({ tasks, contexts }) => {
    const started = {
      tasks: tasks.map(({ id }) => id).filter(id => !seen.tasks.has(id)),
      contexts: contexts.filter(id => !seen.contexts.has(id)),
    }
    if (started.tasks.length + started.contexts.length === 0) return undefined
    for (const id of started.tasks) seen.tasks.add(id)
    for (const id of started.contexts) seen.contexts.add(id)
    return owners.record(started)
  }
}

/** The answer to a call about tasks shows no others. */
const requireNamed =
  (references: TaskReferences): OwnedCall['inspect'] =>
  ({ tasks }) =>
    tasks.every(({ id }) => references.tasks.includes(id)) ? undefined : unusable('the answer is about another task')
