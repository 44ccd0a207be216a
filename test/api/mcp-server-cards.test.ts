import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { bilingualCard, minimalCard } from '../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'
import { serverCardErrors } from '../support/schemas/mcp-server-card.ts'

const origin = 'https://cards.example.com'
const $schema = 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json'
const type = 'streamable-http'
const supportedProtocolVersions = ['2026-07-28', '2025-11-25', '2025-06-18']
const secret = { isRequired: true, isSecret: true }

const key = (name: string, location = 'header') => ({ apiKeySecurityScheme: { name, location } })
const secured = (...schemes: JsonObject[]) => ({
  ...bilingualCard,
  securitySchemes: Object.fromEntries(schemes.map((scheme, index) => [`s${index}`, scheme])),
  securityRequirements: [{ schemes: Object.fromEntries(schemes.map((_, index) => [`s${index}`, { list: [] }])) }],
})

/** Manifests, and the headers in the server card of each. */
const agents: Record<string, [manifest: JsonObject, headers?: [name: string, placeholder: string][]]> = {
  open: [{ card: minimalCard }],
  token: [{ card: minimalCard, callers: 'tokens' }, [['Authorization', 'Bearer …']]],
  key: [{ card: secured(key('X-API-Key'), key('q', 'query')) }, [['X-API-Key', '…']]],
  basic: [{ card: secured({ httpAuthSecurityScheme: { scheme: 'Basic' } }) }, [['Authorization', 'Basic …']]],
  both: [
    { card: secured(key('X-API-Key'), { httpAuthSecurityScheme: { scheme: 'Basic' } }), callers: 'tokens' },
    [
      ['X-API-Key', '…'],
      ['Authorization', 'Bearer …'],
    ],
  ],
  many: [{ card: secured(...Array.from({ length: 400 }, (_, index) => key(`X-Key-${index}`))) }],
  hidden: [{ card: minimalCard, visibility: 'internal' }, [['Authorization', 'Bearer …']]],
  long: [{ card: { ...minimalCard, name: 'n '.repeat(99), description: 'd\n'.repeat(99) } }],
}

let host: NodeHost
beforeAll(async () => {
  host = await startNodeHost({ vars: { PUBLIC_URL: origin } })
  for (const [id, [manifest]] of Object.entries(agents)) await host.put(id, manifest)
  await host.put('off', { card: minimalCard, mcp: 'off' })
  await host.put('closed', { card: minimalCard, route: 'closed' })
})

const admin = { Authorization: `Bearer ${token}` }
const get = (path: string, headers: Record<string, string> = {}, from = host) => from.fetch(path, { headers })
const read = async (path: string, headers = {}, from = host) => {
  const response = await get(path, headers, from)
  const card = (await response.json()) as JsonObject & { remotes: { headers?: JsonObject[] }[] }
  expect([path, response.status, serverCardErrors(card)]).toEqual([path, 200, []])
  return card
}
const codeOf = async (path: string, headers = {}, from = host) => {
  const response = await get(path, headers, from)
  return [response.status, ((await response.json()) as { code?: string }).code]
}

describe('GET /agents/{id}/mcp/server-card', () => {
  it('describes the agent by its card', async () => {
    const described = { documentationUrl: 'https://docs.example.com/a', iconUrl: 'https://a.example.com/icon.png' }
    await host.put('described', { card: { ...minimalCard, version: '2.0.0', ...described } })
    expect(await read('/agents/described/mcp/server-card')).toEqual({
      ...{ $schema, name: 'com.example.cards/described', version: '2.0.0' },
      ...{ title: 'My Agent', description: 'Does something useful' },
      ...{ websiteUrl: 'https://docs.example.com/a', icons: [{ src: 'https://a.example.com/icon.png' }] },
      remotes: [{ type, url: `${origin}/agents/described/mcp`, supportedProtocolVersions }],
    })
    expect((await read('/agents/open/mcp/server-card')).websiteUrl).toBe(`${origin}/agents/open`)
  })

  it('names the headers that callers need, and bounds the texts', async () => {
    for (const [id, [, headers]] of Object.entries(agents)) {
      const { title, description, remotes } = await read(`/agents/${id}/mcp/server-card`, admin)
      const expected = headers?.map(([name, placeholder]) => ({ name, placeholder, ...secret }))
      expect([id, remotes[0]?.headers]).toEqual([id, expected])
      if (id === 'long')
        expect([title, description]).toEqual(['n '.repeat(49), 'd '.repeat(49)].map(text => `${text.trim()}…`))
    }
  })

  it('is public, with an entity tag, and private to callers with a token', async () => {
    const response = await get('/agents/open/mcp/server-card')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      ...{ 'content-type': 'application/mcp-server-card+json', 'access-control-allow-origin': '*' },
      ...{ 'cache-control': 'public, max-age=60, stale-while-revalidate=86400' },
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    })
    const known = { 'If-None-Match': response.headers.get('ETag') ?? '' }
    expect((await get('/agents/open/mcp/server-card', known)).status).toBe(304)
    const own = await get('/agents/hidden/mcp/server-card', admin)
    expect(own.headers.get('Cache-Control')).toBe('private, no-store')
  })

  it('is there only for agents that MCP clients can use, and callers that may read them', async () => {
    for (const id of ['off', 'closed'])
      expect([id, ...(await codeOf(`/agents/${id}/mcp/server-card`))]).toEqual([id, 404, 'not-found'])
    for (const id of ['hidden', 'none', 'No'])
      expect([id, ...(await codeOf(`/agents/${id}/mcp/server-card`))]).toEqual([id, 404, 'agent-not-found'])
  })
})

it('GET /mcp/server-card describes this host, whose server needs no token', async () => {
  expect(await read('/mcp/server-card')).toEqual({
    ...{ $schema, name: 'com.example.cards/calling_card', version: '0.1.0', title: 'Agents of cards.example.com' },
    description: 'Finds the A2A agents of this host, shows their cards, and calls them.',
    websiteUrl: origin,
    remotes: [
      {
        ...{ type, url: `${origin}/mcp`, supportedProtocolVersions },
        headers: [{ name: 'Authorization', placeholder: 'Bearer …', isRequired: false, isSecret: true }],
      },
    ],
  })
})

it('an address without a domain has the name that ARD proposes', async () => {
  const origins = ['http://127.0.0.1:8787', 'http://localhost:8787', 'http://[::1]:8787', 'https://a_b.example']
  for (const [index, local] of origins.entries()) {
    const own = await startNodeHost({ origin: local })
    // All hosts of a process share its memory of cards.
    await own.put(`local-${index}`, minimalCard)
    expect((await read(`/agents/local-${index}/mcp/server-card`, {}, own)).name).toBe(`localhost.agent/local-${index}`)
    expect((await read('/mcp/server-card', {}, own)).remotes).toMatchObject([{ url: `${local}/mcp` }])
  }
})

it('MCP=off leaves out every trace', async () => {
  const off = await startNodeHost({ vars: { PUBLIC_URL: origin, MCP: 'off' } })
  await off.put('open', minimalCard)
  for (const path of [
    '/mcp/server-card',
    '/agents/open/mcp/server-card',
    '/ard/agents/urn:air:cards.example.com:mcp:open',
  ])
    expect((await get(path, {}, off)).status, path).toBe(404)
  for (const path of ['/.well-known/ai-catalog.json', '/.well-known/ard.json', '/llms.txt', '/agents/open']) {
    const text = await (await get(path, { Accept: 'text/html' }, off)).text()
    expect([path, text.length > 100, /mcp/i.test(text)]).toEqual([path, true, false])
  }
})

it('no card lists MCP among its interfaces', async () => {
  for (const dialect of ['hybrid', '1.0', '0.3']) {
    const [on, off] = await Promise.all(
      ['open', 'off'].map(async id => (await get(`/agents/${id}?dialect=${dialect}`)).text()),
    )
    expect([dialect, on]).toEqual([dialect, off])
    expect(on).toContain('https://my-agent.example.com')
  }
})
