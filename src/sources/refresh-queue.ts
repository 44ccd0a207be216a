import { log } from '../http/index.ts'
import { nextRefreshAt } from '../registry/tables/index.ts'
import { type RefreshOptions, type RefreshReport, refreshRemoteCard } from './refresh.ts'

/**
 * Refreshes the remote card of one agent, whose id is the name of its object, one refresh at a time. Stores only the
 * id, the alarm and how many attempts have not ended; the Registry stores the rest.
 */
export class RefreshQueue {
  readonly #ctx: DurableObjectState
  readonly #env: Env
  /** The newest refresh that has not ended. */
  #last: Promise<RefreshReport> | undefined
  /** The newest forced refresh that has not begun. */
  #waiting: Promise<RefreshReport> | undefined

  constructor(ctx: DurableObjectState, env: Env) {
    this.#ctx = ctx
    this.#env = env
  }

  /** Sets the alarm. Deletes everything if `due` is null: the agent no longer has a remote card. */
  async schedule(id: string, due: number | null): Promise<void> {
    const { storage } = this.#ctx
    if (due === null) {
      await storage.deleteAlarm()
      await storage.deleteAll()
      return
    }
    await storage.put('id', id)
    await storage.setAlarm(due)
  }

  /**
   * Refreshes the card if it is due; with `force` or `accept`, in any case. Concurrent callers share one refresh. A forced refresh
   * is only shared until it begins: the upstream may have changed since.
   */
  async refresh(id: string, options: RefreshOptions = {}): Promise<RefreshReport> {
    if (options.accept) return this.#enqueue(id, options)
    if (options.force) {
      this.#waiting ??= this.#enqueue(id, options)
      return this.#waiting
    }
    if (this.#last) return this.#last
    const due = await this.#ctx.storage.getAlarm()
    return due !== null && due > Date.now() ? { result: { outcome: 'not-due', due } } : this.#enqueue(id, options)
  }

  /** Refreshes the card when it is due. */
  async alarm(): Promise<void> {
    const id = await this.#ctx.storage.get<string>('id')
    if (id === undefined) return
    try {
      await this.#enqueue(id, {})
    } catch (error) {
      log('error', 'refresh-failed', { 'gen_ai.agent.id': id, 'exception.message': String(error) })
      // The platform repeats an alarm that fails.
      if ((await this.#ctx.storage.getAlarm()) === null) throw error
    }
  }

  #enqueue(id: string, options: RefreshOptions): Promise<RefreshReport> {
    const before = this.#last
    const run = async (): Promise<RefreshReport> => {
      await before?.catch(() => undefined)
      if (this.#waiting === refreshing) this.#waiting = undefined
      try {
        return await this.#run(id, options)
      } finally {
        if (this.#last === refreshing) this.#last = undefined
      }
    }
    const refreshing = run()
    this.#last = refreshing
    return refreshing
  }

  async #run(id: string, options: RefreshOptions): Promise<RefreshReport> {
    const { storage } = this.#ctx
    // The alarm retries a refresh that crashes or fails unexpectedly, later each time.
    const attempts = ((await storage.get<number>('attempts')) ?? 0) + 1
    await storage.put('attempts', attempts)
    await this.schedule(id, nextRefreshAt(0, attempts, Date.now()))
    const report = await refreshRemoteCard(id, options, this.#env, this.#ctx)
    await storage.put('attempts', 0)
    await this.schedule(id, report.state?.due ?? null)
    return report
  }
}
