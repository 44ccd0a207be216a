import { Registry } from '../../src/registry/store/registry.ts'
import { openStorage } from './storage.ts'

/** Starts a Registry in Node, with an empty storage. The runtime would let requests wait until it is ready. */
export const startRegistry = async (env: unknown, ctx: object = {}): Promise<Registry> => {
  const started: Promise<unknown>[] = []
  const blockConcurrencyWhile = (work: () => Promise<unknown>) => {
    const done = work()
    started.push(done)
    return done
  }
  const registry = new Registry({ ...ctx, ...openStorage(), blockConcurrencyWhile } as never, env as Env)
  await Promise.all(started)
  return registry
}
