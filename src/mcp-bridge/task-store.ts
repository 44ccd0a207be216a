import { type ListTasksRequest, type ListTasksResponse, Task, taskStateToJSON } from '@a2a-js/sdk'
import { RequestMalformedError } from '@a2a-js/sdk/errors'
import type { TaskStore } from '@a2a-js/sdk/server'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import { largeBytes, type Principal } from './quotas.ts'
import type { TaskTable } from './task-table.ts'

/** The most messages of a task's history: the first, which asked for it, and the newest. */
const mostHistory = 50

/** Ids are UUIDs; contexts may be named by callers. */
const longestId = 256

/** How many tasks a page has where nobody says (A2A v1.0 §3.1.4). */
const pageSize = 50

/**
 * The tasks of one caller. Whoever the host does not know shares the tasks of all unknown: those can be had by their ids,
 * which cannot be guessed, and are not listed.
 */
export class AccountTaskStore implements TaskStore {
  readonly #rows: TaskTable
  readonly #owner: string
  readonly #account: Principal

  constructor(rows: TaskTable, account: Principal) {
    this.#rows = rows
    this.#owner = account.known ? account.name : ''
    this.#account = account
  }

  async save(task: Task): Promise<void> {
    const [first, ...others] = task.history
    const history = first && others.length >= mostHistory ? [first, ...others.slice(1 - mostHistory)] : task.history
    const { id, contextId, status } = task
    this.#rows.save({
      id,
      owner: this.#owner,
      account: this.#account.name,
      context: contextId,
      state: taskStateToJSON(status?.state ?? 0),
      changed: Date.parse(status?.timestamp ?? '') || Date.now(),
      task: Task.toJSON({ ...task, history }) as JsonObject,
    })
  }

  /** Whether what a call asks for is large, or may be: a task by its id, or else as many as a page holds. */
  isLarge(params: Json | undefined): boolean {
    const id = isJsonObject(params) ? params.id : undefined
    if (typeof id !== 'string') return this.#owner !== ''
    return id.length <= longestId && this.#rows.length(id, this.#owner) > largeBytes
  }

  async load(id: string): Promise<Task | undefined> {
    // What is longer is none of ours, and more than the database looks up.
    const task = id.length <= longestId ? this.#rows.load(id, this.#owner) : undefined
    return task && Task.fromJSON(task)
  }

  async list(request: ListTasksRequest): Promise<ListTasksResponse> {
    const size = request.pageSize ?? pageSize
    if (this.#owner === '') return { tasks: [], nextPageToken: '', pageSize: size, totalSize: 0 }
    const { tasks, total, next } = this.#rows.list({
      owner: this.#owner,
      context: request.contextId.slice(0, longestId + 1) || undefined,
      state: request.status ? taskStateToJSON(request.status) : undefined,
      changedAfter: request.statusTimestampAfter ? Date.parse(request.statusTimestampAfter) : undefined,
      before: request.pageToken ? readToken(request.pageToken) : undefined,
      artifacts: request.includeArtifacts ?? false,
      limit: size,
    })
    return {
      tasks: tasks.map(task => Task.fromJSON(task)),
      nextPageToken: next ? `${next.changed}.${next.id}` : '',
      pageSize: size,
      totalSize: total,
    }
  }
}

const readToken = (token: string): { changed: number; id: string } => {
  const [, changed, id] = /^(\d{1,15})\.(.{1,200})$/s.exec(token) ?? []
  if (changed === undefined || id === undefined) throw new RequestMalformedError('pageToken is none of this agent.')
  return { changed: Number(changed), id }
}
