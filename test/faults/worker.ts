import { Registry as RealRegistry } from '../../src/index.ts'

export { Catalog, default } from '../../src/index.ts'

/** The host's own Registry, before a KV that fails on command. */
export class Registry extends RealRegistry {
  #faults: { failures: number; puts: number }

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
