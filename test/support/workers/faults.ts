import { Catalog as RealCatalog, Registry as RealRegistry } from '../../../src/index.ts'

export { default } from '../../../src/index.ts'

/** The host's own lists, behind a cache that records purges: the local runtime has none. */
export class Catalog extends RealCatalog {
  override async purge(): Promise<void> {
    const registry = this.env.REGISTRY.getByName('default') as unknown as Registry
    const purge = (what: { tags: string[] }) => registry.notePurge(what.tags)
    Object.defineProperty(this.ctx, 'cache', { value: { purge } })
    await super.purge()
  }
}

/** The host's own Registry, in front of a KV that fails on command. */
export class Registry extends RealRegistry {
  readonly #purged: string[] = []
  readonly #faults: { failures: number; puts: string[]; underWay: Map<string, number>; most: number }

  constructor(ctx: DurableObjectState, env: Env) {
    const faults = { failures: 0, puts: [] as string[], underWay: new Map<string, number>(), most: 0 }
    const put = async (key: string, ...rest: unknown[]) => {
      faults.puts.push(key)
      if (faults.failures-- > 0) throw new Error('KV failed')
      const now = (faults.underWay.get(key) ?? 0) + 1
      faults.underWay.set(key, now)
      faults.most = Math.max(faults.most, now)
      await scheduler.wait(2)
      await (env.CARDS.put as (...args: unknown[]) => Promise<void>)(key, ...rest)
      faults.underWay.set(key, now - 1)
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

  /** Runs the alarm now, as the platform does later. */
  retry(): Promise<void> {
    return this.alarm()
  }

  /** Returns the largest number of concurrent writes of one key. */
  mostAtOnce(): number {
    return this.#faults.most
  }

  /** Returns the keys that were written to KV, in order. */
  writes(): string[] {
    return this.#faults.puts
  }
}
