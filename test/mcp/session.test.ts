import { McpServer, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { registerCountDown, registerCountWords } from '../../examples/mcp-server/tools.ts'
import packageJson from '../../package.json' with { type: 'json' }
import type { JsonObject } from '../../src/json/json.ts'
import { clientInfo, openSession, type Session, type SessionOptions } from '../../src/mcp/session.ts'
import { endless, initialized, mcpMethod, scripted } from '../support/mcp-server.ts'
import { type FetchHandler, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let http: UpstreamServer
beforeAll(async () => {
  http = await startUpstream()
})
afterAll(() => http.close())

const opened = async (handle: FetchHandler, options: SessionOptions = {}): Promise<Session> => {
  http.serve(handle)
  const session = await openSession(`${http.origin}/mcp`, fetch, options)
  if ('failure' in session) throw new Error(session.failure.message)
  return session.session
}

/** A server of the official library with one session, and its side of it. */
const oneSession = async (): Promise<{ handle: FetchHandler; server: McpServer }> => {
  const server = new McpServer({ name: 'One', version: '1' })
  registerCountDown(server)
  const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => 'one' })
  await server.connect(transport)
  return { handle: request => transport.handleRequest(request), server }
}

const callTool = (
  session: Session,
  name: string,
  args: JsonObject = {},
  options: Partial<Parameters<Session['callTool']>[2]> = {},
) =>
  session.callTool(name, args, {
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    maxTimeoutMs: 60_000,
    onProgress: () => undefined,
    ...options,
  })

/** Calls a tool, and returns why the call failed. */
const failureOf = async (session: Session, signal?: AbortSignal) => {
  const called = await callTool(session, 'look', {}, signal && { signal })
  return 'failure' in called ? called.failure : called
}

it('says the version of this host', () => {
  expect(clientInfo.version).toBe(packageJson.version)
})

describe('a session', () => {
  it('calls tools, and is told how far they are', async () => {
    const { handle } = await oneSession()
    const session = await opened(handle)
    const said: unknown[] = []
    const answer = await callTool(
      session,
      'count_down',
      { from: 2 },
      { onProgress: ({ message }) => said.push(message) },
    )
    await session.close()
    expect([said, answer]).toMatchObject([
      ['2 …', '1 …'],
      { result: { content: [{ type: 'text', text: 'Liftoff!' }] } },
    ])
  })

  it('tells when the tools change, where somebody wants to know', async () => {
    const { handle, server } = await oneSession()
    const changed = Promise.withResolvers<void>()
    const listening = Promise.withResolvers<void>()
    const heard: FetchHandler = async request => {
      const response = await handle(request)
      if (request.method === 'GET') listening.resolve()
      return response
    }
    const session = await opened(heard, { onToolsChanged: changed.resolve })
    await listening.promise
    registerCountWords(server)
    await changed.promise
    await session.close()
    expect(http.requests.map(mcpMethod)).toEqual(['initialize', 'notifications/initialized', 'GET', 'DELETE'])
  })

  it.each<[string, FetchHandler, object]>([
    [
      'the session, which the server forgot',
      scripted({ 'tools/call': () => new Response(null, { status: 404 }) }),
      { code: 'session-lost', message: 'The MCP server answered with HTTP 404.' },
    ],
    [
      'an argument, which the server refuses',
      scripted({
        'tools/call': () => Response.json({ jsonrpc: '2.0', id: 0, error: { code: -32602, message: 'No' } }),
      }),
      {
        code: 'refused',
        message: 'The MCP server answered with error -32602: No',
      },
    ],
    [
      'the size of the answer',
      scripted({ 'tools/call': () => endless({ method: 'x', params: { y: 'z'.repeat(5000) } }) }),
      { code: 'too-large', message: 'The MCP server answered with more than 4096 bytes.', maxBytes: 4096 },
    ],
  ])('says of a call that fails for %s', async (_, handle, failure) => {
    const session = await opened(handle, { maxResponseBytes: 4096 })
    expect(await failureOf(session)).toEqual(failure)
    await session.close()
  })

  it('gives up a call that is not wanted any more, and tells the server', async () => {
    const cancelled = Promise.withResolvers<object>()
    const asked = Promise.withResolvers<void>()
    const session = await opened(
      scripted({
        'tools/call': () => {
          asked.resolve()
          return endless()
        },
        'notifications/cancelled': params => {
          cancelled.resolve(params)
          return new Response(null, { status: 202 })
        },
      }),
    )
    const controller = new AbortController()
    const failing = failureOf(session, controller.signal)
    await asked.promise
    controller.abort('no longer wanted')
    await failing
    expect(await cancelled.promise).toEqual({ requestId: 1, reason: 'no longer wanted' })
    await session.close()
  })

  it('is over once it is closed, though the server never takes note of it', async () => {
    const script = scripted({
      initialize: () =>
        Response.json({ jsonrpc: '2.0', id: 0, result: initialized() }, { headers: { 'Mcp-Session-Id': 'deaf' } }),
      'tools/call': () => endless(),
    })
    // The time that the server has for its answer ends once it was told.
    const patience = new AbortController()
    const session = await opened(request => {
      if (request.method !== 'DELETE') return script(request)
      patience.abort()
      return new Promise<Response>(() => undefined)
    })
    const failing = failureOf(session)
    vi.spyOn(AbortSignal, 'timeout').mockReturnValue(patience.signal)
    await session.close()
    expect(await failing).toEqual({ code: 'not-ready', message: 'The MCP server session was closed by this host.' })
  })
})

it('a session that is given up is not opened', async () => {
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
