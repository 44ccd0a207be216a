import type { Requests } from './load.ts'
import { zipf } from './stats.ts'

/** Returns the card of GopherHole's quick example. Its name and URL contain the id, as those of different agents would. */
export const quickCard = (id: string) => ({
  name: `Weather Agent ${id}`,
  description: 'Get current weather and forecasts for any location',
  url: `https://${id}.example.com`,
  version: '1.0.0',
  protocolVersion: '1.0',
  capabilities: { streaming: true, pushNotifications: true, multiTurn: true },
  supportedInputModes: ['text/plain', 'application/json'],
  supportedOutputModes: ['text/plain', 'application/json'],
  skills: [
    {
      id: 'forecast',
      name: 'Weather Forecast',
      description: 'Get weather forecast for a location',
      examples: ['weather in Tokyo', 'forecast for New York tomorrow'],
    },
  ],
})

/** Returns a card of about `bytes` bytes of JSON, with as many skills as that takes. */
export const cardOfSize = (bytes: number, version: string) => {
  const skill = (index: number) => ({
    id: `skill-${index}`,
    name: `Skill number ${index}`,
    description: 'Answers one kind of question, and says so at some length. '.repeat(bytes > 50_000 ? 7 : 2).trim(),
    tags: ['weather', 'forecast', `group-${index % 7}`],
    examples: ['What is the weather in Auckland?', 'Will it rain tomorrow?'],
    inputModes: ['text/plain'],
    outputModes: ['text/plain', 'application/json'],
  })
  const card = { ...quickCard('agent-000000'), version, skills: [skill(0)] }
  const each = JSON.stringify(skill(100)).length + 1
  const more = Math.max(0, Math.round((bytes - JSON.stringify(card).length) / each))
  return { ...card, skills: Array.from({ length: more + 1 }, (_, index) => skill(index)) }
}

/** Returns the id of the agent at a rank of popularity. All ids have one width, so that KV can derive cards from one card. */
export const idOf = (rank: number): string => `agent-${String(rank).padStart(6, '0')}`

/** Returns the path of an agent's card. */
export const cardPath = (id: string): string => `/agents/${id}/.well-known/agent-card.json`

/** Requests one agent's card again and again; with an entity tag, conditionally, which expects 304. */
export const sameCard = (id: string, etag?: string): Requests => {
  const request = getCard(id, etag === undefined ? '' : `If-None-Match: ${etag}\r\n`)
  return { next: () => request, status: etag === undefined ? 200 : 304 }
}

/** Requests cards of `agents` agents by Zipf's law. */
export const zipfCards = (agents: number, seed: number): Requests => {
  const draw = zipf(agents, seed)
  const requests = eachCard(agents)
  return { next: () => requests[draw()] as Buffer, status: 200 }
}

/** Requests the cards of `agents` agents in turn, least popular first, so that a cache ends with the most popular ones. */
export const everyCard = (agents: number): Requests => {
  const requests = eachCard(agents)
  let sent = 0
  return { next: () => requests[agents - 1 - (sent++ % agents)] as Buffer, status: 200 }
}

const eachCard = (agents: number): Buffer[] => Array.from({ length: agents }, (_, rank) => getCard(idOf(rank), ''))

const getCard = (id: string, header: string): Buffer =>
  Buffer.from(
    `GET ${cardPath(id)} HTTP/1.1\r\nHost: cards.example.com\r\nUser-Agent: bench\r\nAccept: application/json\r\n${header}\r\n`,
  )

/** Returns the path of an agent's JSON-RPC endpoint. */
export const callPath = (id: string): string => `/agents/${id}/a2a`

/** Returns the body of an A2A 1.0 call that sends one line of text. */
export const callBody = (
  method: string,
  text: string,
  acceptedOutputModes: readonly string[] = ['text/plain'],
): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }] },
      configuration: { acceptedOutputModes },
    },
  })

/** Returns the body of a call of A2A 0.3 that sends one line of text. */
export const oldCallBody = (method: 'message/send' | 'message/stream', text: string): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      message: { kind: 'message', messageId: 'm-1', role: 'user', parts: [{ kind: 'text', text }] },
      configuration: { acceptedOutputModes: ['text/plain'] },
    },
  })

/** A POST: its path, its body, and the headers that differ from one to another. */
export type Post = { path: string; body: string; headers: Record<string, string> }

/** Returns a call of A2A over JSON-RPC, in 1.0 unless another version is named. */
export const rpcCall = (id: string, body: string, version: '1.0' | '0.3' = '1.0'): Post => ({
  path: callPath(id),
  body,
  headers: { 'Content-Type': 'application/json', 'A2A-Version': version },
})

/** Returns a call of A2A 1.0 over HTTP+JSON that sends the message of a call over JSON-RPC. */
export const restCall = (id: string, body: string): Post => ({
  path: `${callPath(id)}/message:send`,
  body: JSON.stringify((JSON.parse(body) as { params: unknown }).params),
  headers: { 'Content-Type': 'application/a2a+json', 'A2A-Version': '1.0' },
})

const MCP_VERSION = '2026-07-28'

/** Returns the call of a tool of an agent's MCP server that sends one line of text, as a client without extensions does. */
export const toolCall = (id: string, name: string, text: string): Post => ({
  path: `/agents/${id}/mcp`,
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: {
      ...{ name, arguments: { message: text } },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': MCP_VERSION,
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
        'io.modelcontextprotocol/clientCapabilities': {},
      },
    },
  }),
  headers: {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    ...{ 'MCP-Protocol-Version': MCP_VERSION, 'Mcp-Method': 'tools/call', 'Mcp-Name': name },
  },
})

/** Returns the arguments of `fetch` that send a POST once. */
export const postInit = ({ body, headers }: Post): RequestInit => ({
  ...{ method: 'POST', headers: { Accept: '*/*', ...headers }, body },
})

/** Sends one call to an agent again and again. */
export const sameCall = (id: string, body: string): Requests => samePost(rpcCall(id, body))

/** Sends one POST again and again. */
export const samePost = ({ path, body, headers }: Post): Requests => {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: cards.example.com',
    'User-Agent: bench',
    ...Object.entries({ Accept: 'application/json', ...headers }).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  return { next: () => request, status: 200 }
}
