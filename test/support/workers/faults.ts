import { Catalog as RealCatalog, Registry as RealRegistry } from '../../../src/index.ts'

export { default } from '../../../src/index.ts'

/** The Catalog of the host, with a cache that records purges: the local runtime has none. */
export class Catalog extends RealCatalog {
  override async purge(): Promise<void> {
    const registry = this.env.REGISTRY.getByName('default') as unknown as Registry
    const purge = ({ tags }: { tags: string[] }) => registry.notePurge(tags)
    Object.defineProperty(this.ctx, 'cache', { value: { purge } })
    await super.purge()
  }
}

/** The Registry of the host, with a KV that fails on command. */
export class Registry extends RealRegistry {
  readonly #purged: string[] = []
  readonly #faults: { failures: number; puts: string[]; inFlight: Map<string, number>; maxConcurrent: number }

  constructor(ctx: DurableObjectState, env: Env) {
    const faults = { failures: 0, puts: [] as string[], inFlight: new Map<string, number>(), maxConcurrent: 0 }
    const put = async (key: string, ...rest: unknown[]) => {
      faults.puts.push(key)
      if (faults.failures-- > 0) throw new Error('KV failed')
      const current = (faults.inFlight.get(key) ?? 0) + 1
      faults.inFlight.set(key, current)
      faults.maxConcurrent = Math.max(faults.maxConcurrent, current)
      await scheduler.wait(2)
      await (env.CARDS.put as (...args: unknown[]) => Promise<void>)(key, ...rest)
      faults.inFlight.set(key, (faults.inFlight.get(key) ?? 1) - 1)
    }
    super(ctx, { ...env, CARDS: { put } as never })
    this.#faults = faults
  }

  /** Records that cached responses of these tags were purged. */
  async notePurge(tags: string[]): Promise<void> {
    this.#purged.push(...tags)
  }

  /** Returns the tags that were purged so far. */
  purged(): string[] {
    return this.#purged
  }

  /** Makes the next writes to KV fail. */
  fail(times: number): void {
    this.#faults.failures = times
  }

  /** Runs the alarm now, as the platform does when what has failed is due again. */
  retry(): Promise<void> {
    this.ctx.storage.sql.exec('UPDATE outbox SET due = 0')
    return this.alarm()
  }

  /** Returns the largest number of concurrent writes of one key. */
  maxConcurrentWrites(): number {
    return this.#faults.maxConcurrent
  }

  /** Returns the keys that were written to KV, in order. */
  writes(): string[] {
    return this.#faults.puts
  }
}
