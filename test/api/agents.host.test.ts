import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { emptyHost, type Host, sharedHost, token } from '../support/host.ts'

/** Has no agents of other files, so that an agent of this file becomes the root agent. */
let host: Host
const send = senderTo(sharedHost('empty'))
beforeAll(async () => {
  host = await emptyHost()
})

type Receipt = { seq: number; root: boolean; urls: object; etags: Record<string, string> }
const put = async (id: string, document: JsonObject, headers: Record<string, string> = {}) => {
  const { body, ...rest } = await send(`/agents/${id}`, { method: 'PUT', token, body: document, headers })
  return { ...rest, body: body as Receipt & JsonObject }
}
const get = (path: string) => send(path, { method: 'GET' })
const rootCard = '/.well-known/agent.json'

describe('PUT /agents/{id}', () => {
  it('returns 201 with a receipt: the sequence number, entity tags, and a report of the defaults', async () => {
    const etag = expect.stringMatching(/^"[0-9a-f]{64}"$/)
    const { status, headers, body } = await put('reg-new', minimalCard)
    expect([headers.get('etag'), headers.get('cache-control')]).toEqual([body.etags.manifest, 'private, no-store'])
    expect([status, body]).toEqual([
      201,
      {
        ...{ id: 'reg-new', seq: 1, changed: true, published: true, root: true },
        urls: {
          card: expect.stringMatching(/\/agents\/reg-new\/\.well-known\/agent-card\.json$/),
          agent: expect.stringMatching(/\/agents\/reg-new$/),
        },
        etags: {
          ...{ manifest: etag, 'agent-card.json': etag, 'agent.json': etag, '1.0': etag, '0.3': etag },
          ...{ superx: etag, telex: etag, shaman: etag, gopherhole: etag },
        },
        report: expect.objectContaining({
          dialect: 'gopherhole',
          filled: expect.arrayContaining([
            {
              pointer: '/protocolVersion',
              message: 'set to "1.0"',
              change: { op: 'add', path: '/protocolVersion', value: '1.0' },
            },
            { pointer: '/hosts', message: expect.stringContaining('the first agent of a host becomes its root agent') },
          ]),
        }),
      },
    ])
  })

  it('makes the card visible at once, with the entity tags of the receipt', async () => {
    const { body: first } = await put('reg-visible', minimalCard)
    const { body: second } = await put('reg-visible', { ...minimalCard, name: 'Renamed' })
    const { headers, body } = await get('/agents/reg-visible/.well-known/agent-card.json')
    expect([headers.get('etag'), body]).toMatchObject([second.etags['agent-card.json'], { name: 'Renamed' }])
    expect(second.etags['agent-card.json']).not.toBe(first.etags['agent-card.json'])
  })

  it('numbers the revisions of an agent consecutively, and makes none for an identical registration', async () => {
    const receipts: unknown[] = []
    for (const name of ['A', 'B', 'B', 'A']) {
      const { status, body } = await put('reg-counted', { ...minimalCard, name })
      receipts.push([status, body.seq, body.changed, body.published])
    }
    expect(receipts).toEqual([
      [201, 1, true, true],
      [200, 2, true, true],
      [200, 2, false, true],
      [200, 3, true, true],
    ])
  })
})

it('PUT /agents/{id} with a precondition evaluates it, and explains why it failed', async () => {
  const { etags } = (await put('reg-there', minimalCard)).body
  const changed = { ...minimalCard, description: 'Changed' }
  for (const [id, headers, detail] of [
    ['reg-there', { 'If-None-Match': '*' }, 'exists already. To replace it, send If-Match with the ETag of'],
    ['reg-there', { 'If-Match': '"x"' }, 'has changed since you read it. Read it again'],
    ['reg-absent', { 'If-Match': '*' }, 'exists to replace. Register it without If-Match.'],
  ] as const)
    expect(await put(id, changed, headers)).toMatchObject({
      ...{ status: 412, body: { detail: expect.stringContaining(`"${id}" ${detail}`) } },
    })
  expect((await get('/agents/reg-there')).body).toMatchObject({ description: 'Does something useful' })
  for (const tag of [etags.manifest, etags['agent-card.json']])
    expect((await put('reg-there', minimalCard, { 'If-Match': `"x", ${tag}` })).status).toBe(200)
})

it('GET /agents/{id}/manifest returns the manifest as registered, with its entity tag, or 404', async () => {
  const card = { ...minimalCard, 'x-team': 'ünïcode' }
  const manifest = { card, visibility: 'internal', hosts: ['manifest.example.com'] }
  const { etags } = (await put('reg-manifest', manifest)).body
  const { status, headers, body } = await send('/agents/reg-manifest/manifest', { method: 'GET', token })
  expect([status, headers.get('etag'), headers.get('cache-control'), body]).toEqual([
    ...[200, etags.manifest, 'private, no-store', manifest],
  ])
  expect(Date.parse(headers.get('last-modified') ?? '')).toBeCloseTo(Date.now(), -5)
  expect((await send('/agents/reg-unknown/manifest', { method: 'GET', token })).status).toBe(404)
})

describe('DELETE /agents/{id}', () => {
  it('removes the card, its host names and its KV values, and continues the sequence numbers when it is registered again', async () => {
    await put('reg-gone', { card: minimalCard, hosts: ['gone.example.com'] })
    const { status, text, headers } = await send('/agents/reg-gone', { method: 'DELETE', token })
    expect([status, text, headers.get('cache-control')]).toEqual([204, '', 'private, no-store'])
    expect((await get('/agents/reg-gone')).status).toBe(404)
    const { CARDS } = await host.env()
    expect([await CARDS.get('card:reg-gone'), await CARDS.get('host:gone.example.com')]).toEqual([
      '{"seq":2,"modified":"","parts":[]}\n',
      '',
    ])
    expect((await put('reg-gone', minimalCard)).body.seq).toBe(3)
  })

  it('returns 404 for an unknown agent, and 412 for one that has changed since', async () => {
    await put('reg-changed', minimalCard)
    const headers = { 'If-Match': '"old"' }
    expect((await send('/agents/reg-unknown', { method: 'DELETE', token })).status).toBe(404)
    expect((await send('/agents/reg-changed', { method: 'DELETE', token, headers })).status).toBe(412)
    expect((await get('/agents/reg-changed')).status).toBe(200)
  })
})

describe('the host names of an agent', () => {
  it('belong to one agent: a second claim gets 409, with the id of the agent that has the name', async () => {
    await put('reg-owner', { card: minimalCard, hosts: ['taken.example.com'] })
    const claimant = { card: minimalCard, hosts: ['free.example.com', 'taken.example.com'] }
    const owned = expect.stringContaining('"taken.example.com", which belongs to agent "reg-owner"')
    const detail = expect.stringContaining('"taken.example.com" belongs to agent "reg-owner"')
    const body = { code: 'host-taken', detail, errors: [{ pointer: '/hosts', message: owned }] }
    expect(await put('reg-claimant', claimant)).toMatchObject({ status: 409, body })
    expect((await get('/agents/reg-claimant')).status).toBe(404)
  })

  it('become available when their agent drops them', async () => {
    await put('reg-first-owner', { card: minimalCard, hosts: ['moving.example.com'] })
    await put('reg-first-owner', { card: minimalCard, hosts: [] })
    await put('reg-next-owner', { card: { ...minimalCard, name: 'Next' }, hosts: ['moving.example.com'] })
    expect((await get(`https://moving.example.com${rootCard}`)).body).toMatchObject({ name: 'Next' })
  })

  it('keep the first public agent as the root agent until it becomes internal', async () => {
    await emptyHost()
    const nothing = await get('/.well-known/agent-card.json')
    expect(nothing).toMatchObject({ status: 404, body: { code: 'no-root-agent' } })
    expect(nothing.text).toContain('/agents/{id}/.well-known/agent-card.json')
    await put('reg-inside', { card: minimalCard, visibility: 'internal' })
    await put('reg-first', minimalCard)
    await put('reg-second', minimalCard)
    expect((await put('reg-first', { ...minimalCard, name: 'Renamed' })).body.root).toBe(true)
    expect((await get(rootCard)).body).toMatchObject({ name: 'Renamed' })
    await put('reg-first', { card: minimalCard, visibility: 'internal' })
    expect((await get(rootCard)).status).toBe(404)
  })
})

it('every write and the manifest need a token: without, they get 401 and change nothing', async () => {
  await put('reg-locked', minimalCard)
  for (const [authorization, code] of [
    ['', 'no-token'],
    ['Bearer wrong', 'bad-token'],
    [`Basic ${token}`, 'bad-token'],
  ] as const)
    for (const [method, path] of [
      ['PUT', '/agents/reg-never'],
      ['DELETE', '/agents/reg-locked'],
      ['GET', '/agents/reg-locked/manifest'],
    ] as const) {
      const headers = { ...(authorization && { Authorization: authorization }) }
      const { status, body } = await send(path, { method, headers, ...(method === 'PUT' && { body: minimalCard }) })
      expect([authorization, method, status, body]).toMatchObject([authorization, method, 401, { code }])
    }
  expect((await get('/agents/reg-never')).status).toBe(404)
  expect((await get('/agents/reg-locked')).status).toBe(200)
})
