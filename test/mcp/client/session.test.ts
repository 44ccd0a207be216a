import { setImmediate } from 'node:timers/promises'
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import packageJson from '../../../package.json' with { type: 'json' }
import type { JsonObject } from '../../../src/json/json.ts'
import { clientInfo, openSession, type Session, type SessionOptions } from '../../../src/mcp/client/session.ts'
import { endless, initialized, scripted } from '../../support/mcp-server.ts'
import { type FetchHandler, startUpstream, type UpstreamServer } from '../../support/upstream.ts'

let http: UpstreamServer
beforeAll(async () => {
  http = await startUpstream()
})
afterAll(() => http.close())

const open = async (handle: FetchHandler, options: SessionOptions = {}): Promise<Session> => {
  http.serve(handle)
  const session = await openSession(`${http.origin}/mcp`, fetch, options)
  if ('failure' in session) throw new Error(session.failure.message)
  return session.session
}

type SessionCall = Parameters<Session['callTool']>[2]

const callTool = (session: Session, name: string, args: JsonObject = {}, options: Partial<SessionCall> = {}) =>
  session.callTool(name, args, {
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    maxTimeoutMs: 60_000,
    onProgress: () => undefined,
    onElicitation: async () => ({ action: 'cancel' }),
    ...options,
  })

it('sends the version of this host as that of the client', () => {
  expect(clientInfo.version).toBe(packageJson.version)
})

it('closes a session even when the server never responds to its DELETE request', async () => {
  const script = scripted({ initialize: withSession, 'tools/call': () => endless() })
  // The timeout of the DELETE request expires as soon as the server has received it.
  const timeout = new AbortController()
  const session = await open(request => {
    if (request.method !== 'DELETE') return script(request)
    timeout.abort()
    return new Promise<Response>(() => undefined)
  })
  const failing = callTool(session, 'look')
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(timeout.signal)
  await session.close()
  expect(await failing).toEqual({
    failure: { code: 'not-ready', message: 'The MCP server session was closed by this host.' },
  })
})

/** The response of a server that opens a session. */
const withSession = () =>
  Response.json({ jsonrpc: '2.0', id: 0, result: initialized() }, { headers: { 'Mcp-Session-Id': 'one' } })

it('does not announce changed tools once it is closed', async () => {
  const changed = { id: undefined, method: 'notifications/tools/list_changed' }
  const script = scripted({ initialize: initialized({ tools: { listChanged: true } }) })
  const changesIn = async (use: (session: Session) => unknown) => {
    const onToolsChanged = vi.fn()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const fetchInMemory = async (url: string, init: RequestInit) =>
      init.method === 'GET' ? endless(changed) : script(new Request(url, init))
    const opened = await openSession('https://mcp.internal/mcp', fetchInMemory as never, { onToolsChanged })
    if ('failure' in opened) throw new Error(opened.failure.message)
    // The client reads the stream.
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    await use(opened.session)
    await vi.advanceTimersByTimeAsync(1_000)
    await opened.session.close()
    return onToolsChanged.mock.calls.length
  }
  expect([await changesIn(() => undefined), await changesIn(session => session.close())]).toEqual([1, 0])
})

it('includes the instructions of the server', async () => {
  const session = await open(scripted({ initialize: { ...initialized(), instructions: 'Look first.' } }))
  expect(session.server.instructions).toBe('Look first.')
  await session.close()
})

describe('a request of the server', () => {
  /** Opens a session with a server whose tool makes one request of its client, and returns that request's response. */
  const responseTo = async (
    request: object,
    options: SessionOptions = {},
    script: Parameters<typeof scripted>[0] = {},
  ): Promise<JsonObject> => {
    const responded = Promise.withResolvers<JsonObject>()
    const respond = scripted({ ...script, 'tools/call': () => endless({ id: 'asked', ...request }) })
    const session = await open(async received => {
      const text = await received.clone().text()
      const { id, method, ...response }: JsonObject = text === '' ? {} : JSON.parse(text)
      if (id !== 'asked' || method !== undefined) return respond(received)
      responded.resolve(response)
      return new Response(null, { status: 202 })
    }, options)
    const calling = callTool(session, 'look', {}, { onElicitation: async () => ({ action: 'decline' }) })
    const response = await responded.promise
    await session.close()
    await calling
    return response
  }

  const input = {
    method: 'elicitation/create',
    params: { message: 'Why?', requestedSchema: { type: 'object', properties: {} } },
  }

  it('is declined with the reason, except for input', async () => {
    const sampling = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } }
    const responses = [await responseTo(sampling), await responseTo({ method: 'roots/list' }), await responseTo(input)]
    expect(responses).toMatchObject([
      { error: { code: -32601, message: expect.stringContaining('has no language model') } },
      { error: { code: -32601, message: 'This client does not offer roots/list.' } },
      // Where nobody answers.
      { error: { code: -32601 } },
    ])
  })

  it('for input is passed to the call that runs, unless the session may serve several callers', async () => {
    const inSession = await responseTo(input, { elicitations: 'any' }, { initialize: withSession })
    const withoutState = await responseTo(input, { elicitations: 'any' })
    expect([inSession, withoutState]).toMatchObject([
      { result: { action: 'decline' } },
      { result: { action: 'cancel' } },
    ])
  })
})

it.each([
  ['have no `initialize`', 'reject' as const],
  ['have no sessions', 'stateless' as const],
])('passes on the question of a server whose versions %s, and repeats the call with the answer', async (_, legacy) => {
  const createServer = () => {
    const server = new McpServer({ name: 'New', version: '1' })
    server.registerTool('look', {}, async ({ mcpReq }) => {
      const answered = mcpReq.inputResponses?.where
      if (answered) return { content: [{ type: 'text', text: JSON.stringify(answered) }] }
      const requestedSchema = { type: 'object' as const, properties: { city: { type: 'string' as const } } }
      return inputRequired({
        inputRequests: { where: inputRequired.elicit({ mode: 'form', message: 'Where?', requestedSchema }) },
      })
    })
    return server
  }
  const handler = createMcpHandler(createServer, { legacy })
  const session = await open(request => handler.fetch(request), { elicitations: 'any' })
  const elicitations: unknown[] = []
  const onElicitation = async (elicitation: object) => {
    elicitations.push(elicitation)
    return { action: 'accept' as const, content: { city: 'Rome' } }
  }
  const result = await callTool(session, 'look', {}, { onElicitation })
  await session.close()
  expect([session.isStateless, elicitations, result]).toMatchObject([
    true,
    [{ message: 'Where?', requestedSchema: { properties: { city: { type: 'string' } } } }],
    { result: { content: [{ text: expect.stringContaining('"city":"Rome"') }] } },
  ])
})

it('opens no session once its signal is aborted', async () => {
  const controller = new AbortController()
  http.serve(async () => {
    controller.abort()
    return new Promise<Response>(() => undefined)
  })
  const timeout = { failure: { code: 'timeout', message: 'The MCP server did not answer in time.' } }
  expect(await openSession(`${http.origin}/mcp`, fetch, { signal: controller.signal })).toEqual(timeout)
  http.requests.length = 0
  expect([await openSession(`${http.origin}/mcp`, fetch, { signal: controller.signal }), http.requests]).toEqual([
    timeout,
    [],
  ])
})
