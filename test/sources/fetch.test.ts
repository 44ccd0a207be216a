import { createMcpHandler } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createToolServer } from '../../examples/mcp-server/tools.ts'
import type { Source } from '../../src/card/manifest/upstream.ts'
import { fetchMcpCard } from '../../src/sources/fetch.ts'
import { initialized, scripted } from '../support/mcp-server.ts'
import { startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  server = await startUpstream()
})
afterAll(() => {
  vi.restoreAllMocks()
  server.close()
})

const fetched = (source: Partial<Source> = {}, env: Record<string, unknown> = {}) =>
  fetchMcpCard(
    { kind: 'mcp', url: `${server.origin}/mcp`, ttl: 300, staleIfError: 0, pin: false, ...source },
    'tools',
    {
      ALLOWED_ORIGINS: new URL(`${server.origin}/mcp`).origin,
      ...env,
    } as unknown as Env,
  )
const failed = (code: string, message: string) => ({ failure: { status: 503, code, message } })

describe('the card of an MCP server', () => {
  it('is made of what it says of itself, for the agent of this host', async () => {
    server.serve(scripted({ 'tools/list': { tools: [{ name: 'look' }, { name: 'look' }] } }))
    expect(await fetched()).toEqual({
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

  it('is asked for with the secret, each time', async () => {
    server.serve(request => createMcpHandler(createToolServer).fetch(request))
    expect(await fetched({ secret: 'KEY' }, { KEY: 'abc' })).toMatchObject({ card: { description: 'Tool Box' } })
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer abc']))
  })

  it('comes through a service binding, where there is one', async () => {
    const TOOLS = {
      fetch: (url: string, init: RequestInit) => createMcpHandler(createToolServer).fetch(new Request(url, init)),
    }
    const source = { url: 'https://mcp-server.internal/mcp', service: 'TOOLS' }
    expect(await fetched(source, { TOOLS })).toMatchObject({ card: { description: 'Tool Box' } })
  })
})

describe('an MCP server that cannot be asked', () => {
  const unreachable = failed(
    'unreachable',
    'The MCP server cannot be reached. Check that its address is correct, public and https; the log of this host has the reason.',
  )

  it.each([
    ['which nobody answers for', 'http://127.0.0.1:1/mcp', 'http://127.0.0.1:1'],
    ['which this host does not call', 'http://127.0.0.1:1/mcp', ''],
  ])('looks the same, %s', async (_, url, ALLOWED_ORIGINS) => {
    expect(await fetched({ url }, { ALLOWED_ORIGINS })).toEqual(unreachable)
  })

  it('is one whose service or secret this Worker lacks', async () => {
    expect(await fetched({ service: 'NONE' })).toEqual(
      failed('not-ready', 'This Worker has no service binding "NONE".'),
    )
    expect(await fetched({ secret: 'NONE' })).toEqual(failed('not-ready', 'This Worker has no secret "NONE".'))
  })

  it.each([
    [
      'refuses',
      scripted({ initialize: () => Response.json({ jsonrpc: '2.0', id: 0, error: { code: 1, message: 'No' } }) }),
    ],
    ['is ill', () => new Response(null, { status: 500 })],
    ['is not there', () => new Response(null, { status: 404 })],
    ['forgets', scripted({ 'tools/list': () => new Response(null, { status: 404 }) })],
    ['is of a version that nobody knows', scripted({ initialize: initialized({}, '1999-01-01') })],
  ])('is not ready where it %s', async (_, handle) => {
    server.serve(handle)
    expect(await fetched()).toMatchObject({ failure: { status: 503, code: 'not-ready' } })
  })
})
