import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { config } from '../../src/config.ts'
import { BlockedError, createUpstreamFetch, resolveSecret, type UpstreamFetch } from '../../src/http/safe-fetch.ts'
import { envWith } from '../support/registrations.ts'
import { reply, startUpstream, type UpstreamServer } from '../support/upstream.ts'

describe('resolveSecret', () => {
  const deployed = { localOrigins: undefined }
  const resolve = (name: string, value: unknown) => resolveSecret(name, { [name]: value } as unknown as Env, deployed)
  const missing = (name: string) => ({
    misconfigured: `This Worker has no secret "${name}". Run \`npx wrangler secret put ${name}\`.`,
  })

  it('resolves neither a variable of the host itself nor a secret that is not set', () => {
    for (const name of [
      'PUBLIC_URL',
      'UPSTREAM_TIMEOUT',
      'ADMIN_TOKEN',
      'SIGNING_KEY_2',
      'WEBHOOK_SECRET',
      'LOCAL_ORIGINS',
    ])
      expect(resolve(name, 'value'), name).toEqual(missing(name))
    for (const value of [undefined, '', {}]) expect(resolve('WEATHER_TOKEN', value)).toEqual(missing('WEATHER_TOKEN'))
  })

  it('trims a secret, and rejects one that no header can carry', () => {
    for (const value of ['s3cret', ' s3cret', 's3cret\n', ' s3cret\r\n'])
      expect(resolve('WEATHER_TOKEN', value), value).toEqual({ secret: 's3cret' })
    for (const value of [' ', 'two\r\nX-Other: lines', 'två', 'two words'])
      expect(resolve('WEATHER_TOKEN', value), value).toEqual({
        misconfigured: 'The secret "WEATHER_TOKEN" is empty, or contains characters that no header can carry.',
      })
  })
})

describe('createUpstreamFetch', () => {
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
    const env = envWith({ TOKEN: ' s3cret\n', ...bindings })
    const upstreamFetch = createUpstreamFetch(source, env, config(env))
    if ('misconfigured' in upstreamFetch) throw new Error(upstreamFetch.misconfigured)
    return upstreamFetch
  }

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

  const bindings = {
    TOOLS: {
      fetch: async (url: string, init: RequestInit) =>
        Response.json([url, init.method, new Headers(init.headers).get('Authorization'), init.redirect]),
    },
  }

  it('sends requests to a service binding, whatever their host', async () => {
    const upstreamFetch = fetchFor({ url: 'http://tools/mcp', service: 'TOOLS', secret: 'TOKEN' }, bindings)
    const response = await upstreamFetch('http://tools/mcp', { method: 'DELETE' })
    expect(await response.json()).toEqual(['http://tools/mcp', 'DELETE', 'Bearer s3cret', 'manual'])
  })

  it('rejects requests to another origin than that of the service binding', async () => {
    const upstreamFetch = fetchFor({ url: 'http://tools/mcp', service: 'TOOLS' }, bindings)
    await expect(upstreamFetch('https://agent.example.com/')).rejects.toThrow(BlockedError)
  })

  it('reports a missing binding or an invalid secret', () => {
    const env = envWith({ TOKEN: 'a', LINES: 'a\r\nb' })
    for (const [names, misconfigured] of [
      [{ service: 'NONE' }, 'This Worker has no service binding "NONE".'],
      [{ service: 'TOKEN' }, 'This Worker has no service binding "TOKEN".'],
      [{ secret: 'NONE' }, 'This Worker has no secret "NONE". Run `npx wrangler secret put NONE`.'],
      [{ secret: 'toString' }, 'This Worker has no secret "toString". Run `npx wrangler secret put toString`.'],
      [{ secret: 'LINES' }, 'The secret "LINES" is empty, or contains characters that no header can carry.'],
    ] as const)
      expect(createUpstreamFetch({ url: 'https://agent.example.com/', ...names }, env, config(env))).toEqual({
        misconfigured,
      })
  })
})
