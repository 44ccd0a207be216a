import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadManifests } from '../../../cli/manifests/load.ts'
import type { Json } from '../../../src/json/json.ts'
import { bilingualCard, minimalCard } from '../../support/cards/cards.ts'
import { seed } from '../../support/cards/seeds.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'

/** As Shaman's documentation shows them, but for what they are published at and with. */
const customerSupport = `---
name: CustomerSupport
description: Handles customer inquiries and support requests
model: gpt-4
temperature: 0.7
exposed: true # Must be true to appear in AgentCard
tools:
  - run_data_read
  - run_data_write
  - call_agent
tags: ["support", "customer-service"]
agentcard:
  capabilities: { streaming: true, pushNotifications: true, stateHistory: true, multiModal: false, parallelToolCalls: true }
  inputSchema:
    type: object
    properties:
      query: { type: string, description: Customer question or concern }
      customerId: { type: string, description: Optional customer identifier }
  outputSchema:
    type: object
    properties:
      response: { type: string, description: Agent's response to the customer }
      followUpRequired: { type: boolean, description: Whether human follow-up is needed }
  skills:
    - name: order-tracking
      description: Track order status and shipping information
      examples: ["Where is my order #12345?", "When will my package arrive?"]
    - name: refunds
      description: Process refund requests
      examples: ["I want to return this item", "Can I get a refund?"]
---
You are a helpful customer support agent...
`
const specialized = `---
name: SpecializedAgent
description: Advanced data analysis
exposed: true
tags: [data]
agentcard:
  skills:
    - name: "data-visualization"
      description: "Create charts and graphs"
      examples: ["Create a bar chart", "Show trend analysis"]
  customFields:
    supportedFormats: ["csv", "json", "excel"]
    maxFileSize: "10MB"
---
You analyse data.
`
/** The document's first example, under another name. */
const plain = `---
name: Plain
description: Handles customer inquiries and support requests
model: gpt-4
temperature: 0.7
exposed: true
tools:
  - run_data_read
tags: ["support", "customer-service"]
agentcard:
  securitySchemes:
    bearer: { type: http, scheme: bearer, description: API key authentication }
---
You are a helpful customer support agent...
`
const internal = `---
name: Internal Agent
description: Only accessible internally
exposed: false
---
`
const defaults = `
upstream: { url: https://acme.shaman.ai/a2a/v1 }
card:
  securitySchemes:
    bearer: { type: http, scheme: bearer, description: API key authentication required }
`

let open: OwnHost
let closed: OwnHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  ;[open, closed] = await Promise.all([startHost(), startHost({ ROLE: 'internal' })])
  const files = {
    'customer-support.md': customerSupport,
    'internal.md': internal,
    'plain.md': plain,
    'specialized.md': specialized,
  }
  const folder = mkdtempSync(join(tmpdir(), 'shaman-'))
  for (const [name, text] of Object.entries({ ...files, 'defaults.yaml': defaults }))
    writeFileSync(join(folder, name), text)
  const { drafts, invalid } = loadManifests(
    Object.keys(files).map(name => join(folder, name)),
    'http://127.0.0.1',
  )
  rmSync(folder, { recursive: true })
  expect(invalid).toEqual([])
  for (const host of [open, closed]) {
    for (const { id, manifest } of drafts) expect((await host.put(id, manifest)).status).toBe(201)
    await host.put('bilingual', bilingualCard)
  }
  for (const [name, scopes, agents] of [
    ['reader', ['read'], ['*']],
    ['other', ['read'], ['bilingual']],
    ['writer', ['write'], ['*']],
  ] as const)
    for (const [where, host] of Object.entries({ open, closed }))
      tokens[`${name} ${where}`] = (await post(host, '/tokens', { scopes: [...scopes], agents: [...agents] })).token
})
afterAll(() => Promise.all([open.close(), closed.close()]))

const post = async (host: OwnHost, path: string, body: Json) =>
  (await (
    await host.fetch(path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  ).json()) as { token: string }

let asked = 0
/** From an address of its own each time, so that no bad token counts with another. */
const get = async (host: OwnHost, path: string, bearer?: string, headers: Record<string, string> = {}) => {
  const response = await host.fetch(path, {
    headers: {
      'CF-Connecting-IP': `198.51.100.${++asked}`,
      ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
      ...headers,
    },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text && JSON.parse(text)) as never as Body }
}
type Body = { agents: { name: string }[]; cursor?: string; code?: string; name?: string } & Record<string, unknown>
const list = '/.well-known/a2a/agents'
const names = ({ body }: { body: Body }) => body.agents.map(({ name }) => name)

describe('GET /.well-known/a2a/agents', () => {
  it("is the document's list, of the agents that are exposed, for everybody", async () => {
    const { status, body, headers } = await get(open, list)
    const shaman = (name: string, description: string) => ({
      name,
      description,
      version: '1.0.0',
      url: 'https://acme.shaman.ai/a2a/v1',
      preferredTransport: 'JSONRPC',
    })
    expect([status, body]).toEqual([
      200,
      {
        protocolVersion: '0.3.0',
        agents: [
          {
            name: 'Bilingual',
            description: 'Speaks v0.3 and v1.0',
            version: '2.0.0',
            url: 'https://bilingual.example.com/v0',
            preferredTransport: 'JSONRPC',
          },
          shaman('CustomerSupport', 'Handles customer inquiries and support requests'),
          shaman('Plain', 'Handles customer inquiries and support requests'),
          shaman('SpecializedAgent', 'Advanced data analysis'),
        ],
      },
    ])
    expect(headers.get('cache-control')).toMatch(/^public, /)
  })

  it('says of each agent what its card says', async () => {
    const { body } = await get(open, list)
    for (const { name, ...told } of body.agents)
      expect((await get(open, `/a2a/v1/agents/${name}`)).body).toMatchObject(
        name === 'Bilingual' ? told : { name, ...told },
      )
  })

  it('shows a token with `read` the internal agents that it is for besides', async () => {
    const came = await get(open, list, tokens['reader open'])
    expect([names(came), came.headers.get('cache-control')]).toEqual([
      ['Bilingual', 'CustomerSupport', 'Internal Agent', 'Plain', 'SpecializedAgent'],
      'private, no-store',
    ])
    expect(names(await get(open, list, tokens['other open']))).not.toContain('Internal Agent')
  })

  it('answers 304 to its own ETag, page by page', async () => {
    const first = await get(open, `${list}?limit=1`)
    expect([names(first), first.body.cursor]).toEqual([['Bilingual'], 'bilingual'])
    const etag = first.headers.get('etag') ?? ''
    expect((await get(open, `${list}?limit=1`, undefined, { 'If-None-Match': etag })).status).toBe(304)
    expect(names(await get(open, `${list}?cursor=bilingual`))).toEqual(['CustomerSupport', 'Plain', 'SpecializedAgent'])
  })

  it.each([
    ['?limit=0', 'bad-limit'],
    ['?cursor=..', 'bad-cursor'],
    ['?role=internal', 'unknown-query'],
  ])('refuses %s', async (query, code) => {
    const { status, body } = await get(open, list + query)
    expect([status, body.code]).toEqual([400, code])
  })

  it('refuses a token that it does not know, or that may not read', async () => {
    expect((await get(open, list, 'wrong')).status).toBe(401)
    expect((await get(open, list, tokens['writer open'])).status).toBe(403)
  })

  it('shows at once what was just written', async () => {
    await get(open, list)
    await open.put('late', { ...minimalCard, name: 'Late' })
    expect(names(await get(open, list))).toContain('Late')
    await open.fetch('/agents/late', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    expect(names(await get(open, list))).not.toContain('Late')
  })
})

describe('GET /a2a/v1/agents/{name}', () => {
  it("is the document's card, field for field", async () => {
    const { status, body } = await get(open, '/a2a/v1/agents/CustomerSupport')
    expect([status, body]).toEqual([200, { ...seed('shaman-individual'), tags: ['support', 'customer-service'] }])
  })

  it('has all that Shaman makes of front matter that says nothing of the card', async () => {
    const { provider: _, skills: __, capabilities: ___, ...generated } = seed('shaman-generated')
    const { body } = await get(open, '/a2a/v1/agents/plain')
    expect(body).toMatchObject({
      ...generated,
      name: 'Plain',
      capabilities: { streaming: true, pushNotifications: true },
      tags: ['support', 'customer-service'],
    })
    expect(JSON.stringify(body)).not.toMatch(/gpt-4|temperature|run_data|exposed/)
  })

  it('has what front matter says besides, and what Shaman says of every agent', async () => {
    expect((await get(open, '/a2a/v1/agents/SpecializedAgent')).body).toEqual({
      protocolVersion: '0.3.0',
      name: 'SpecializedAgent',
      description: 'Advanced data analysis',
      version: '1.0.0',
      url: 'https://acme.shaman.ai/a2a/v1',
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true, pushNotifications: true },
      skills: [
        {
          name: 'data-visualization',
          description: 'Create charts and graphs',
          examples: ['Create a bar chart', 'Show trend analysis'],
        },
      ],
      supportedFormats: ['csv', 'json', 'excel'],
      maxFileSize: '10MB',
      tags: ['data'],
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'API key authentication required' } },
    })
  })

  it.each(['customersupport', 'CUSTOMERSUPPORT', 'customer-support', 'Customer%53upport'])('finds %s', async name => {
    expect((await get(open, `/a2a/v1/agents/${name}`)).body.name).toBe('CustomerSupport')
  })

  it.each(['nobody', '%', '%E0%A4%A', 'a'.repeat(300), 'Internal%20Agent', 'internal'])(
    'has none for %s',
    async name => {
      const { status, body } = await get(open, `/a2a/v1/agents/${name}`)
      expect([status, body.code]).toEqual([404, 'agent-not-found'])
    },
  )

  it('tells an internal agent from none to nobody who may not read it', async () => {
    const answers = await Promise.all(
      ['Internal%20Agent', 'internal', 'Internal%20Nobody'].flatMap(name =>
        [undefined, 'wrong', tokens['other open'], tokens['writer open']].map(async bearer => {
          const { status, body, headers } = await get(open, `/a2a/v1/agents/${name}`, bearer)
          return JSON.stringify([
            status,
            body,
            [...headers].filter(([name]) => name !== 'content-length' && name !== 'date'),
          ]).replaceAll(decodeURIComponent(name), 'X')
        }),
      ),
    )
    expect(new Set(answers).size).toBe(1)
    expect((await get(open, '/a2a/v1/agents/Internal%20Agent', tokens['reader open'])).body.name).toBe('Internal Agent')
  })

  it('speaks other dialects where it is asked to', async () => {
    const dialects = ['?dialect=1.0', '?dialect=0.3', '?dialect=superx', '?dialect=hybrid']
    const cards = await Promise.all(dialects.map(query => get(open, `/a2a/v1/agents/bilingual${query}`)))
    const same = await Promise.all(dialects.map(query => get(open, `/agents/bilingual${query}`)))
    expect(cards.map(({ body }) => body)).toEqual(same.map(({ body }) => body))
    const { headers } = await get(open, '/a2a/v1/agents/bilingual', undefined, { 'A2A-Version': '1.0' })
    expect(headers.get('a2a-version')).toBe('1.0')
    expect((await get(open, '/a2a/v1/agents/bilingual?dialect=klingon')).body.code).toBe('unknown-dialect')
  })

  it('is served as every card is', async () => {
    const path = '/a2a/v1/agents/bilingual'
    const { headers } = await get(open, path)
    expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([
      '*',
      'public, max-age=60, stale-while-revalidate=86400',
    ])
    const etag = headers.get('etag') ?? ''
    expect((await get(open, path, undefined, { 'If-None-Match': etag })).status).toBe(304)
    const head = await open.fetch(path, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, ''])
    expect((await open.fetch(path, { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })
})

describe('ROLE=internal', () => {
  const paths = [list, '/a2a/v1/agents/CustomerSupport', '/a2a/v1/agents/internal', '/a2a/v1/agents/nobody']

  it.each(paths)('wants a token with `read` at %s', async path => {
    const without = await get(closed, path)
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="calling-card"'])
    const wrong = await get(closed, path, 'wrong')
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="calling-card", error="invalid_token"',
    ])
    const writer = await get(closed, path, tokens['writer closed'])
    expect([writer.status, writer.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="calling-card", error="insufficient_scope", scope="read"',
    ])
  })

  it('shows what the token is for, and what is public', async () => {
    const reader = tokens['reader closed']
    expect(names(await get(closed, list, reader))).toEqual([
      'Bilingual',
      'CustomerSupport',
      'Internal Agent',
      'Plain',
      'SpecializedAgent',
    ])
    expect((await get(closed, '/a2a/v1/agents/internal%20agent', reader)).body.name).toBe('Internal Agent')
    const other = tokens['other closed']
    expect(names(await get(closed, list, other))).toEqual(['Bilingual', 'CustomerSupport', 'Plain', 'SpecializedAgent'])
    expect((await get(closed, '/a2a/v1/agents/CustomerSupport', other)).status).toBe(200)
    expect((await get(closed, '/a2a/v1/agents/internal', other)).status).toBe(404)
  })

  it('is about this door alone', async () => {
    expect((await get(closed, '/agents')).status).toBe(200)
    expect((await get(closed, '/agents/bilingual')).status).toBe(200)
  })
})
