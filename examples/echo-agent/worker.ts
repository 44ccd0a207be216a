import { handleAsNodeRequest } from 'cloudflare:node'
import { DurableObject } from 'cloudflare:workers'
import { createServer } from 'node:http'
import type { Express } from 'express'
import { createEchoApp, withoutRefusals } from './app.ts'

type Env = { AGENT: DurableObjectNamespace<EchoAgent> }

console.error = withoutRefusals(console.error)

const PORT = 8080
let app: Express
createServer((request, response) => app(request, response)).listen(PORT)

/**
 * Runs the agent. A task outlives the request that began it, but requests to a Worker share neither memory nor the time to
 * run; those to one Durable Object do.
 */
export class EchoAgent extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    // A new object starts without tasks, even in an isolate that ran the previous one.
    app = createEchoApp()
  }

  override fetch(request: Request): Promise<Response> {
    return handleAsNodeRequest(PORT, request)
  }
}

export default {
  fetch: (request, env) => env.AGENT.getByName('echo').fetch(request),
} satisfies ExportedHandler<Env>
