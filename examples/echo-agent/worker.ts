import { handleAsNodeRequest } from 'cloudflare:node'
import { DurableObject } from 'cloudflare:workers'
import { createServer } from 'node:http'
import type { Express } from 'express'
import { echoApp } from './app.ts'

type Env = { AGENT: DurableObjectNamespace<EchoAgent> }

const port = 8080
let app: Express
createServer((request, response) => app(request, response)).listen(port)

/**
 * The agent. It is a Durable Object because a task outlives the request that began it: a Worker's requests may not wait for
 * each other's work, and may not even run on the same machine; those of one object share its memory and its time.
 */
export class EchoAgent extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    // An object that was away comes back without its memory.
    app = echoApp()
  }

  override fetch(request: Request): Promise<Response> {
    return handleAsNodeRequest(port, request)
  }
}

export default {
  fetch: (request, env) => env.AGENT.getByName('echo').fetch(request),
} satisfies ExportedHandler<Env>
