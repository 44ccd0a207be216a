import { router } from './router.ts'

export { Registry } from './registry/registry.ts'
export { Catalog } from './routes/catalog.ts'

export default { fetch: (request, env, ctx) => router.fetch(request, env, ctx) } satisfies ExportedHandler<Env>
