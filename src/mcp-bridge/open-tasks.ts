import { type Full, type Principal, Quota } from './shares.ts'

/** The most tools of one agent that run at once. */
const most = 64

/** A task whose tool may run: what tells that it is cancelled. Or who has as many run as may. */
type Begun = { cancelled: AbortSignal } | { full: Full }

/** The tasks whose tools run, and how to cancel each. */
export class RunningTasks {
  readonly #open = new Map<string, { contextId: string; cancelled: AbortController; account: Principal }>()
  readonly #shares = new Quota(most)

  get size(): number {
    return this.#open.size
  }

  begin(taskId: string, contextId: string, account: Principal): Begun {
    const full = this.#shares.take(account)
    if (full) return { full }
    const cancelled = new AbortController()
    this.#open.set(taskId, { contextId, cancelled, account })
    return { cancelled: cancelled.signal }
  }

  end(taskId: string): void {
    const task = this.#open.get(taskId)
    if (task && this.#open.delete(taskId)) this.#shares.give(task.account)
  }

  /** Cancels a task; returns the id of its context, undefined where it does not run. */
  cancel(taskId: string): string | undefined {
    const task = this.#open.get(taskId)
    task?.cancelled.abort('The caller cancelled the task.')
    return task?.contextId
  }
}
