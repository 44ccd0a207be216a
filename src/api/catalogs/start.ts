import { WorkerEntrypoint } from 'cloudflare:workers'

/** The tag by which every cached list and catalog is purged. */
const CACHE_TAG = 'agents'

/** Public lists and catalogs: the only entrypoint behind Workers Cache. Its responses depend on the URL only. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    try {
      const url = new URL(request.url)
      const { renderList } = await import('../agents/lists.ts')
      const list = await renderList(url, this.env)
      const response = list ?? (await (await import('./catalog-documents.ts')).renderCatalog(url, this.env))
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
}
