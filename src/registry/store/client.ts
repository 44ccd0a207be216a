import type { DurableObject } from 'cloudflare:workers'
import type { Registry } from './registry.ts'

/** The methods of a Durable Object as other Workers call them. The runtime's own type never ends on recursive types such as Json. */
export type RpcClient<Class> = {
  [Name in Exclude<keyof Class, keyof DurableObject>]: Class[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args) => Promise<Awaited<Result>>
    : never
}

/** Returns the Registry of this host. One object serves one namespace; there is one, named `default`. */
export const getRegistry = (env: Env): RpcClient<Registry> =>
  env.REGISTRY.getByName('default') as unknown as RpcClient<Registry>
