import { registerHooks } from 'node:module'

// Has modules of the Worker load in Node: this module is imported before they are, which must be with `import()`.
const stub = new URL('../../test/support/workers/cloudflare-workers.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'cloudflare:workers' ? { url: stub, shortCircuit: true } : next(specifier, context),
})
