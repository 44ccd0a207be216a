/** Lets Node load files of the Worker: resolves the module of the Workers runtime to the one that tests use. */

import { registerHooks } from 'node:module'

const standIn = new URL('../../test/support/workers/cloudflare-workers.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === 'cloudflare:workers' ? { url: standIn, shortCircuit: true } : nextResolve(specifier, context),
})

// tools/build.ts defines it in the bundle.
Object.assign(globalThis, { ASSET_PATHS: {} })
