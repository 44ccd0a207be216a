import { WorkerEntrypoint } from 'cloudflare:workers'

/** The tag by which every cached list is purged. */
const tag = 'agents'

/** Public lists, behind Workers Cache: the only entrypoint that it keeps. What it answers depends on the URL alone. */
export class Catalog extends WorkerEntrypoint<Env> {
  override async fetch(request: Request): Promise<Response> {
    const { catalogPage } = await import('./agent-lists.ts')
    return catalogPage(new URL(request.url), tag, this.env)
  }

  /** Drops every cached list. A purge reaches only the cache of the entrypoint that asks for it. */
  async purge(): Promise<void> {
    await this.ctx.cache?.purge({ tags: [tag] })
  }
}
