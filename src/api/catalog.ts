import { WorkerEntrypoint } from 'cloudflare:workers'
import { toErrorResponse } from '../http/errors.ts'

/** The tag by which every cached list is purged. */
const CACHE_TAG = 'agents'

/** Public lists of agents: the only entrypoint behind Workers Cache. Its responses depend on the URL only. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    const { catalogResponse } = await import('./agent-lists.ts')
    // Caught here: an error loses its type on the way to the entrypoint that called.
    return catalogResponse(new URL(request.url), CACHE_TAG, this.env).catch(toErrorResponse)
  }

  /** Deletes every cached list. A purge concerns only the cache of the entrypoint that makes it. */
  async purge(): Promise<void> {
    await this.ctx.cache?.purge({ tags: [CACHE_TAG] })
  }
}
