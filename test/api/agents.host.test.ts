import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
})
afterAll(() => host.close())

const bearer = { Authorization: `Bearer ${token}` }
/** The members of receipts, problems and cards that these tests read. */
type Body = {
  seq: number
  root: boolean
  name: string
  description: string
  urls: object
  etags: Record<string, string>
}
const readBody = (response: Response) => response.json() as Promise<Body>
const getCard = async (id: string) => readBody(await host.fetch(`/agents/${id}`))

describe('PUT /agents/{id}', () => {
  it('returns 201 with a receipt: the sequence number, entity tags, and a report of the defaults', async () => {
    const response = await host.put('new', minimalCard)
    const receipt = await readBody(response)
    const etagNames = [
      'manifest',
      'agent-card.json',
      'agent.json',
      '1.0',
      'superx',
      'telex',
      'shaman',
      '0.3',
      'gopherhole',
    ]
    expect([response.status, receipt]).toEqual([
      201,
      {
        id: 'new',
        seq: 1,
        changed: true,
        published: true,
        root: true,
        urls: {
          card: expect.stringMatching(/\/agents\/new\/\.well-known\/agent-card\.json$/),
          agent: expect.stringMatching(/\/agents\/new$/),
        },
        etags: Object.fromEntries(etagNames.map(name => [name, expect.stringMatching(/^"[0-9a-f]{64}"$/)])),
        report: expect.objectContaining({
          dialect: 'gopherhole',
          filled: expect.arrayContaining([
            { pointer: '/protocolVersion', message: 'set to "1.0"' },
            { pointer: '/hosts', message: expect.stringContaining('the first agent of a host becomes its root agent') },
          ]),
        }),
      },
    ])
  })

  it('makes the card visible at once, with the entity tags of the receipt', async () => {
    const receipt = await readBody(await host.put('visible', minimalCard))
    const replaced = await readBody(await host.put('visible', { ...minimalCard, name: 'Renamed' }))
    const response = await host.fetch('/agents/visible/.well-known/agent-card.json')
    expect([response.headers.get('etag'), (await readBody(response)).name]).toEqual([
      replaced.etags['agent-card.json'],
      'Renamed',
    ])
    expect(replaced.etags['agent-card.json']).not.toBe(receipt.etags['agent-card.json'])
  })

  it('makes no new revision for an identical registration', async () => {
    await host.put('same', minimalCard)
    const response = await host.put('same', minimalCard)
    expect([response.status, await readBody(response)]).toMatchObject([
      200,
      { seq: 1, changed: false, published: true },
    ])
  })

  it('numbers the revisions of an agent consecutively', async () => {
    const seqs: number[] = []
    for (const name of ['A', 'B', 'A'])
      seqs.push((await readBody(await host.put('counted', { ...minimalCard, name }))).seq)
    expect(seqs).toEqual([1, 2, 3])
  })

  it('accepts media types with the suffix +json, and a byte order mark', async () => {
    const response = await host.fetch('/agents/suffix', {
      method: 'PUT',
      headers: { ...bearer, 'Content-Type': 'application/a2a+json; charset=utf-8' },
      body: `\uFEFF${JSON.stringify(minimalCard)}`,
    })
    expect(response.status).toBe(201)
  })
})

describe('PUT /agents/{id} with a precondition', () => {
  it.each([
    ['If-None-Match: * for a new agent', false, () => ({ 'If-None-Match': '*' }), 201],
    ['If-None-Match: * for an existing agent', true, () => ({ 'If-None-Match': '*' }), 412],
    [
      'If-Match with the entity tag of the manifest',
      true,
      (etags: Record<string, string>) => ({ 'If-Match': etags.manifest ?? '' }),
      200,
    ],
    [
      'If-Match with the entity tag of the card',
      true,
      (etags: Record<string, string>) => ({ 'If-Match': etags['agent-card.json'] ?? '' }),
      200,
    ],
    ['If-Match: * for an existing agent', true, () => ({ 'If-Match': '*' }), 200],
    [
      'If-Match with a list of entity tags',
      true,
      (etags: Record<string, string>) => ({ 'If-Match': `"x", ${etags.manifest}` }),
      200,
    ],
    ['If-Match with another entity tag', true, () => ({ 'If-Match': '"x"' }), 412],
    [
      'If-Match with a weak entity tag',
      true,
      (etags: Record<string, string>) => ({ 'If-Match': `W/${etags.manifest}` }),
      412,
    ],
    ['If-Match: * for a new agent', false, () => ({ 'If-Match': '*' }), 412],
  ])('evaluates %s', async (name, exists, headers, status) => {
    const id = name.toLowerCase().replace(/[^a-z]+/g, '-')
    const etags = exists ? (await readBody(await host.put(id, minimalCard))).etags : {}
    const response = await host.put(id, { ...minimalCard, description: 'Changed' }, headers(etags))
    expect(response.status).toBe(status)
    if (exists) expect((await getCard(id)).description).toBe(status === 412 ? minimalCard.description : 'Changed')
  })

  it('explains why a create-only request failed', async () => {
    await host.put('there', minimalCard)
    const response = await host.put('there', minimalCard, { 'If-None-Match': '*' })
    expect(await response.text()).toContain('Agent \\"there\\" exists already')
  })

  it('accepts one of two concurrent requests with the same tag, and advises the other to read the agent again', async () => {
    const { etags } = await readBody(await host.put('raced', minimalCard))
    const responses = await Promise.all(
      ['One', 'Two'].map(name => host.put('raced', { ...minimalCard, name }, { 'If-Match': etags.manifest ?? '' })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412])
    const loser = responses.find(({ status }) => status === 412) as Response
    expect(await readBody(loser)).toMatchObject({
      code: 'precondition-failed',
      detail: expect.stringContaining('Read it again'),
    })
    const winner = responses.findIndex(({ status }) => status === 200)
    expect((await getCard('raced')).name).toBe(['One', 'Two'][winner])
  })
})

describe('GET /agents/{id}/manifest', () => {
  it('returns the manifest exactly as registered, with its entity tag', async () => {
    const manifest = {
      card: { ...minimalCard, 'x-team': 'ünïcode' },
      visibility: 'internal',
      hosts: ['manifest.example.com'],
    }
    const { etags } = await readBody(await host.put('manifest', manifest))
    const response = await host.fetch('/agents/manifest/manifest', { headers: bearer })
    expect([
      response.status,
      response.headers.get('etag'),
      response.headers.get('cache-control'),
      await response.json(),
    ]).toEqual([200, etags.manifest, 'private, no-store', manifest])
  })

  it('returns 404 for an unknown agent', async () => {
    expect((await host.fetch('/agents/unknown/manifest', { headers: bearer })).status).toBe(404)
  })
})

describe('DELETE /agents/{id}', () => {
  it('removes the card, its host names and its KV values, and continues the sequence numbers when it is registered again', async () => {
    await host.put('gone', { card: minimalCard, hosts: ['gone.example.com'] })
    const response = await host.fetch('/agents/gone', { method: 'DELETE', headers: bearer })
    expect([response.status, await response.text(), response.headers.get('cache-control')]).toEqual([
      204,
      '',
      'private, no-store',
    ])
    expect((await host.fetch('/agents/gone')).status).toBe(404)
    const { CARDS } = await host.env()
    expect([await CARDS.get('card:gone'), await CARDS.get('host:gone.example.com')]).toEqual([
      '{"seq":2,"modified":"","parts":[]}\n',
      '',
    ])
    expect((await host.fetch('https://gone.example.com/.well-known/agent.json')).status).toBe(200)
    expect((await readBody(await host.put('gone', minimalCard))).seq).toBe(3)
  })

  it.each([
    ['404 for an unknown agent', 'unknown', {}, 404],
    ['412 for an agent that has changed since', 'changed', { 'If-Match': '"old"' }, 412],
  ])('returns %s', async (_, id, headers, status) => {
    await host.put('changed', minimalCard)
    expect((await host.fetch(`/agents/${id}`, { method: 'DELETE', headers: { ...bearer, ...headers } })).status).toBe(
      status,
    )
    expect((await host.fetch('/agents/changed')).status).toBe(200)
  })
})

describe('the host names of an agent', () => {
  it('belong to one agent: a second claim gets 409, with the id of the agent that has the name', async () => {
    await host.put('owner', { card: minimalCard, hosts: ['taken.example.com'] })
    const response = await host.put('claimant', { card: minimalCard, hosts: ['free.example.com', 'taken.example.com'] })
    expect([response.status, await readBody(response)]).toMatchObject([
      409,
      { code: 'host-taken', detail: expect.stringContaining('"taken.example.com" belongs to agent "owner"') },
    ])
    expect((await host.fetch('/agents/claimant')).status).toBe(404)
  })

  it('become available when their agent drops them', async () => {
    await host.put('first-owner', { card: minimalCard, hosts: ['moving.example.com'] })
    await host.put('first-owner', { card: minimalCard, hosts: [] })
    await host.put('next-owner', { card: { ...minimalCard, name: 'Next' }, hosts: ['moving.example.com'] })
    expect(await readBody(await host.fetch('https://moving.example.com/.well-known/agent.json'))).toMatchObject({
      name: 'Next',
    })
  })

  it('keep the first public agent as the root agent until it becomes internal', async () => {
    const fresh = await startHost()
    await fresh.put('inside', { card: minimalCard, visibility: 'internal' })
    await fresh.put('first', minimalCard)
    await fresh.put('second', minimalCard)
    expect((await readBody(await fresh.put('first', { ...minimalCard, name: 'Renamed' }))).root).toBe(true)
    expect(await readBody(await fresh.fetch('/.well-known/agent.json'))).toMatchObject({ name: 'Renamed' })
    await fresh.put('first', { card: minimalCard, visibility: 'internal' })
    expect((await fresh.fetch('/.well-known/agent.json')).status).toBe(404)
    await fresh.close()
  })

  it('may include "*", which replaces the default root agent and which only one agent can have', async () => {
    const receipt = await readBody(await host.put('root', { card: { ...minimalCard, name: 'Root' }, hosts: ['*'] }))
    expect(receipt.root).toBe(true)
    expect(await readBody(await host.fetch('https://any.example.com/.well-known/agent.json'))).toMatchObject({
      name: 'Root',
    })
    expect((await host.put('pretender', { card: minimalCard, hosts: ['*'] })).status).toBe(409)
  })
})

describe('the card of an agent behind the gateway', () => {
  it("advertises this host's address, and never the upstream's, in every dialect", async () => {
    const card = { ...minimalCard, url: 'https://upstream.internal.example/a2a' }
    const { urls, etags } = await readBody(
      await host.put('gateway', { card, route: 'gateway', hosts: ['gw.example.com'] }),
    )
    expect(urls).toEqual({
      card: 'https://gw.example.com/agents/gateway/.well-known/agent-card.json',
      agent: 'https://gw.example.com/agents/gateway',
    })
    for (const name of Object.keys(etags).filter(name => /^[^.]*$|^\d/.test(name) && name !== 'manifest')) {
      const text = await (await host.fetch(`/agents/gateway?dialect=${name}`)).text()
      expect(text).not.toContain('upstream.internal')
      expect(text).toContain('https://gw.example.com/agents/gateway/a2a')
    }
  })
})

describe('authentication', () => {
  it.each([
    ['no token', {}, 'no-token', 'Authorization: Bearer'],
    ['an unknown token', { Authorization: 'Bearer wrong' }, 'bad-token', 'unknown, expired or revoked'],
    ['an empty token', { Authorization: 'Bearer ' }, 'bad-token', 'unknown, expired or revoked'],
    [
      'a token in another scheme',
      { Authorization: `Basic ${token}` },
      'bad-token',
      'not sent as `Authorization: Bearer',
    ],
    [
      'a token with an extra character',
      { Authorization: `Bearer ${token}x` },
      'bad-token',
      'unknown, expired or revoked',
    ],
  ])(
    'rejects %s with 401 for every write and for the manifest, and changes nothing',
    async (_, headers, code, detail) => {
      for (const [method, path] of [
        ['PUT', '/agents/locked'],
        ['DELETE', '/agents/visible'],
        ['GET', '/agents/visible/manifest'],
      ] as const) {
        const init = {
          method,
          headers: { 'Content-Type': 'application/json', ...headers },
          ...(method === 'PUT' && { body: JSON.stringify(minimalCard) }),
        }
        const response = await host.fetch(path, init)
        expect([response.status, response.headers.get('www-authenticate'), await readBody(response)]).toEqual([
          401,
          expect.stringMatching(/^Bearer realm="calling-card"/),
          expect.objectContaining({ code, detail: expect.stringContaining(detail) }),
        ])
      }
      expect((await host.fetch('/agents/locked')).status).toBe(404)
      expect((await host.fetch('/agents/visible')).status).toBe(200)
    },
  )
})
