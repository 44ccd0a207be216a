import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/json/json.ts'
import { senderTo } from '../../support/called-host.ts'
import { bilingualCard } from '../../support/cards/cards.ts'
import { readSeed } from '../../support/cards/seeds.ts'
import { emptyHost, type Host, sharedHost } from '../../support/host.ts'

const { capabilities, inputSchema, outputSchema, skills, securitySchemes } = readSeed('shaman-individual')
const frontMatter = readSeed('shaman-front-matter')
const agentcard = { capabilities, inputSchema, outputSchema, skills } as JsonObject

/** The examples of Shaman's documentation, as sync-card reads their front matter. */
const cards: Record<string, JsonObject> = {
  'customer-support': { ...frontMatter, agentcard, securitySchemes: securitySchemes ?? null },
  internal: { name: 'Internal Agent', description: 'Only accessible internally', exposed: false },
}
const upstream = { url: 'https://acme.shaman.ai/a2a/v1' }

const publicHost = sharedHost('empty')
const internalHost = sharedHost('internal')
const tokens: Record<string, string> = {}
beforeAll(async () => {
  await emptyHost()
  for (const [role, host] of Object.entries({ public: publicHost, internal: internalHost })) {
    for (const [id, card] of Object.entries(cards)) expect((await host.put(id, { card, upstream })).ok).toBe(true)
    await host.put('bilingual', bilingualCard)
    tokens[`reader ${role}`] = (await host.issue({ scopes: ['read'] })).token
    tokens[`other ${role}`] = (await host.issue({ scopes: ['read'], agents: ['bilingual'] })).token
    tokens[`writer ${role}`] = (await host.issue({ scopes: ['write'] })).token
  }
})

type Body = { agents: { name: string }[]; cursor?: string; code?: string; name?: string } & Record<string, unknown>
const send = async (host: Host, path: string, bearer?: string, headers: Record<string, string> = {}) => {
  const response = await senderTo(host)(path, { method: 'GET', token: bearer, headers })
  return { ...response, body: response.body as Body }
}
const get = (path: string, bearer?: string, headers?: Record<string, string>) => send(publicHost, path, bearer, headers)
const listPath = '/.well-known/a2a/agents'
const publicNames = ['Bilingual', 'CustomerSupport']
const allNames = ['Bilingual', 'CustomerSupport', 'Internal Agent']
/** Returns the names of the agents of this file: the internal host may have others. */
const names = ({ body }: { body: Body }) => body.agents.map(({ name }) => name).filter(name => allNames.includes(name))

describe('GET /.well-known/a2a/agents', () => {
  it('lists the exposed agents without a token, as in the documentation', async () => {
    const { status, body, headers } = await get(listPath)
    const support = {
      ...{ name: 'CustomerSupport', description: 'Handles customer inquiries and support requests', version: '1.0.0' },
      ...{ url: 'https://acme.shaman.ai/a2a/v1', preferredTransport: 'JSONRPC' },
    }
    const bilingual = { name: 'Bilingual', description: 'Speaks v0.3 and v1.0', version: '2.0.0' }
    const listed = { ...bilingual, url: 'https://bilingual.example.com/v0', preferredTransport: 'JSONRPC' }
    expect([status, body]).toEqual([200, { protocolVersion: '0.3.0', agents: [listed, support] }])
    expect(headers.get('cache-control')).toMatch(/^public, /)
  })

  it('also lists the internal agents of a token with the scope `read`', async () => {
    const response = await get(listPath, tokens['reader public'])
    expect([names(response), response.headers.get('cache-control')]).toEqual([allNames, 'private, no-store'])
    expect(names(await get(listPath, tokens['other public']))).toEqual(publicNames)
  })

  it('returns pages, and 304 for the entity tag of a page', async () => {
    const first = await get(`${listPath}?limit=1`)
    expect([names(first), first.body.cursor]).toEqual([['Bilingual'], 'bilingual'])
    const etag = first.headers.get('etag') ?? ''
    expect((await get(`${listPath}?limit=1`, undefined, { 'If-None-Match': etag })).status).toBe(304)
    expect(names(await get(`${listPath}?cursor=bilingual`))).toEqual(publicNames.slice(1))
  })

  it('rejects invalid queries', async () => {
    for (const [query, code] of [
      ['cursor=..', 'bad-cursor'],
      ['role=internal', 'unknown-query'],
    ])
      expect(await get(`${listPath}?${query}`)).toMatchObject({ status: 400, body: { code } })
  })

  it('rejects an unknown token and one without the scope `read`', async () => {
    expect((await get(listPath, 'wrong')).status).toBe(401)
    expect((await get(listPath, tokens['writer public'])).status).toBe(403)
  })
})

describe('GET /a2a/v1/agents/{name}', () => {
  it('returns the card of the documentation, member for member', async () => {
    const { status, body } = await get('/a2a/v1/agents/CustomerSupport')
    expect([status, body]).toEqual([200, { ...readSeed('shaman-individual'), tags: ['support', 'customer-service'] }])
  })

  it('finds an agent by its name in any case, or its id, and no other', async () => {
    for (const name of ['CUSTOMERSUPPORT', 'customer-support', 'Customer%53upport'])
      expect((await get(`/a2a/v1/agents/${name}`)).body.name).toBe('CustomerSupport')
    for (const name of ['unknown', '%E0%A4%A', 'a'.repeat(300), 'internal'])
      expect(await get(`/a2a/v1/agents/${name}`)).toMatchObject({ status: 404, body: { code: 'agent-not-found' } })
  })

  it('does not distinguish internal agents from unknown ones for callers that may not read them', async () => {
    const responses = new Set<string>()
    for (const name of ['Internal%20Agent', 'internal', 'Internal%20Unknown'])
      for (const bearer of [undefined, 'wrong', tokens['other public'], tokens['writer public']]) {
        const { status, text, headers } = await get(`/a2a/v1/agents/${name}`, bearer)
        const received = [...headers].filter(([name]) => name !== 'content-length' && name !== 'date')
        responses.add(JSON.stringify([status, text, received]).replaceAll(decodeURIComponent(name), 'X'))
      }
    expect(responses.size).toBe(1)
    const { body } = await get('/a2a/v1/agents/Internal%20Agent', tokens['reader public'])
    expect(body.name).toBe('Internal Agent')
  })

  it('returns other dialects with the query parameter `dialect`', async () => {
    const superx = '?dialect=superx'
    expect((await get(`/a2a/v1/agents/bilingual${superx}`)).body).toEqual(
      (await get(`/agents/bilingual${superx}`)).body,
    )
    const { headers } = await get('/a2a/v1/agents/bilingual', undefined, { 'A2A-Version': '1.0' })
    expect(headers.get('a2a-version')).toBe('1.0')
    expect((await get('/a2a/v1/agents/bilingual?dialect=klingon')).body.code).toBe('unknown-dialect')
  })

  it('supports caching and conditional requests as every card does', async () => {
    const path = '/a2a/v1/agents/bilingual'
    const { headers } = await get(path)
    const etag = headers.get('etag') ?? ''
    expect(headers.get('cache-control')).toBe('public, max-age=60, stale-while-revalidate=86400')
    expect((await get(path, undefined, { 'If-None-Match': etag })).status).toBe(304)
  })
})

describe('ROLE=internal', () => {
  const getInternal = (path: string, bearer?: string) => send(internalHost, path, bearer)

  it('requires a token with `read`', async () => {
    const realm = 'Bearer realm="calling-card"'
    for (const path of [listPath, '/a2a/v1/agents/CustomerSupport', '/a2a/v1/agents/unknown'])
      for (const [bearer, status, challenge] of [
        [undefined, 401, realm],
        ['wrong', 401, `${realm}, error="invalid_token"`],
        [tokens['writer internal'], 403, `${realm}, error="insufficient_scope", scope="read"`],
      ] as const) {
        const response = await getInternal(path, bearer)
        expect([response.status, response.headers.get('www-authenticate')], path).toEqual([status, challenge])
      }
  })

  it('returns public agents and the internal agents of the token', async () => {
    const [reader, other] = [tokens['reader internal'], tokens['other internal']]
    expect(names(await getInternal(listPath, reader))).toEqual(allNames)
    expect((await getInternal('/a2a/v1/agents/internal%20agent', reader)).body.name).toBe('Internal Agent')
    expect(names(await getInternal(listPath, other))).toEqual(publicNames)
    expect((await getInternal('/a2a/v1/agents/CustomerSupport', other)).status).toBe(200)
    expect((await getInternal('/a2a/v1/agents/internal', other)).status).toBe(404)
  })
})
