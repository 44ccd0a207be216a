import type { Registry } from './registry.ts'

/** The Registry of this host. One object keeps one namespace; another namespace would be another name. */
export const truth = (env: Env): DurableObjectStub<Registry> => env.REGISTRY.getByName('default')
