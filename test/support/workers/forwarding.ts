import { WorkerEntrypoint } from 'cloudflare:workers'
import { forward } from '../../../src/gateway/forward.ts'

/** What a test asks of the Worker, in the header `Settings`. */
export type Settings = {
  url: string
  /** Whether the call goes to a Worker that is bound, and that passes it on. */
  service?: boolean
  streams?: boolean
  timeoutSeconds?: number
  idleSeconds?: number
  heartbeatSeconds?: number
  maxBytes?: number
  /** Whether other work of the same request goes on for longer. */
  works?: boolean
}

/** An agent behind a service binding: it passes every request on, or lies about the length of its own answer. */
export class Agent extends WorkerEntrypoint {
  override fetch(request: Request): Promise<Response> | Response {
    if (!request.url.endsWith('/lies')) return fetch(request)
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    void writer.write(new Uint8Array(2000)).then(() => writer.close())
    return new Response(readable, { headers: { 'Content-Type': 'application/json', 'Content-Length': '5' } })
  }
}

/** Only `forward`, for tests of it in the real runtime. A failure is told as JSON, with the status 599. */
export class Forwarding extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const settings: Settings = JSON.parse(request.headers.get('Settings') ?? '')
    const { url, service, streams = false, works, ...options } = settings
    if (works) this.ctx.waitUntil(scheduler.wait(60_000))
    const agent = (this.ctx.exports as unknown as { Agent: Fetcher }).Agent
    const came = await forward(
      {
        form: { binding: 'JSONRPC', version: '1.0', id: 7 },
        target: { binding: 'JSONRPC', version: '1.0', url },
        service: service ? agent : undefined,
        method: 'POST',
        body: await request.text(),
        streams,
        extensions: [],
        headers: request.headers,
        credentials: { pass: [] },
      },
      { timeoutSeconds: 5, idleSeconds: 5, allowedOrigins: new URL(url).origin, pseudonym: 'test', ...options },
    )
    return 'kind' in came ? Response.json(came, { status: 599 }) : came
  }
}
