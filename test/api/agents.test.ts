import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
})
afterAll(() => host.close())

const bearer = { Authorization: `Bearer ${token}` }
/** What the host says of a registration, or of an error, or a card. */
type Body = {
  seq: number
  root: boolean
  name: string
  description: string
  urls: object
  etags: Record<string, string>
}
const body = (response: Response) => response.json() as Promise<Body>
const cardOf = async (id: string) => body(await host.fetch(`/agents/${id}`))

describe('PUT /agents/{id}', () => {
  it('registers a card: 201 with seq, entity tags, and a report of what was filled', async () => {
    const response = await host.put('new', minimalCard)
    const receipt = await body(response)
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

  it('is visible at once, with the entity tags that it answered', async () => {
    const receipt = await body(await host.put('visible', minimalCard))
    const replaced = await body(await host.put('visible', { ...minimalCard, name: 'Renamed' }))
    const response = await host.fetch('/agents/visible/.well-known/agent-card.json')
    expect([response.headers.get('etag'), (await body(response)).name]).toEqual([
      replaced.etags['agent-card.json'],
      'Renamed',
    ])
    expect(replaced.etags['agent-card.json']).not.toBe(receipt.etags['agent-card.json'])
  })

  it('makes no new revision of an identical registration', async () => {
    await host.put('same', minimalCard)
    const response = await host.put('same', minimalCard)
    expect([response.status, await body(response)]).toMatchObject([200, { seq: 1, changed: false, published: true }])
  })

  it('makes a new revision of a change, one after the other', async () => {
    const seqs: number[] = []
    for (const name of ['A', 'B', 'A']) seqs.push((await body(await host.put('counted', { ...minimalCard, name }))).seq)
    expect(seqs).toEqual([1, 2, 3])
  })

  it('takes a media type that is JSON by its suffix, and a BOM', async () => {
    const response = await host.fetch('/agents/suffix', {
      method: 'PUT',
      headers: { ...bearer, 'Content-Type': 'application/a2a+json; charset=utf-8' },
      body: `\uFEFF${JSON.stringify(minimalCard)}`,
    })
    expect(response.status).toBe(201)
  })
})

describe('If-Match and If-None-Match', () => {
  it.each([
    ['If-None-Match: * where there is none', false, () => ({ 'If-None-Match': '*' }), 201],
    ['If-None-Match: * where there is one', true, () => ({ 'If-None-Match': '*' }), 412],
    ['If-Match of the manifest', true, (etags: Record<string, string>) => ({ 'If-Match': etags.manifest ?? '' }), 200],
    [
      'If-Match of the card',
      true,
      (etags: Record<string, string>) => ({ 'If-Match': etags['agent-card.json'] ?? '' }),
      200,
    ],
    ['If-Match of *', true, () => ({ 'If-Match': '*' }), 200],
    ['If-Match of a list', true, (etags: Record<string, string>) => ({ 'If-Match': `"x", ${etags.manifest}` }), 200],
    ['If-Match of something else', true, () => ({ 'If-Match': '"x"' }), 412],
    ['If-Match of a weak tag', true, (etags: Record<string, string>) => ({ 'If-Match': `W/${etags.manifest}` }), 412],
    ['If-Match where there is none', false, () => ({ 'If-Match': '*' }), 412],
  ])('%s', async (name, exists, headers, status) => {
    const id = name.toLowerCase().replace(/[^a-z]+/g, '-')
    const etags = exists ? (await body(await host.put(id, minimalCard))).etags : {}
    const response = await host.put(id, { ...minimalCard, description: 'Changed' }, headers(etags))
    expect(response.status).toBe(status)
    if (exists) expect((await cardOf(id)).description).toBe(status === 412 ? minimalCard.description : 'Changed')
  })

  it('says of a create-only write that there is one already', async () => {
    await host.put('there', minimalCard)
    const response = await host.put('there', minimalCard, { 'If-None-Match': '*' })
    expect(await response.text()).toContain('Agent \\"there\\" exists already')
  })

  it('lets one of two writers with the same tag win, and tells the other how to go on', async () => {
    const { etags } = await body(await host.put('raced', minimalCard))
    const responses = await Promise.all(
      ['One', 'Two'].map(name => host.put('raced', { ...minimalCard, name }, { 'If-Match': etags.manifest ?? '' })),
    )
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412])
    const loser = responses.find(({ status }) => status === 412) as Response
    expect(await body(loser)).toMatchObject({
      code: 'precondition-failed',
      detail: expect.stringContaining('Read it again'),
    })
    const winner = responses.findIndex(({ status }) => status === 200)
    expect((await cardOf('raced')).name).toBe(['One', 'Two'][winner])
  })
})

describe('GET /agents/{id}/manifest', () => {
  it('answers what was registered, as registered, with its entity tag', async () => {
    const manifest = {
      card: { ...minimalCard, 'x-team': 'ünïcode' },
      visibility: 'internal',
      hosts: ['manifest.example.com'],
    }
    const { etags } = await body(await host.put('manifest', manifest))
    const response = await host.fetch('/agents/manifest/manifest', { headers: bearer })
    expect([
      response.status,
      response.headers.get('etag'),
      response.headers.get('cache-control'),
      await response.json(),
    ]).toEqual([200, etags.manifest, 'private, no-store', manifest])
  })

  it('is 404 where there is none', async () => {
    expect((await host.fetch('/agents/nobody/manifest', { headers: bearer })).status).toBe(404)
  })
})

describe('DELETE /agents/{id}', () => {
  it('removes the card, its hosts and its KV keys; registering it again goes on counting', async () => {
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
    expect((await body(await host.put('gone', minimalCard))).seq).toBe(3)
  })

  it.each([
    ['an agent that is not there', 'nobody', {}, 404],
    ['an agent that changed since', 'kept', { 'If-Match': '"old"' }, 412],
  ])('declines %s', async (_, id, headers, status) => {
    await host.put('kept', minimalCard)
    expect((await host.fetch(`/agents/${id}`, { method: 'DELETE', headers: { ...bearer, ...headers } })).status).toBe(
      status,
    )
    expect((await host.fetch('/agents/kept')).status).toBe(200)
  })
})

describe('hosts', () => {
  it('belong to one agent: a second claim is 409 and names the holder', async () => {
    await host.put('holder', { card: minimalCard, hosts: ['held.example.com'] })
    const response = await host.put('claimer', { card: minimalCard, hosts: ['free.example.com', 'held.example.com'] })
    expect([response.status, await body(response)]).toMatchObject([
      409,
      { code: 'host-taken', detail: expect.stringContaining('"held.example.com" belongs to agent "holder"') },
    ])
    expect((await host.fetch('/agents/claimer')).status).toBe(404)
  })

  it('are free again when their agent gives them up', async () => {
    await host.put('first-holder', { card: minimalCard, hosts: ['moving.example.com'] })
    await host.put('first-holder', { card: minimalCard, hosts: [] })
    await host.put('next-holder', { card: { ...minimalCard, name: 'Next' }, hosts: ['moving.example.com'] })
    expect(await body(await host.fetch('https://moving.example.com/.well-known/agent.json'))).toMatchObject({
      name: 'Next',
    })
  })

  it('keep the root that an agent became by itself when it is registered again', async () => {
    const fresh = await startHost()
    await fresh.put('inside', { card: minimalCard, visibility: 'internal' })
    await fresh.put('first', minimalCard)
    await fresh.put('second', minimalCard)
    expect((await body(await fresh.put('first', { ...minimalCard, name: 'Renamed' }))).root).toBe(true)
    expect(await body(await fresh.fetch('/.well-known/agent.json'))).toMatchObject({ name: 'Renamed' })
    await fresh.put('first', { card: minimalCard, visibility: 'internal' })
    expect((await fresh.fetch('/.well-known/agent.json')).status).toBe(404)
    await fresh.close()
  })

  it('give "*" to who claims it, over the root that the host chose by itself; then to nobody else', async () => {
    const receipt = await body(await host.put('root', { card: { ...minimalCard, name: 'Root' }, hosts: ['*'] }))
    expect(receipt.root).toBe(true)
    expect(await body(await host.fetch('https://any.example.com/.well-known/agent.json'))).toMatchObject({
      name: 'Root',
    })
    expect((await host.put('pretender', { card: minimalCard, hosts: ['*'] })).status).toBe(409)
  })
})

describe('a gateway card', () => {
  it("advertises this host's address, and never the upstream's, in any dialect", async () => {
    const card = { ...minimalCard, url: 'https://upstream.internal.example/a2a' }
    const { urls, etags } = await body(await host.put('gateway', { card, route: 'gateway', hosts: ['gw.example.com'] }))
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

describe('tokens', () => {
  it.each([
    ['none', {}, 'no-token', 'Authorization: Bearer'],
    ['a wrong one', { Authorization: 'Bearer wrong' }, 'bad-token', 'unknown, expired or revoked'],
    ['an empty one', { Authorization: 'Bearer ' }, 'bad-token', 'unknown, expired or revoked'],
    ['another scheme', { Authorization: `Basic ${token}` }, 'bad-token', 'incomplete or mistyped'],
    ['a longer one', { Authorization: `Bearer ${token}x` }, 'bad-token', 'incomplete or mistyped'],
  ])('%s: 401 on every write and on the manifest, and nothing changes', async (_, headers, code, detail) => {
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
      expect([response.status, response.headers.get('www-authenticate'), await body(response)]).toEqual([
        401,
        expect.stringMatching(/^Bearer realm="calling-card"/),
        expect.objectContaining({ code, detail: expect.stringContaining(detail) }),
      ])
    }
    expect((await host.fetch('/agents/locked')).status).toBe(404)
    expect((await host.fetch('/agents/visible')).status).toBe(200)
  })
})
