import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BlockedError, createUpstreamFetch, type UpstreamFetch } from '../../src/http/bindings.ts'
import { envWith } from '../support/registrations.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

let server: UpstreamServer
let elsewhere: UpstreamServer
beforeAll(async () => {
  server = await startUpstream()
  elsewhere = await startUpstream()
  server.respond(reply(200, {}, 'here'))
  elsewhere.respond(reply(200, {}, 'there'))
})
afterAll(() => {
  server.close()
  elsewhere.close()
})

const fetchFor = (source: { url: string; service?: string; secret?: string }, bindings = {}): UpstreamFetch => {
  const fetching = createUpstreamFetch(source, envWith({ TOKEN: ' s3cret\n', ...bindings }))
  if ('misconfigured' in fetching) throw new Error(fetching.misconfigured)
  return fetching
}

describe('the requests of a source', () => {
  it('are as they were made, with the secret as a bearer token for its own origin alone', async () => {
    const ALLOWED_ORIGINS = `${server.origin},${elsewhere.origin}`
    const fetching = fetchFor({ url: `${server.origin}/mcp`, secret: 'TOKEN' }, { ALLOWED_ORIGINS })
    const headers = { 'Mcp-Session-Id': '7' }
    await fetching(`${server.origin}/mcp`, { method: 'POST', body: 'ping', headers })
    await fetching(new URL(`${server.origin}/other`))
    await fetching(`${elsewhere.origin}/mcp`, { headers: new Headers(headers) })
    expect(
      [...server.requests, ...elsewhere.requests].map(({ method, path, body, headers }) => [
        ...[method, path, body],
        ...[headers.authorization, headers['mcp-session-id']],
      ]),
    ).toEqual([
      ['POST', '/mcp', 'ping', 'Bearer s3cret', '7'],
      ['GET', '/other', '', 'Bearer s3cret', undefined],
      ['GET', '/mcp', '', undefined, '7'],
    ])
  })

  it('are not followed elsewhere', async () => {
    server.respond(reply(307, { Location: elsewhere.origin }, ''))
    const fetching = fetchFor({ url: server.origin }, { ALLOWED_ORIGINS: server.origin })
    expect((await fetching(server.origin, { redirect: 'follow' })).status).toBe(307)
  })

  it('are rejected where the guard says no, for a reason that is for the log', async () => {
    const fetching = fetchFor({ url: server.origin })
    const error = await fetching(server.origin).catch((reason: unknown) => reason)
    expect([error instanceof BlockedError, String(error)]).toEqual([true, 'BlockedError: not https'])
  })

  it('are rejected as `fetch` does where nobody listens', async () => {
    const fetching = fetchFor({ url: 'http://127.0.0.1:9' }, { ALLOWED_ORIGINS: 'http://127.0.0.1:9' })
    await expect(fetching('http://127.0.0.1:9')).rejects.toThrow(TypeError)
  })
})

describe('a service', () => {
  const bound = {
    TOOLS: {
      fetch: async (url: string, init: RequestInit) =>
        Response.json([url, init.method, new Headers(init.headers).get('Authorization'), init.redirect]),
    },
  }

  it('takes the requests of its source, wherever that is said to be', async () => {
    const fetching = fetchFor({ url: 'http://tools/mcp', service: 'TOOLS', secret: 'TOKEN' }, bound)
    const response = await fetching('http://tools/mcp', { method: 'DELETE' })
    expect(await response.json()).toEqual(['http://tools/mcp', 'DELETE', 'Bearer s3cret', 'manual'])
  })

  it('takes none for another origin', async () => {
    const fetching = fetchFor({ url: 'http://tools/mcp', service: 'TOOLS' }, bound)
    await expect(fetching('https://agent.example.com/')).rejects.toThrow(BlockedError)
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
])('what this Worker lacks is told: %j', (named, misconfigured) => {
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
