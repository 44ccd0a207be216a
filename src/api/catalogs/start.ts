import { WorkerEntrypoint } from 'cloudflare:workers'

/** The tag by which every cached list and catalog is purged. */
const CACHE_TAG = 'agents'

/** Public lists and catalogs: the only entrypoint behind Workers Cache. Its responses depend on the URL only. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    try {
      const response = await this.#render(new URL(request.url))
      response.headers.set('Cache-Tag', CACHE_TAG)
      return response
    } catch (error) {
      // Caught here: an error loses its type on the way to the entrypoint that called.
      const { toErrorResponse } = await import('../../http/error-response.ts')
      return toErrorResponse(error)
    }
  }

  /** Deletes every cached list and catalog. A purge concerns only the cache of the entrypoint that makes it. */
  async purge(): Promise<void> {
    await this.ctx.cache?.purge({ tags: [CACHE_TAG] })
  }

  async #render(url: URL): Promise<Response> {
    const { isListPath, renderList } = await import('../agents/lists.ts')
    if (isListPath(url.pathname)) return renderList(url, this.env)
    const { renderCatalog } = await import('./catalog-documents.ts')
    return renderCatalog(url, this.env)
  }
}
