import { WorkerEntrypoint } from 'cloudflare:workers'
import * as v from 'valibot'
import type { A2ACall } from '../../../src/a2a/operations.ts'
import { missingCardProfile } from '../../../src/card/call-profile.ts'
import { Manifest } from '../../../src/card/manifest/manifest.ts'
import { permit } from '../../../src/gateway/gate/admit.ts'
import { agentById } from '../../../src/gateway/gate/exchange.ts'
import { Gate } from '../../../src/gateway/gate/gate.ts'
import { JsonRpcExchange } from '../../../src/gateway/receive/index.ts'
import { ResponseCheck } from '../../../src/gateway/responses/response-check.ts'
import { requestAgent } from '../../../src/gateway/send.ts'

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

/** Requests an agent in the real runtime, which checks its response. A failure is sent as JSON with status 599. */
export class Forwarding extends WorkerEntrypoint {
  override async fetch(request: Request): Promise<Response> {
    const settings: Settings = JSON.parse(request.headers.get('Settings') ?? '')
    const { url, service, streams = false, works, ...options } = settings
    if (works) this.ctx.waitUntil(scheduler.wait(60_000))
    const env = { ALLOWED_ORIGINS: new URL(url).origin } as Env
    const gate = new Gate('weather', missingCardProfile(v.parse(Manifest, { card: {} })), env, [])
    // What is observed of the agent must not keep the request alive.
    const ctx = { waitUntil: () => undefined } as unknown as ExecutionContext
    const call: A2ACall = {
      ...{ binding: 'JSONRPC', version: '1.0', dialect: '1.0', operation: streams ? 'stream' : 'send' },
      ...{ id: 7, params: {}, extensions: [] },
    }
    const check = new ResponseCheck(new JsonRpcExchange(request, env, ctx, agentById()), permit(gate, call))
    const result = await requestAgent(
      {
        url,
        init: { method: 'POST', body: await request.text(), redirect: 'manual' },
        route: {
          ...{ credentials: { pass: [] }, timeoutSeconds: 5 },
          service: service ? (this.ctx.exports as unknown as { Agent: Fetcher }).Agent : undefined,
        },
      },
      { form: call, check, translate: undefined, hasSecret: false, idleSeconds: 5, ...options },
    )
    return 'kind' in result ? Response.json(result, { status: 599 }) : result
  }
}
