import type { DurableObject } from 'cloudflare:workers'
import type { Registry } from './registry.ts'

/** The Registry as it is called from afar. The runtime's own type of it follows every value to its end, and JSON has none. */
type Truth = {
  [Name in Exclude<keyof Registry, keyof DurableObject>]: Registry[Name] extends (...asked: infer Asked) => infer Answer
    ? (...asked: Asked) => Promise<Awaited<Answer>>
    : never
}

/** The Registry of this host. One object keeps one namespace; another namespace would be another name. */
export const getRegistry = (env: Env): Truth => env.REGISTRY.getByName('default') as unknown as Truth
