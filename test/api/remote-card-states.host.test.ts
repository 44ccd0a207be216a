import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../src/card/compile/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import type { SourceRecord } from '../../src/registry/records.ts'
import { prepareRemote } from '../../src/sources/reconcile.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../support/host.ts'
import { failure, fetched, source, withoutKeys } from '../support/registrations.ts'

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

/** Registers an agent with a source record, as a refresh would; without a card if the record has none. */
const registerWithRecord = async (id: string, record: SourceRecord, more: JsonObject = {}): Promise<void> => {
  const document = { card: { ...minimalCard, name: id }, ...more }
  const origins = { requestOrigin: host.url.origin }
  const result = compile(document, { id, ...origins })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  const { compiled } = result
  const { manifest } = compiled
  const reconciled = { record, compiled: record.card === undefined ? undefined : compiled }
  const registration = await prepareRemote({ id, document, manifest, origins }, reconciled, withoutKeys, {
    actor: 'admin',
    expected: {},
  })
  const registry = (await host.env()).REGISTRY.getByName('default')
  expect(await registry.register(registration, true)).toMatchObject({ outcome: 'registered' })
}

/** Registers an agent whose card was never fetched. */
const registerWithoutCard = (id: string, failed = failure(), more: JsonObject = {}): Promise<void> =>
  registerWithRecord(id, { source, failure: failed, by: 'manifest' }, more)

const checkedAgo = (milliseconds: number) => ({ checked: Date.now() - milliseconds })
const getCard = (id: string, init: RequestInit = {}, query = '') =>
  host.fetch(`/agents/${id}/.well-known/agent-card.json${query}`, init)
const freshness = ({ status, headers }: Response) => ({
  status,
  age: headers.get('Age'),
  warning: headers.get('Warning'),
})
const noWarning = { age: null, warning: null }

describe('a remote card', () => {
  it.each([
    ['card that was just fetched', {}],
    // It is not due, so that no refresh fails before it is read.
    [
      'card that was fetched long ago without a failure since',
      { ...checkedAgo(3 * day), source: { ...source, ttl: 4 * 86_400 } },
    ],
    ['card that was just fetched, with a failure since', { failure: failure() }],
  ])('is served without a warning: a %s', async (name, record) => {
    const id = name.replaceAll(/[^a-z]+/g, '-')
    await registerWithRecord(id, fetched(id, record))
    const response = await getCard(id)
    expect({ ...freshness(response), caching: response.headers.get('Cache-Control') }).toEqual({
      ...{ status: 200, ...noWarning },
      caching: (await getCard('first')).headers.get('Cache-Control'),
    })
    expect(await response.json()).toMatchObject({ name: id })
  })
})

describe('a stale card whose upstream fails', () => {
  beforeAll(() =>
    registerWithRecord('old', fetched('old', { ...checkedAgo(10 * minute), failure: failure() }), {
      hosts: ['old.example'],
    }),
  )

  it.each<[string, string, RequestInit]>([
    ['GET', '/agents/old/.well-known/agent-card.json', {}],
    ['the older well-known path', '/agents/old/.well-known/agent.json', {}],
    ['its host name', 'https://old.example/.well-known/agent-card.json', {}],
    ['another dialect', '/agents/old?dialect=0.3', {}],
    ['HEAD', '/agents/old', { method: 'HEAD' }],
    ['its business card', '/agents/old/card.svg', {}],
    ['its badge', '/agents/old/badge.svg', {}],
    ['a request with a token', '/agents/old', { headers: bearer }],
  ])('is served with Age and Warning: %s', async (_, path, init) => {
    const response = await host.fetch(path, init)
    expect(freshness(response)).toEqual({ status: 200, age: expect.stringMatching(/^60\d$/), warning: stale })
    expect(response.headers.get('Access-Control-Expose-Headers')).toContain('Age, Warning')
  })

  it('has Age and Warning in a 304 response too', async () => {
    const etag = (await getCard('old')).headers.get('ETag') ?? ''
    const response = await getCard('old', { headers: { 'If-None-Match': etag } })
    expect(freshness(response)).toEqual({ status: 304, age: expect.stringMatching(/^60\d$/), warning: stale })
  })
})

describe('an expired or missing card whose upstream fails', () => {
  const registerExpired = (id: string, status: 502 | 503 | 504, more: JsonObject = {}) =>
    registerWithRecord(
      id,
      fetched(id, { ...checkedAgo(2 * day), failure: failure(status, 'inner.example refused') }),
      more,
    )

  it.each([
    [502, 'upstream-unreachable'],
    [503, 'upstream-not-ready'],
    [504, 'upstream-timeout'],
  ] as const)('gets %d %s, without a word about the upstream', async (status, code) => {
    await registerExpired(`expired-${status}`, status)
    await registerWithoutCard(`missing-${status}`, failure(status, 'Something else'))
    const responses = await Promise.all([getCard(`expired-${status}`), getCard(`missing-${status}`)])
    const summaries = responses.map(({ status, headers }) => [
      status,
      ...['Content-Type', 'Retry-After', 'Cache-Control', 'Access-Control-Allow-Origin'].map(name => headers.get(name)),
    ])
    const [body, other] = await Promise.all(responses.map(response => response.json()))
    expect(summaries).toEqual(Array(2).fill([status, problem, '60', 'no-store', '*']))
    expect(body).toMatchObject({ status, code, title: expect.any(String), detail: expect.any(String) })
    expect([other, JSON.stringify(body)]).toEqual([body, expect.not.stringContaining('inner.example')])
  })

  it.each<[string, RequestInit]>([
    ['HEAD', { method: 'HEAD' }],
    ['If-None-Match', { headers: { 'If-None-Match': '*' } }],
    ['a token', { headers: bearer }],
  ])('gets 502 for %s too', async (name, init) => {
    const id = `expired-${name.toLowerCase().replace(' ', '-')}`
    await registerExpired(id, 502)
    expect((await getCard(id, init)).status).toBe(502)
  })

  it.each(['card.svg', 'badge.svg'])('gets the same error for its %s', async file => {
    const id = `expired-${file.replace('.', '-')}`
    await registerExpired(id, 503)
    const [picture, card] = await Promise.all([host.fetch(`/agents/${id}/${file}`), getCard(id)])
    expect([picture.status, await picture.json()]).toEqual([503, await card.json()])
  })

  it('gets 504 at its own host name too', async () => {
    await registerWithoutCard('named', failure(504), { hosts: ['named.example'] })
    expect((await host.fetch('https://named.example/.well-known/agent.json')).status).toBe(504)
  })

  it('is listed', async () => {
    await registerWithoutCard('listed')
    const { agents } = (await (await host.fetch('/agents', { headers: bearer })).json()) as { agents: JsonObject[] }
    expect(agents).toContainEqual(expect.objectContaining({ id: 'listed', name: 'listed', description: '' }))
  })

  it('gets 404 for an internal agent, unless the caller may read it', async () => {
    const issue = async (agents: string[]) => {
      const { token } = await host.issue({ scopes: ['read'], agents })
      return { headers: { Authorization: `Bearer ${token}` } }
    }
    await registerWithoutCard('inner-missing', failure(503), { visibility: 'internal' })
    await registerExpired('inner-expired', 504, { visibility: 'internal' })
    const callers = [{}, await issue(['other']), await issue(['inner-*'])]
    const statuses = await Promise.all(
      callers.flatMap(init => ['inner-missing', 'inner-expired'].map(async id => (await getCard(id, init)).status)),
    )
    expect(statuses).toEqual([404, 404, 404, 404, 503, 504])
  })
})

describe('the extended card of a remote card', () => {
  const extended = { extended: { description: 'For those with a token' } }

  it('has Age and Warning when it is stale', async () => {
    await registerWithRecord(
      'extended',
      fetched('extended', { ...checkedAgo(10 * minute), failure: failure() }),
      extended,
    )
    const response = await getCard('extended', { headers: bearer })
    expect([freshness(response), await response.json()]).toMatchObject([
      { status: 200, age: expect.stringMatching(/^60\d$/), warning: stale },
      { description: 'For those with a token' },
    ])
  })

  it('is an error when it has expired, over GET and as an A2A call', async () => {
    await registerWithRecord(
      'extended-expired',
      fetched('extended-expired', { ...checkedAgo(2 * day), failure: failure(504) }),
      extended,
    )
    const call = await host.fetch('/agents/extended-expired/a2a', {
      method: 'POST',
      headers: { ...bearer, 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: {} }),
    })
    expect([(await getCard('extended-expired', { headers: bearer })).status, await call.json()]).toMatchObject([
      504,
      { error: { code: expect.any(Number) } },
    ])
  })
})
