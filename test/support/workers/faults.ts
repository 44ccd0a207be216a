import { Registry as RealRegistry } from '../../../src/index.ts'

export { Catalog, default } from '../../../src/index.ts'

/** The Registry of the host, with a KV that fails on command. */
export class Registry extends RealRegistry {
  readonly #faults: { failures: number }

  constructor(ctx: DurableObjectState, env: Env) {
    const faults = { failures: 0 }
    const put = async (...args: unknown[]) => {
      if (faults.failures-- > 0) throw new Error('KV failed')
      await (env.CARDS.put as (...args: unknown[]) => Promise<void>)(...args)
    }
    super(ctx, { ...env, CARDS: { put } as never })
    this.#faults = faults
  }

  /** Makes the next writes to KV fail. */
  fail(times: number): void {
    this.#faults.failures = times
  }
}
