import { type ListTasksRequest, type ListTasksResponse, Task, taskStateToJSON } from '@a2a-js/sdk'
import { RequestMalformedError } from '@a2a-js/sdk/errors'
import type { TaskStore } from '@a2a-js/sdk/server'
import type { JsonObject } from '../../json/index.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_TASK_ID_LENGTH } from '../../limits.ts'
import type { CallerIdentity } from './quotas.ts'
import type { TaskPosition, TaskTable } from './task-table.ts'

/** Messages in a task's history: the first, which created the task, and the newest. */
const MAX_HISTORY = 50

/** The page size where the request has none (A2A 1.0 §3.1.4). */
const DEFAULT_PAGE_SIZE = 50

/**
 * The tasks that one caller may see. Anonymous callers share their tasks and find them only by id: ids cannot be guessed,
 * and no list has them.
 */
export class CallerTaskStore implements TaskStore {
  readonly #table: TaskTable
  readonly #owner: string
  readonly #identity: CallerIdentity

  constructor(table: TaskTable, identity: CallerIdentity) {
    this.#table = table
    this.#owner = identity.authenticated ? identity.name : ''
    this.#identity = identity
  }

  async save(task: Task): Promise<void> {
    const [first, ...others] = task.history
    const history = first && others.length >= MAX_HISTORY ? [first, ...others.slice(1 - MAX_HISTORY)] : task.history
    const { id, contextId, status } = task
    this.#table.save({
      id,
      owner: this.#owner,
      principal: this.#identity.name,
      context: contextId,
      state: taskStateToJSON(status?.state ?? 0),
      changed: Date.parse(status?.timestamp ?? '') || Date.now(),
      task: Task.toJSON({ ...task, history }) as JsonObject,
    })
  }

  async load(id: string): Promise<Task | undefined> {
    // Task ids are UUIDs. SQLite refuses to look up much longer ones.
    const task = id.length <= MAX_TASK_ID_LENGTH ? this.#table.load(id, this.#owner) : undefined
    return task && Task.fromJSON(task)
  }

  async list(request: ListTasksRequest): Promise<ListTasksResponse> {
    const pageSize = request.pageSize ?? DEFAULT_PAGE_SIZE
    if (this.#owner === '') return { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
    const { tasks, total, last } = this.#table.list({
      owner: this.#owner,
      // Longer than any context is, and not too long for SQLite.
      context: request.contextId.slice(0, MAX_CONTEXT_ID_LENGTH + 1) || undefined,
      state: request.status ? taskStateToJSON(request.status) : undefined,
      changedAfter: request.statusTimestampAfter ? Date.parse(request.statusTimestampAfter) : undefined,
      after: request.pageToken ? parsePageToken(request.pageToken) : undefined,
      withArtifacts: request.includeArtifacts ?? false,
      limit: pageSize,
    })
    return {
      tasks: tasks.map(task => Task.fromJSON(task)),
      nextPageToken: last ? `${last.changed}.${last.id}` : '',
      pageSize,
      totalSize: total,
    }
  }
}

const parsePageToken = (token: string): TaskPosition => {
  const [, changed, id] = /^(\d{1,15})\.(.{1,200})$/s.exec(token) ?? []
  if (changed === undefined || id === undefined) throw new RequestMalformedError('`pageToken` is not from this agent.')
  return { changed: Number(changed), id }
}
