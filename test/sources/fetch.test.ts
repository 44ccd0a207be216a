import { createMcpHandler } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createToolServer } from '../../examples/mcp-server/tools.ts'
import type { Source } from '../../src/card/manifest/upstream.ts'
import { fetchMcpCard } from '../../src/sources/fetch.ts'
import { scripted } from '../support/mcp-server.ts'
import { startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
})
afterAll(() => server.close())
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined))

const fetchCard = (source: Partial<Source> = {}, env: Record<string, unknown> = {}) =>
  fetchMcpCard(
    { kind: 'mcp', url: `${server.origin}/mcp`, ttl: 300, staleIfError: 0, pin: false, ...source },
    'tools',
    { ALLOWED_ORIGINS: server.origin, ...env } as unknown as Env,
  )
const failureOf = (code: string, message: string) => ({ failure: { status: 503, code, message } })

describe('the card of an MCP server', () => {
  it('is made from the name, capabilities and tools that the server reports', async () => {
    server.serve(scripted({ 'tools/list': { tools: [{ name: 'look' }, { name: 'look' }] } }))
    expect(await fetchCard()).toEqual({
      card: {
        name: 'tools',
        protocol: 'mcp',
        protocolVersion: '2025-06-18',
        description: 'Scripted',
        version: '1.0.0',
        capabilities: { tools: {}, resources: null, prompts: null, sampling: null },
        skills: [{ id: 'look', name: 'look' }],
      },
      validators: {},
      notes: [{ pointer: '/skills', message: 'omits tool 2 ("look"): another tool has the same name' }],
    })
  })

  it('is fetched with the secret in every request, through the service binding of its source', async () => {
    const credentials: (string | null)[] = []
    const fetch = (url: string, init: RequestInit) => {
      credentials.push(new Headers(init.headers).get('Authorization'))
      return createMcpHandler(createToolServer).fetch(new Request(url, init))
    }
    const source = { url: 'https://mcp-server.internal/mcp', service: 'TOOLS', secret: 'KEY' }
    const fetched = await fetchCard(source, { TOOLS: { fetch }, KEY: 'abc' })
    expect(fetched).toMatchObject({ card: { description: 'Tool Box' } })
    expect(new Set(credentials)).toEqual(new Set(['Bearer abc']))
  })
})

describe('an MCP server that fails', () => {
  it('is reported as unreachable, at a closed port as at a blocked address', async () => {
    const message =
      'The MCP server cannot be reached. Check that its address is correct, public and https; the log of this host has the reason.'
    for (const ALLOWED_ORIGINS of ['http://127.0.0.1:1', ''])
      expect(await fetchCard({ url: 'http://127.0.0.1:1/mcp' }, { ALLOWED_ORIGINS })).toEqual(
        failureOf('unreachable', message),
      )
  })

  it('is not ready when its service binding does not exist', async () => {
    const service = 'This Worker has no service binding "NONE".'
    expect(await fetchCard({ service: 'NONE' })).toEqual(failureOf('not-ready', service))
  })

  it('is not ready when it rejects or drops the session', async () => {
    const error = { jsonrpc: '2.0', id: 0, error: { code: 1, message: 'No' } }
    for (const handle of [
      scripted({ initialize: () => Response.json(error) }),
      () => new Response(null, { status: 500 }),
      scripted({ 'tools/list': () => new Response(null, { status: 404 }) }),
    ]) {
      server.serve(handle)
      expect(await fetchCard()).toMatchObject({ failure: { status: 503, code: 'not-ready' } })
    }
  })
})
