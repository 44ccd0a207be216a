import type { ListTasksRequest, ListTasksResponse, Task } from '@a2a-js/sdk'
import { InMemoryTaskStore, type ServerCallContext, type TaskStore } from '@a2a-js/sdk/server'

/** How many tasks are kept; each is bounded by the size of a message. */
const most = 200

/** The tasks that changed last, in memory. All callers share them: the agent knows nobody by name. */
export class RecentTasks implements TaskStore {
  readonly #tasks = new Map<string, Task>()

  async save(task: Task): Promise<void> {
    this.#tasks.delete(task.id)
    this.#tasks.set(task.id, structuredClone(task))
    for (const oldest of this.#tasks.keys()) {
      if (this.#tasks.size <= most) return
      this.#tasks.delete(oldest)
    }
  }

  async load(id: string): Promise<Task | undefined> {
    return structuredClone(this.#tasks.get(id))
  }

  async list(request: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    const pages = new InMemoryTaskStore()
    for (const task of this.#tasks.values()) await pages.save(task, context)
    return pages.list(request, context)
  }
}
