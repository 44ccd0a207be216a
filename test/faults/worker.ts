import { Catalog as RealCatalog, Registry as RealRegistry } from '../../src/index.ts'

export { default } from '../../src/index.ts'

/** The host's own lists, behind a cache that notes what is purged: the local runtime has none. */
export class Catalog extends RealCatalog {
  override async forget(): Promise<void> {
    const registry = this.env.REGISTRY.getByName('default') as unknown as Registry
    const purge = (what: { tags: string[] }) => registry.notePurge(what.tags)
    Object.defineProperty(this.ctx, 'cache', { value: { purge } })
    await super.forget()
  }
}

/** The host's own Registry, before a KV that fails on command. */
export class Registry extends RealRegistry {
  readonly #purged: string[] = []
  readonly #faults: { failures: number; puts: number }

  constructor(ctx: DurableObjectState, env: Env) {
    const faults = { failures: 0, puts: 0 }
    const failing = <Write extends 'put' | 'delete'>(name: Write) =>
      (async (...args: Parameters<KVNamespace[Write]>) => {
        faults.puts++
        if (faults.failures-- > 0) throw new Error('KV said no')
        return (env.CARDS[name] as (...args: unknown[]) => Promise<void>)(...args)
      }) as never
    super(ctx, { ...env, CARDS: { put: failing('put'), delete: failing('delete') } as never })
    this.#faults = faults
  }

  /** Notes that cached responses of these tags were purged. */
  async notePurge(tags: string[]): Promise<void> {
    this.#purged.push(...tags)
  }

  /** The tags that were purged so far. */
  purged(): string[] {
    return this.#purged
  }

  /** Makes the next writes to KV fail. */
  fail(times: number): void {
    this.#faults.failures = times
  }

  /** Runs the alarm now, as the platform will later. */
  retry(): Promise<void> {
    return this.alarm()
  }

  /** How many writes KV was asked for. */
  writes(): number {
    return this.#faults.puts
  }
}
