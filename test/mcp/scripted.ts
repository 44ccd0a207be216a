import type { Handle } from './http-server.ts'

/** What a scripted server answers to one method of MCP: a result, or a whole response. */
type Answer = object | ((params: Record<string, unknown>) => object | Promise<object>)

/** A JSON-RPC answer over HTTP. */
export const rpc = (answer: object, status = 200, headers: Record<string, string> = {}): Response =>
  Response.json({ jsonrpc: '2.0', id: 0, ...answer }, { status, headers })

/** An event stream that says some messages, and never ends. */
export const endless = (...messages: object[]): Response => {
  const body = new ReadableStream<Uint8Array>({
    start: controller => {
      const events = messages.map(message => `data: ${JSON.stringify({ jsonrpc: '2.0', id: 0, ...message })}\n\n`)
      controller.enqueue(new TextEncoder().encode(`: hello\n\n${events.join('')}`))
    },
  })
  return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } })
}

/** What a server says as a session opens. */
export const initialized = (capabilities: object = { tools: {} }, protocolVersion = '2025-06-18') => ({
  protocolVersion,
  capabilities,
  serverInfo: { name: 'Scripted', version: '1.0.0' },
})

/** An MCP server by hand, which answers as `script` says, where it says something, and else as a small one would. */
export const scripted =
  (script: Record<string, Answer> = {}): Handle =>
  async request => {
    if (request.method !== 'POST') return new Response(null, { status: 405 })
    const { id, method, params = {} } = (await request.json()) as { id?: number; method: string; params?: object }
    const answer = { ...small, ...script }[method] ?? rpc({ error: { code: -32601, message: 'Method not found' } })
    const came = typeof answer === 'function' ? await answer({ ...params }) : answer
    if (!(came instanceof Response)) return rpc({ id, result: came })
    return came.headers.get('Content-Type') === 'application/json' && came.status === 200
      ? Response.json({ ...((await came.json()) as object), ...(id !== undefined && { id }) }, came)
      : came
  }

const small: Record<string, Answer> = {
  initialize: () => initialized(),
  'notifications/initialized': () => new Response(null, { status: 202 }),
  'notifications/cancelled': () => new Response(null, { status: 202 }),
  'tools/list': () => ({ tools: [{ name: 'look', inputSchema: { type: 'object' } }] }),
}
