import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../src/card/compile/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { SourceRecord } from '../../src/registry/records.ts'
import { prepareRemote } from '../../src/sources/reconcile.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'
import { failure, fetched, source } from '../support/registrations.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
  await host.put('first', minimalCard)
})
afterAll(() => host.close())

const minute = 60_000
const day = 24 * 60 * minute
const problem = 'application/problem+json'
const bearer = { Authorization: `Bearer ${token}` }
const stale = '110 - "Response is Stale", 111 - "Revalidation Failed"'

/** Registers an agent as a refresh leaves it that came to this; without a card, where the record has none. */
const kept = async (id: string, record: SourceRecord, more: JsonObject = {}): Promise<void> => {
  const document = { card: { ...minimalCard, name: id }, ...more }
  const origins = { requestOrigin: host.url.origin }
  const made = compile(document, { id, ...origins })
  if ('errors' in made) throw new Error(JSON.stringify(made.errors))
  const { compiled } = made
  const { manifest } = compiled
  const reconciled = { record, compiled: record.card === undefined ? undefined : compiled }
  const registration = await prepareRemote({ id, document, manifest, origins }, reconciled, {})
  const registry = (await host.env()).REGISTRY.getByName('default')
  expect(await registry.register(registration, true)).toMatchObject({ outcome: 'registered' })
}

/** Registers an agent whose card has never come. */
const cardless = (id: string, failed = failure(), more: JsonObject = {}): Promise<void> =>
  kept(id, { source, failure: failed, by: 'manifest' }, more)

const ago = (milliseconds: number) => ({ checked: Date.now() - milliseconds })
const card = (id: string, init: RequestInit = {}, query = '') =>
  host.fetch(`/agents/${id}/.well-known/agent-card.json${query}`, init)
const saying = ({ status, headers }: Response) => ({ status, age: headers.get('Age'), warning: headers.get('Warning') })
const silent = { age: null, warning: null }

describe('a card from elsewhere', () => {
  it.each([
    ['that is well', {}],
    ['that is well, and was last heard of long ago', ago(3 * day)],
    ['that fails, and was fetched a moment ago', { failure: failure() }],
  ])('is served as any other: one %s', async (name, record) => {
    const id = name.replaceAll(/[^a-z]+/g, '-')
    await kept(id, fetched(id, record))
    const response = await card(id)
    expect({ ...saying(response), caching: response.headers.get('Cache-Control') }).toEqual({
      ...{ status: 200, ...silent },
      caching: (await card('first')).headers.get('Cache-Control'),
    })
    expect(await response.json()).toMatchObject({ name: id })
  })
})

describe('a card whose source fails, older than it counts as fresh', () => {
  beforeAll(() => kept('old', fetched('old', { ...ago(10 * minute), failure: failure() }), { hosts: ['old.example'] }))

  it.each<[string, string, RequestInit]>([
    ['GET', '/agents/old/.well-known/agent-card.json', {}],
    ['the other well-known path', '/agents/old/.well-known/agent.json', {}],
    ['the card of the host name', 'https://old.example/.well-known/agent-card.json', {}],
    ['in a dialect', '/agents/old?dialect=0.3', {}],
    ['HEAD', '/agents/old', { method: 'HEAD' }],
    ['with a token', '/agents/old', { headers: bearer }],
  ])('is served, and says how old it is: %s', async (_, path, init) => {
    const response = await host.fetch(path, init)
    expect(saying(response)).toEqual({ status: 200, age: expect.stringMatching(/^60\d$/), warning: stale })
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('Age, Warning')
  })

  it('says so with a 304 too', async () => {
    const etag = (await card('old')).headers.get('ETag') ?? ''
    const response = await card('old', { headers: { 'If-None-Match': etag } })
    expect(saying(response)).toEqual({ status: 304, age: expect.stringMatching(/^60\d$/), warning: stale })
  })
})

describe('a card whose source fails, that is older than anyone should be served, or that never came', () => {
  const spent = (id: string, status: 502 | 503 | 504, more: JsonObject = {}) =>
    kept(id, fetched(id, { ...ago(2 * day), failure: failure(status, 'inner.example refused') }), more)

  it.each([
    [502, 'upstream-unreachable'],
    [503, 'upstream-not-ready'],
    [504, 'upstream-timeout'],
  ] as const)('is %d %s, in words that tell nothing of the source', async (status, code) => {
    await spent(`spent-${status}`, status)
    await cardless(`none-${status}`, failure(status, 'Something else'))
    const responses = await Promise.all([card(`spent-${status}`), card(`none-${status}`)])
    const told = responses.map(({ status, headers }) => [
      status,
      ...['Content-Type', 'Retry-After', 'Cache-Control', 'Access-Control-Allow-Origin'].map(name => headers.get(name)),
    ])
    const [body, other] = await Promise.all(responses.map(response => response.json()))
    expect(told).toEqual(Array(2).fill([status, problem, '60', 'no-store', '*']))
    expect(body).toMatchObject({ status, code, title: expect.any(String), detail: expect.any(String) })
    expect([other, JSON.stringify(body)]).toEqual([body, expect.not.stringContaining('inner.example')])
  })

  it.each<[string, RequestInit]>([
    ['HEAD', { method: 'HEAD' }],
    ['If-None-Match', { headers: { 'If-None-Match': '*' } }],
    ['a token', { headers: bearer }],
  ])('is none for %s either', async (name, init) => {
    const id = `gone-${name.toLowerCase().replace(' ', '-')}`
    await spent(id, 502)
    expect((await card(id, init)).status).toBe(502)
  })

  it('is none at a host name of its own', async () => {
    await cardless('named', failure(504), { hosts: ['named.example'] })
    expect((await host.fetch('https://named.example/.well-known/agent.json')).status).toBe(504)
  })

  it('is in the list', async () => {
    await cardless('listed')
    const { agents } = (await (await host.fetch('/agents', { headers: bearer })).json()) as { agents: JsonObject[] }
    expect(agents).toContainEqual(expect.objectContaining({ id: 'listed', name: 'listed', description: '' }))
  })

  it('of an internal agent is none that anybody knows of but who may read it', async () => {
    const issue = async (agents: string[]) => {
      const response = await host.fetch('/tokens', {
        method: 'POST',
        headers: { ...bearer, 'Content-Type': 'application/json' },
        body: JSON.stringify({ scopes: ['read'], agents }),
      })
      return { headers: { Authorization: `Bearer ${((await response.json()) as { token: string }).token}` } }
    }
    await cardless('inner-none', failure(503), { visibility: 'internal' })
    await spent('inner-spent', 504, { visibility: 'internal' })
    const mays = [{}, await issue(['other']), await issue(['inner-*'])]
    const statuses = await Promise.all(
      mays.flatMap(init => ['inner-none', 'inner-spent'].map(async id => (await card(id, init)).status)),
    )
    expect(statuses).toEqual([404, 404, 404, 404, 503, 504])
  })
})

describe('an extended card from elsewhere', () => {
  const extended = { extended: { description: 'For those with a token' } }

  it('says how old it is', async () => {
    await kept('more', fetched('more', { ...ago(10 * minute), failure: failure() }), extended)
    const response = await card('more', { headers: bearer })
    expect([saying(response), await response.json()]).toMatchObject([
      { status: 200, age: expect.stringMatching(/^60\d$/), warning: stale },
      { description: 'For those with a token' },
    ])
  })

  it('is none when it is too old, over either door', async () => {
    await kept('no-more', fetched('no-more', { ...ago(2 * day), failure: failure(504) }), extended)
    const call = await host.fetch('/agents/no-more/a2a', {
      method: 'POST',
      headers: { ...bearer, 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: {} }),
    })
    expect([(await card('no-more', { headers: bearer })).status, await call.json()]).toMatchObject([
      504,
      { error: { code: expect.any(Number) } },
    ])
  })
})
