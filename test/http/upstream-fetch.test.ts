import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BlockedError, createUpstreamFetch, type UpstreamFetch } from '../../src/http/bindings.ts'
import { envWith } from '../support/registrations.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
let otherServer: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
  otherServer = await startUpstream()
  server.respond(reply(200, {}, 'here'))
  otherServer.respond(reply(200, {}, 'there'))
})
afterAll(() => {
  server.close()
  otherServer.close()
})

const fetchFor = (source: { url: string; service?: string; secret?: string }, bindings = {}): UpstreamFetch => {
  const upstreamFetch = createUpstreamFetch(source, envWith({ TOKEN: ' s3cret\n', ...bindings }))
  if ('misconfigured' in upstreamFetch) throw new Error(upstreamFetch.misconfigured)
  return upstreamFetch
}

describe('createUpstreamFetch', () => {
  it('sends requests unchanged, with the secret as a bearer token to its own origin only', async () => {
    const ALLOWED_ORIGINS = `${server.origin},${otherServer.origin}`
    const upstreamFetch = fetchFor({ url: `${server.origin}/mcp`, secret: 'TOKEN' }, { ALLOWED_ORIGINS })
    const headers = { 'Mcp-Session-Id': '7' }
    await upstreamFetch(`${server.origin}/mcp`, { method: 'POST', body: 'ping', headers })
    await upstreamFetch(new URL(`${server.origin}/other`))
    await upstreamFetch(`${otherServer.origin}/mcp`, { headers: new Headers(headers) })
    expect(
      [...server.requests, ...otherServer.requests].map(({ method, path, body, headers }) => [
        ...[method, path, body],
        ...[headers.authorization, headers['mcp-session-id']],
      ]),
    ).toEqual([
      ['POST', '/mcp', 'ping', 'Bearer s3cret', '7'],
      ['GET', '/other', '', 'Bearer s3cret', undefined],
      ['GET', '/mcp', '', undefined, '7'],
    ])
  })

  it('follows no redirects', async () => {
    server.respond(reply(307, { Location: otherServer.origin }, ''))
    const upstreamFetch = fetchFor({ url: server.origin }, { ALLOWED_ORIGINS: server.origin })
    expect((await upstreamFetch(server.origin, { redirect: 'follow' })).status).toBe(307)
  })

  it('rejects blocked addresses, with the reason for the log', async () => {
    const upstreamFetch = fetchFor({ url: server.origin })
    const error = await upstreamFetch(server.origin).catch((reason: unknown) => reason)
    expect([error instanceof BlockedError, String(error)]).toEqual([true, 'BlockedError: not https'])
  })

  it('fails like `fetch` when the upstream is unreachable', async () => {
    const upstreamFetch = fetchFor({ url: 'http://127.0.0.1:9' }, { ALLOWED_ORIGINS: 'http://127.0.0.1:9' })
    await expect(upstreamFetch('http://127.0.0.1:9')).rejects.toThrow(TypeError)
  })
})

describe('createUpstreamFetch with a service binding', () => {
  const bound = {
    TOOLS: {
      fetch: async (url: string, init: RequestInit) =>
        Response.json([url, init.method, new Headers(init.headers).get('Authorization'), init.redirect]),
    },
  }

  it('sends requests to the service binding, whatever their host', async () => {
    const upstreamFetch = fetchFor({ url: 'http://tools/mcp', service: 'TOOLS', secret: 'TOKEN' }, bound)
    const response = await upstreamFetch('http://tools/mcp', { method: 'DELETE' })
    expect(await response.json()).toEqual(['http://tools/mcp', 'DELETE', 'Bearer s3cret', 'manual'])
  })

  it('rejects requests to another origin', async () => {
    const upstreamFetch = fetchFor({ url: 'http://tools/mcp', service: 'TOOLS' }, bound)
    await expect(upstreamFetch('https://agent.example.com/')).rejects.toThrow(BlockedError)
  })
})

it.each([
  [{ service: 'NONE' }, 'This Worker has no service binding "NONE".'],
  [{ service: 'TOKEN' }, 'This Worker has no service binding "TOKEN".'],
  [{ service: 'toString' }, 'This Worker has no service binding "toString".'],
  [{ secret: 'NONE' }, 'This Worker has no secret "NONE".'],
  [{ secret: 'EMPTY' }, 'This Worker has no secret "EMPTY".'],
  [{ secret: 'SPACES' }, 'The secret "SPACES" is empty, or contains characters that no header can carry.'],
  [{ secret: 'LINES' }, 'The secret "LINES" is empty, or contains characters that no header can carry.'],
  [{ secret: 'PUBLIC_URL' }, 'This Worker has no secret "PUBLIC_URL".'],
  [{ secret: 'ADMIN_TOKEN' }, 'This Worker has no secret "ADMIN_TOKEN".'],
  [{ secret: 'toString' }, 'This Worker has no secret "toString".'],
])('createUpstreamFetch reports what the Worker lacks: %j', (named, misconfigured) => {
  const bindings = {
    TOKEN: 'a',
    EMPTY: '',
    SPACES: ' ',
    LINES: 'a\r\nb',
    ADMIN_TOKEN: 'admin',
    PUBLIC_URL: 'https://a',
  }
  expect(createUpstreamFetch({ url: 'https://agent.example.com/', ...named }, envWith(bindings))).toEqual({
    misconfigured,
  })
})
