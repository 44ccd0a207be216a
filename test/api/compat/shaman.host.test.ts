import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadManifests } from '../../../cli/manifests/load.ts'
import { deploymentRole } from '../../../src/api/compat/shaman.ts'
import { nextAddress } from '../../support/called-host.ts'
import { bilingualCard, minimalCard } from '../../support/cards/cards.ts'
import { readSeed } from '../../support/cards/seeds.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'

/** The examples of Shaman's documentation; defaults.yaml adds their URL and security schemes. */
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
/** The first example of the documentation, with another name. */
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

let publicHost: OwnHost
let internalHost: OwnHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  ;[publicHost, internalHost] = await Promise.all([startHost(), startHost({ ROLE: 'internal' })])
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
  for (const host of [publicHost, internalHost]) {
    for (const { id, manifest } of drafts) expect((await host.put(id, manifest)).status).toBe(201)
    await host.put('bilingual', bilingualCard)
  }
  for (const [name, scopes, agents] of [
    ['reader', ['read'], ['*']],
    ['other', ['read'], ['bilingual']],
    ['writer', ['write'], ['*']],
  ] as const)
    for (const [role, host] of Object.entries({ public: publicHost, internal: internalHost }))
      tokens[`${name} ${role}`] = (await host.issue({ scopes: [...scopes], agents: [...agents] })).token
})
afterAll(() => Promise.all([publicHost.close(), internalHost.close()]))

/** Sends each request from an address of its own, so that failed attempts do not throttle later requests. */
const get = async (host: OwnHost, path: string, bearer?: string, headers: Record<string, string> = {}) => {
  const response = await host.fetch(path, {
    headers: {
      'CF-Connecting-IP': nextAddress(),
      ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
      ...headers,
    },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text && JSON.parse(text)) as never as Body }
}
type Body = { agents: { name: string }[]; cursor?: string; code?: string; name?: string } & Record<string, unknown>
const listPath = '/.well-known/a2a/agents'
const names = ({ body }: { body: Body }) => body.agents.map(({ name }) => name)

describe('GET /.well-known/a2a/agents', () => {
  it('lists the exposed agents without a token, as in the documentation', async () => {
    const { status, body, headers } = await get(publicHost, listPath)
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

  it('returns for each agent the same members as its card', async () => {
    const { body } = await get(publicHost, listPath)
    for (const { name, ...members } of body.agents)
      expect((await get(publicHost, `/a2a/v1/agents/${name}`)).body).toMatchObject(
        name === 'Bilingual' ? members : { name, ...members },
      )
  })

  it('also lists the internal agents of a token with the scope `read`', async () => {
    const response = await get(publicHost, listPath, tokens['reader public'])
    expect([names(response), response.headers.get('cache-control')]).toEqual([
      ['Bilingual', 'CustomerSupport', 'Internal Agent', 'Plain', 'SpecializedAgent'],
      'private, no-store',
    ])
    expect(names(await get(publicHost, listPath, tokens['other public']))).not.toContain('Internal Agent')
  })

  it('returns pages, and 304 for the entity tag of a page', async () => {
    const first = await get(publicHost, `${listPath}?limit=1`)
    expect([names(first), first.body.cursor]).toEqual([['Bilingual'], 'bilingual'])
    const etag = first.headers.get('etag') ?? ''
    expect((await get(publicHost, `${listPath}?limit=1`, undefined, { 'If-None-Match': etag })).status).toBe(304)
    expect(names(await get(publicHost, `${listPath}?cursor=bilingual`))).toEqual([
      'CustomerSupport',
      'Plain',
      'SpecializedAgent',
    ])
  })

  it.each([
    ['?limit=0', 'bad-limit'],
    ['?cursor=..', 'bad-cursor'],
    ['?role=internal', 'unknown-query'],
  ])('rejects %s', async (query, code) => {
    const { status, body } = await get(publicHost, listPath + query)
    expect([status, body.code]).toEqual([400, code])
  })

  it('rejects an unknown token and one without the scope `read`', async () => {
    expect((await get(publicHost, listPath, 'wrong')).status).toBe(401)
    expect((await get(publicHost, listPath, tokens['writer public'])).status).toBe(403)
  })

  it('shows changes at once', async () => {
    await get(publicHost, listPath)
    await publicHost.put('late', { ...minimalCard, name: 'Late' })
    expect(names(await get(publicHost, listPath))).toContain('Late')
    await publicHost.fetch('/agents/late', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    expect(names(await get(publicHost, listPath))).not.toContain('Late')
  })
})

describe('GET /a2a/v1/agents/{name}', () => {
  it('returns the card of the documentation, member for member', async () => {
    const { status, body } = await get(publicHost, '/a2a/v1/agents/CustomerSupport')
    expect([status, body]).toEqual([200, { ...readSeed('shaman-individual'), tags: ['support', 'customer-service'] }])
  })

  it('returns a card generated from front matter without `agentcard` details', async () => {
    const { provider: _, skills: __, capabilities: ___, ...generated } = readSeed('shaman-generated')
    const { body } = await get(publicHost, '/a2a/v1/agents/plain')
    expect(body).toMatchObject({
      ...generated,
      name: 'Plain',
      capabilities: { streaming: true, pushNotifications: true },
      tags: ['support', 'customer-service'],
    })
    expect(JSON.stringify(body)).not.toMatch(/gpt-4|temperature|run_data|exposed/)
  })

  it('returns custom fields of the front matter, and the defaults of every agent', async () => {
    expect((await get(publicHost, '/a2a/v1/agents/SpecializedAgent')).body).toEqual({
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

  it.each(['customersupport', 'CUSTOMERSUPPORT', 'customer-support', 'Customer%53upport'])(
    'finds an agent by %s',
    async name => {
      expect((await get(publicHost, `/a2a/v1/agents/${name}`)).body.name).toBe('CustomerSupport')
    },
  )

  it.each(['unknown', '%', '%E0%A4%A', 'a'.repeat(300), 'Internal%20Agent', 'internal'])(
    'returns 404 for %s',
    async name => {
      const { status, body } = await get(publicHost, `/a2a/v1/agents/${name}`)
      expect([status, body.code]).toEqual([404, 'agent-not-found'])
    },
  )

  it('does not distinguish internal agents from unknown ones for callers that may not read them', async () => {
    const responses = await Promise.all(
      ['Internal%20Agent', 'internal', 'Internal%20Unknown'].flatMap(name =>
        [undefined, 'wrong', tokens['other public'], tokens['writer public']].map(async bearer => {
          const { status, body, headers } = await get(publicHost, `/a2a/v1/agents/${name}`, bearer)
          return JSON.stringify([
            status,
            body,
            [...headers].filter(([name]) => name !== 'content-length' && name !== 'date'),
          ]).replaceAll(decodeURIComponent(name), 'X')
        }),
      ),
    )
    expect(new Set(responses).size).toBe(1)
    expect((await get(publicHost, '/a2a/v1/agents/Internal%20Agent', tokens['reader public'])).body.name).toBe(
      'Internal Agent',
    )
  })

  it('returns other dialects with the query parameter `dialect`', async () => {
    const dialects = ['?dialect=1.0', '?dialect=0.3', '?dialect=superx', '?dialect=hybrid']
    const cards = await Promise.all(dialects.map(query => get(publicHost, `/a2a/v1/agents/bilingual${query}`)))
    const expected = await Promise.all(dialects.map(query => get(publicHost, `/agents/bilingual${query}`)))
    expect(cards.map(({ body }) => body)).toEqual(expected.map(({ body }) => body))
    const { headers } = await get(publicHost, '/a2a/v1/agents/bilingual', undefined, { 'A2A-Version': '1.0' })
    expect(headers.get('a2a-version')).toBe('1.0')
    expect((await get(publicHost, '/a2a/v1/agents/bilingual?dialect=klingon')).body.code).toBe('unknown-dialect')
  })

  it('supports CORS, caching, conditional requests and HEAD as every card does', async () => {
    const path = '/a2a/v1/agents/bilingual'
    const { headers } = await get(publicHost, path)
    expect([headers.get('access-control-allow-origin'), headers.get('cache-control')]).toEqual([
      '*',
      'public, max-age=60, stale-while-revalidate=86400',
    ])
    const etag = headers.get('etag') ?? ''
    expect((await get(publicHost, path, undefined, { 'If-None-Match': etag })).status).toBe(304)
    const head = await publicHost.fetch(path, { method: 'HEAD' })
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, ''])
    expect((await publicHost.fetch(path, { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  })
})

describe('ROLE=internal', () => {
  const paths = [listPath, '/a2a/v1/agents/CustomerSupport', '/a2a/v1/agents/internal', '/a2a/v1/agents/unknown']

  it.each(paths)('requires a token with `read` for %s', async path => {
    const without = await get(internalHost, path)
    expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="calling-card"'])
    const wrong = await get(internalHost, path, 'wrong')
    expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="calling-card", error="invalid_token"',
    ])
    const writer = await get(internalHost, path, tokens['writer internal'])
    expect([writer.status, writer.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="calling-card", error="insufficient_scope", scope="read"',
    ])
  })

  it('returns public agents and the internal agents of the token', async () => {
    const reader = tokens['reader internal']
    expect(names(await get(internalHost, listPath, reader))).toEqual([
      'Bilingual',
      'CustomerSupport',
      'Internal Agent',
      'Plain',
      'SpecializedAgent',
    ])
    expect((await get(internalHost, '/a2a/v1/agents/internal%20agent', reader)).body.name).toBe('Internal Agent')
    const other = tokens['other internal']
    expect(names(await get(internalHost, listPath, other))).toEqual([
      'Bilingual',
      'CustomerSupport',
      'Plain',
      'SpecializedAgent',
    ])
    expect((await get(internalHost, '/a2a/v1/agents/CustomerSupport', other)).status).toBe(200)
    expect((await get(internalHost, '/a2a/v1/agents/internal', other)).status).toBe(404)
  })

  it("does not affect this host's own endpoints", async () => {
    expect((await get(internalHost, '/agents')).status).toBe(200)
    expect((await get(internalHost, '/agents/bilingual')).status).toBe(200)
  })
})

describe('deploymentRole', () => {
  it.each([
    [undefined, 'public', 0],
    ['', 'public', 0],
    ['public', 'public', 0],
    ['internal', 'internal', 0],
    [' internal ', 'internal', 0],
    ['Public', 'internal', 1],
    ['open', 'internal', 1],
  ])('reads ROLE %j as %s, and logs an error if it is invalid', (ROLE, role, errors) => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    expect([deploymentRole(ROLE === undefined ? {} : { ROLE }), error.mock.calls.length]).toEqual([role, errors])
  })

  it('logs an invalid ROLE once, not with each request', () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    for (let count = 0; count < 3; count++) deploymentRole({ ROLE: 'Internal' })
    expect(error).toHaveBeenCalledTimes(1)
  })
})
