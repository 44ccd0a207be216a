import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { A2AServer } from '@voltagent/a2a-server'

// An agent of VoltAgent. @voltagent/server-hono serves it in this way.

const agent = {
  id: 'weather',
  name: 'weather',
  purpose: 'Tells the weather',
  generateText: async said => {
    if (said === 'fail') throw new Error('boom')
    return { text: 'It rains', finishReason: 'stop', usage: { promptTokens: 1 } }
  },
  streamText: async () => ({
    textStream: (async function* () {
      yield 'It '
      yield 'rains'
    })(),
    text: Promise.resolve('It rains'),
    finishReason: Promise.resolve('stop'),
    usage: Promise.resolve({}),
  }),
}
const server = new A2AServer({
  id: 's',
  name: 's',
  version: '1.0',
  provider: { organization: 'Volt' },
  agents: { weather: agent },
})
server.initialize({ agentRegistry: { getAllAgents: () => [] } })

createServer(async (request, response) => {
  const requestUrl = `http://${request.headers.host}/`
  response.setHeader('Content-Type', 'application/json')
  if (request.method === 'GET') return void response.end(JSON.stringify(server.getAgentCard('weather', { requestUrl })))
  const answer = await server.handleRequest('weather', await json(request))
  if (answer.kind !== 'stream') {
    const headers = { 'Content-Type': 'application/json' }
    return void response.writeHead(answer.error ? 400 : 200, headers).end(JSON.stringify(answer))
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  for await (const event of answer.stream) response.write(`data: ${JSON.stringify(event)}\n\n`)
  response.end()
}).listen(Number(process.env.PORT), '127.0.0.1')
