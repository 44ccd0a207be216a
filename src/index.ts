export default { fetch: () => new Response('') } satisfies ExportedHandler<Env>
import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers'
export class Registry extends DurableObject<Env> {}
export class Catalog extends WorkerEntrypoint<Env> { override async fetch() { return new Response('') } }
