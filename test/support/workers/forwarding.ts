import { WorkerEntrypoint } from 'cloudflare:workers'
import { forward } from '../../../src/gateway/upstream/forward.ts'

/** A test's instructions to the Worker, in the header `Settings`. */
export type Settings = {
  url: string
  /** Sends the call through a service binding. */
  service?: boolean
  streams?: boolean
  idleSeconds?: number
  heartbeatSeconds?: number
  maxBytes?: number
  /** Keeps other work of the same request running for a minute. */
  works?: boolean
}

/** An agent behind a service binding: passes every request on, or declares a false length for its response. */
export class Agent extends WorkerEntrypoint {
  override fetch(request: Request): Promise<Response> | Response {
    if (!request.url.endsWith('/lies')) return fetch(request)
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    void writer.write(new Uint8Array(2000)).then(() => writer.close())
    return new Response(readable, { headers: { 'Content-Type': 'application/json', 'Content-Length': '5' } })
  }
}

/** Runs `forward` in the real runtime. A failure is sent as JSON with status 599. */
export class Forwarding extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const settings: Settings = JSON.parse(request.headers.get('Settings') ?? '')
    const { url, service, streams = false, works, ...options } = settings
    if (works) this.ctx.waitUntil(scheduler.wait(60_000))
    const agent = (this.ctx.exports as unknown as { Agent: Fetcher }).Agent
    const form = { binding: 'JSONRPC', version: '1.0', id: 7, operation: streams ? 'stream' : 'send' } as const
    const result = await forward(
      {
        form,
        answered: form,
        target: { binding: 'JSONRPC', version: '1.0', url },
        service: service ? agent : undefined,
        method: 'POST',
        body: await request.text(),
        streams,
        extensions: [],
        headers: request.headers,
        containsHostToken: () => false,
        credentials: { pass: [] },
      },
      {
        timeoutSeconds: 5,
        idleSeconds: 5,
        allowedOrigins: new Set([new URL(url).origin]),
        pseudonym: 'test',
        answers: { level: 'enforce', warn: () => undefined },
        ...options,
      },
    )
    return 'kind' in result ? Response.json(result, { status: 599 }) : result
  }
}
