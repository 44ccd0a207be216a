import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { A2AHttpServer, createA2AHttpServer, createA2AServer, generateAgentCard } from '@reactive-agents/a2a'
import { Effect, Layer } from 'effect'

// An agent of Reactive Agents, which is made for Bun: `Bun.serve` is all that it needs of it.

globalThis.Bun = {
  serve: ({ port, fetch: respond }) => {
    const server = createServer(async (request, response) => {
      const { method, headers, url } = request
      const body = method === 'POST' ? await buffer(request) : undefined
      const answer = await respond(new Request(`http://127.0.0.1${url}`, { method, headers, body }))
      const kept = [...answer.headers].filter(([name]) => name !== 'connection')
      response.writeHead(answer.status, Object.fromEntries(kept)).end(await buffer(answer.body))
    }).listen(port, '127.0.0.1')
    return { stop: () => server.close() }
  },
}

const port = Number(process.env.PORT)
const url = `http://127.0.0.1:${port}/`
const card = generateAgentCard({
  name: 'weather',
  description: 'Tells the weather',
  url,
  organization: 'Reactive Agents',
})
const answer = said => (said === 'fail' ? Effect.fail(new Error('boom')) : Effect.succeed('It rains'))
const start = Effect.gen(function* () {
  const server = yield* A2AHttpServer
  yield* server.start()
})
await Effect.runPromise(
  start.pipe(Effect.provide(createA2AHttpServer(port, answer).pipe(Layer.provide(createA2AServer(card))))),
)
