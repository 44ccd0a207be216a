import { lazyObject, type RpcClient } from '../lazy-object.ts'

/** The record of truth about what is registered. The edge reads KV instead. */
export class Registry extends lazyObject(
  (ctx: DurableObjectState, env: Env) =>
    ctx.blockConcurrencyWhile(async () => (await import('./store.ts')).createStore(ctx, env)),
  [
    ...(['register', 'registerAll', 'remove', 'clearTasks', 'recordRefresh', 'recordRefusal'] as const),
    ...(['manifest', 'document', 'list', 'search', 'catalog', 'sitemap', 'namedAgents', 'upstreamBindings'] as const),
    ...(['revisions', 'revision', 'latestRevision', 'sourceRecord', 'sourceState', 'refreshBase'] as const),
    ...(['beginCheck', 'endCheck', 'observations', 'recordObservations', 'health', 'signingState', 'alarm'] as const),
    ...(['issueToken', 'revokeToken', 'tokens', 'audit', 'exportPage', 'importStep'] as const),
  ],
) {}

/** Returns the Registry of this host. One object serves one namespace; there is one, named `default`. */
export const getRegistry = (env: Env): RpcClient<Registry> =>
  env.REGISTRY.getByName('default') as unknown as RpcClient<Registry>
