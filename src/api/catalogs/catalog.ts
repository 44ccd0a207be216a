import { WorkerEntrypoint } from 'cloudflare:workers'
import { toErrorResponse } from '../../http/errors.ts'

/** The tag by which every cached list and catalog is purged. */
const CACHE_TAG = 'agents'

/** Public lists of agents and catalogs: the only entrypoint behind Workers Cache. Its responses depend on the URL only. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    // Caught here: an error loses its type on the way to the entrypoint that called.
    return this.#respond(new URL(request.url)).catch(toErrorResponse)
  }

  /** Deletes every cached list and catalog. A purge concerns only the cache of the entrypoint that makes it. */
  async purge(): Promise<void> {
    await this.ctx.cache?.purge({ tags: [CACHE_TAG] })
  }

  async #respond(url: URL): Promise<Response> {
    const { isListPath, catalogResponse } = await import('../agents/lists.ts')
    if (isListPath(url.pathname)) return catalogResponse(url, CACHE_TAG, this.env)
    const { renderCatalog } = await import('./documents.ts')
    return renderCatalog(url, CACHE_TAG, this.env)
  }
}
