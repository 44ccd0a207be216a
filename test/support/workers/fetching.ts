import { WorkerEntrypoint } from 'cloudflare:workers'
import { fetchText } from '../../../src/http/fetch-resource.ts'
import { fetchService } from '../../../src/http/safe-fetch.ts'

/** A test's instructions to the Worker, in the header `Settings`. */
export type Settings = {
  url: string
  /** Fetches through a service binding. */
  service?: boolean
  timeoutSeconds?: number
}

/** A Worker behind a service binding: passes every request on. */
export class Upstream extends WorkerEntrypoint {
  override fetch(request: Request): Promise<Response> {
    return fetch(request)
  }
}

/** Runs `fetchText` in workerd. Keeps working afterwards, so that a connection ends only if `fetchText` closes it. */
export class Fetching extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const { url, service = false, ...options }: Settings = JSON.parse(request.headers.get('Settings') ?? '')
    this.ctx.waitUntil(scheduler.wait(30_000))
    const upstream = (this.ctx.exports as unknown as { Upstream: Fetcher }).Upstream
    const result = await fetchText(url, {
      allowedOrigins: new Set([new URL(url).origin]),
      ...(service && { fetch: (to, init) => fetchService(upstream, to, init) }),
      ...options,
    })
    return Response.json('failed' in result ? result : { content: result.content, redirected: result.redirected })
  }
}
