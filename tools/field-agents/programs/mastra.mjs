import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { InMemoryTaskStore } from '@mastra/server/a2a/store'
import { AGENT_EXECUTION_ROUTE } from '@mastra/server/handlers/a2a'

// An agent of Mastra, served by the handler of its own route.

const finish = { toolCalls: [], toolResults: [], usage: {}, finishReason: 'stop' }
const agent = {
  id: 'weather',
  name: 'weather',
  getInstructions: async () => 'Tell the weather',
  listTools: async () => ({}),
  generate: async messages => {
    if (JSON.stringify(messages).includes('fail')) throw new Error('boom')
    return { text: 'It rains', ...finish }
  },
  stream: async () => ({
    fullStream: (async function* () {
      yield { type: 'text-delta', payload: { text: 'It ' } }
      yield { type: 'text-delta', payload: { text: 'rains' } }
    })(),
    text: Promise.resolve('It rains'),
    object: Promise.resolve(undefined),
    ...Object.fromEntries(Object.entries(finish).map(([name, value]) => [name, Promise.resolve(value)])),
  }),
}
const mastra = {
  getAgent: () => agent,
  getAgentById: () => agent,
  listAgents: () => ({ weather: agent }),
  getLogger: () => undefined,
  getServer: () => undefined,
  getStorage: () => undefined,
}
const taskStore = new InMemoryTaskStore()

createServer(async (request, response) => {
  const url = `http://${request.headers.host}/`
  response.setHeader('Content-Type', 'application/json')
  if (request.method === 'GET') {
    const capabilities = { streaming: true, pushNotifications: true, stateTransitionHistory: false }
    const modes = { defaultInputModes: ['text'], defaultOutputModes: ['text'] }
    const skills = [{ id: 'now', name: 'now', description: 'The weather now', tags: ['tool'] }]
    const card = {
      name: 'weather',
      description: 'Tells the weather',
      version: '1.0',
      url,
      capabilities,
      ...modes,
      skills,
    }
    return void response.end(JSON.stringify(card))
  }
  const call = {
    ...{ mastra, taskStore, agentId: 'weather', requestContext: new Map() },
    request: new Request(url, { method: 'POST' }),
    ...(await json(request)),
  }
  const answer = await AGENT_EXECUTION_ROUTE.handler(call)
  response.writeHead(answer.status, Object.fromEntries(answer.headers))
  Readable.fromWeb(answer.body).pipe(response)
}).listen(Number(process.env.PORT), '127.0.0.1')
