/** The most tools of one agent that run at once. */
const most = 64

/** The tasks whose tools run, and how to cancel each. */
export class OpenTasks {
  readonly #open = new Map<string, { contextId: string; cancelled: AbortController }>()

  get size(): number {
    return this.#open.size
  }

  has(taskId: string): boolean {
    return this.#open.has(taskId)
  }

  /** What tells that the task is cancelled; undefined where too many run already. */
  begin(taskId: string, contextId: string): AbortSignal | undefined {
    if (this.#open.size >= most) return undefined
    const cancelled = new AbortController()
    this.#open.set(taskId, { contextId, cancelled })
    return cancelled.signal
  }

  end(taskId: string): void {
    this.#open.delete(taskId)
  }

  /** Cancels a task; returns the id of its context, undefined where it does not run. */
  cancel(taskId: string): string | undefined {
    const task = this.#open.get(taskId)
    task?.cancelled.abort('The caller cancelled the task.')
    return task?.contextId
  }
}
