import type { JsonObject } from '../../src/json/json.ts'
import { createRandom, type Random } from '../fuzz/requests.ts'
import { servedCard } from './agents.ts'
import { goodResponse, otherResponses } from './call-responses.ts'
import { TASK_SUFFIXES } from './parameters.ts'
import { type AgentRequest, type AgentResponse, jsonResponse, parseObject, readCall } from './received-call.ts'

/** What decides how the agent responds to a step of a case. */
export type Script = { seed: number; isGood: boolean; caseNumber: number }

/** Returns the response to a request, the same for the same script and request. */
export const makeResponse = (script: Script, request: AgentRequest, origin: string): AgentResponse => {
  const random = createRandom(script.seed)
  const [, agent = '', endpoint = '', ...rest] = request.path.split('?', 1)[0]?.split('/') ?? []
  if (endpoint === 'card') return jsonResponse(servedCard(agent, origin, false))
  if (endpoint === 'mcp') return mcpResponse(request, random)
  const call = readCall(endpoint, rest.join('/'), request)
  if (call === undefined) return { ...jsonResponse({ error: { code: 404, message: 'unknown' } }), status: 404 }
  const respond = script.isGood || random.chance(0.45) ? goodResponse : random.pick(otherResponses)
  const response = respond(call, random, { agent, origin })
  const named = response.body
    .replaceAll(
      '"t-1"',
      JSON.stringify(call.taskId ?? `task-${script.caseNumber}${TASK_SUFFIXES[script.seed % TASK_SUFFIXES.length]}`),
    )
    .replaceAll('"t-2"', `"task-${script.caseNumber}-b"`)
    .replaceAll('"t-3"', `"task-${script.caseNumber}-c"`)
    .replaceAll('"c-1"', JSON.stringify(call.contextId ?? `context-${script.caseNumber}`))
  return { ...response, body: named }
}

const mcpTools = [
  {
    name: 'look',
    description: 'Looks at the weather',
    inputSchema: { type: 'object', properties: { place: { type: 'string' } } },
  },
  {
    name: 'measure',
    description: 'Measures rain',
    inputSchema: { type: 'object', required: ['hours'], properties: { hours: { type: 'number' } } },
  },
]

const toolResults: readonly JsonObject[] = [
  { content: [{ type: 'text', text: 'It rains' }] },
  { content: [{ type: 'text', text: 'It rains' }], structuredContent: { rain: 1 } },
  { content: [{ type: 'image', data: 'iVBORw0=', mimeType: 'image/png' }] },
  { content: [{ type: 'text', text: 'No such place' }], isError: true },
  { content: [] },
  { content: [{ type: 'resource_link', uri: 'https://a.example/rain', name: 'rain' }] },
  { content: [{ type: 'unknown' }] },
  {},
]

const mcpResponse = ({ method, body }: AgentRequest, random: Random): AgentResponse => {
  const call = parseObject(body)
  if (method !== 'POST' || call.id === undefined)
    return { status: method === 'POST' ? 202 : 405, headers: [], body: '', framing: 'length' }
  const answer = (more: JsonObject) => jsonResponse({ jsonrpc: '2.0', id: call.id ?? null, ...more })
  switch (call.method) {
    case 'initialize':
      return answer({
        result: {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'Tools', version: '1.0.0' },
        },
      })
    case 'tools/list':
      return answer({ result: { tools: mcpTools } })
    case 'tools/call':
      return random.chance(0.8)
        ? answer({ result: random.pick(toolResults) })
        : random.pick([
            answer({ error: { code: -32602, message: 'The arguments are wrong' } }),
            answer({ error: { code: -32603, message: 'It failed' } }),
            { ...answer({}), status: 500 },
          ])
    default:
      return answer({ error: { code: -32601, message: 'Method not found' } })
  }
}
