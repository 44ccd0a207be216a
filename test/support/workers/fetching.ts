import { WorkerEntrypoint } from 'cloudflare:workers'
import { fetchService } from '../../../src/http/bindings.ts'
import { fetchText } from '../../../src/http/fetch-resource.ts'
import { isJsonType } from '../../../src/http/media-type.ts'

/** What a test asks of the Worker, in the header `Settings`. */
export type Settings = {
  url: string
  /** Whether it is asked for by way of a Worker that is bound, and that passes it on. */
  service?: boolean
  timeoutSeconds?: number
  maxBytes?: number
}

/** A Worker behind a service binding: it passes every request on. */
export class Upstream extends WorkerEntrypoint {
  override fetch(request: Request): Promise<Response> {
    return fetch(request)
  }
}

/** Only `guardedText`, for tests of it in the real runtime; where other work goes on, connections end only if they are ended. */
export class Fetching extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const { url, service = false, ...options }: Settings = JSON.parse(request.headers.get('Settings') ?? '')
    this.ctx.waitUntil(scheduler.wait(30_000))
    const upstream = (this.ctx.exports as unknown as { Upstream: Fetcher }).Upstream
    const came = await fetchText(url, {
      accepts: isJsonType,
      allowedOrigins: new URL(url).origin,
      credentials: { Authorization: 'Bearer s3cret' },
      ...(service && { fetch: (to, init) => fetchService(upstream, to, init) }),
      ...options,
    })
    return Response.json('failed' in came ? came : { content: came.content, redirected: came.redirected })
  }
}
