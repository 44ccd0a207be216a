import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import type { SourceRecord } from '../../src/registry/source-record.ts'
import { type Received, senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost, token } from '../support/host.ts'
import { failure, fetched, prepareDocument, source } from '../support/registrations.ts'

const host = sharedHost()
const send = senderTo(host)

const minute = 60_000
const day = 24 * 60 * minute
const stale = '110 - "Response is Stale", 111 - "Revalidation Failed"'

/** Registers an agent with a source record, as a refresh would; without a card if the record has none. */
const registerWithRecord = async (id: string, record: SourceRecord, more: JsonObject = {}): Promise<void> => {
  const document = { card: { ...minimalCard, name: id }, ...more }
  const registration = await prepareDocument(document, { id, requestOrigin: host.url.origin }, { record })
  const registry = (await host.env()).REGISTRY.getByName('default')
  expect(await registry.register(registration, true)).toMatchObject({ outcome: 'registered' })
}

/** Registers an agent whose card was fetched some time ago, and could not be fetched again since. */
const registerFailing = (id: string, age: number, failed = failure(), more: JsonObject = {}) =>
  registerWithRecord(id, fetched(id, { checked: Date.now() - age, failure: failed }), more)

/** Registers an agent whose card was never fetched. */
const registerWithoutCard = (id: string, failed = failure(), more: JsonObject = {}): Promise<void> =>
  registerWithRecord(id, { source, failure: failed, by: 'manifest' }, more)

const getCard = (id: string, headers: Record<string, string> = {}, as?: string) =>
  send(`/agents/${id}/.well-known/agent-card.json`, { method: 'GET', headers, token: as })
const freshness = ({ status, headers }: Received) => [status, headers.get('Age'), headers.get('Warning')]
const tenMinutes = expect.stringMatching(/^60\d$/)

it('serves a remote card without a warning that is not stale, or fetched long ago without a failure since', async () => {
  const rows: [id: string, Partial<SourceRecord>][] = [
    ['rs-fetched', {}],
    // It is not due, so that no refresh fails before it is read.
    ['rs-old', { checked: Date.now() - 3 * day, source: { ...source, ttl: 4 * 86_400 } }],
    ['rs-failed', { failure: failure() }],
  ]
  for (const [id, record] of rows) {
    await registerWithRecord(id, fetched(id, record))
    const response = await getCard(id)
    expect([...freshness(response), response.headers.get('Cache-Control'), response.body]).toEqual([
      ...[200, null, null, 'public, max-age=60, stale-while-revalidate=86400', expect.objectContaining({ name: id })],
    ])
  }
})

it('serves a stale card whose upstream fails with Age and Warning, by any request, and in 304 too', async () => {
  await registerFailing('rs-stale', 10 * minute, failure(), { hosts: ['stale.rs.example'] })
  for (const [method, path, as] of [
    ['GET', '/agents/rs-stale/.well-known/agent-card.json', undefined],
    ['GET', 'https://stale.rs.example/.well-known/agent-card.json', undefined],
    ['HEAD', '/agents/rs-stale', undefined],
    ['GET', '/agents/rs-stale/card.svg', undefined],
    ['GET', '/agents/rs-stale/badge.svg', undefined],
    ['GET', '/agents/rs-stale', token],
  ] as const) {
    const response = await send(path, { method, token: as })
    expect(freshness(response), path).toEqual([200, tenMinutes, stale])
    expect(response.headers.get('Access-Control-Expose-Headers')).toBe('*')
  }
  const etag = (await getCard('rs-stale')).headers.get('ETag') ?? ''
  expect(freshness(await getCard('rs-stale', { 'If-None-Match': etag }))).toEqual([304, tenMinutes, stale])
})

describe('an expired or missing card whose upstream fails', () => {
  beforeAll(() => registerFailing('rs-expired', 2 * day, failure(503, 'inner.example refused')))

  it('gets the status of the failure, without a word about the upstream', async () => {
    for (const [status, code] of [
      [502, 'upstream-unreachable'],
      [503, 'upstream-not-ready'],
      [504, 'upstream-timeout'],
    ] as const) {
      await registerFailing(`rs-expired-${status}`, 2 * day, failure(status, 'inner.example refused'))
      await registerWithoutCard(`rs-missing-${status}`, failure(status, 'Something else'))
      const expired = await getCard(`rs-expired-${status}`)
      for (const { headers, ...response } of [expired, await getCard(`rs-missing-${status}`)]) {
        const body = { status, code, title: expect.any(String), detail: expect.any(String) }
        expect(response).toMatchObject({ status, body, text: expired.text })
        expect(Object.fromEntries(headers)).toMatchObject({
          ...{ 'content-type': 'application/problem+json', 'retry-after': '60' },
          ...{ 'cache-control': 'no-store', 'access-control-allow-origin': '*' },
        })
      }
      expect(expired.text).not.toContain('inner.example')
    }
  })

  it('gets it with If-None-Match, with a token, and for its pictures too', async () => {
    const card = await getCard('rs-expired')
    const conditional = await getCard('rs-expired', { 'If-None-Match': '*' })
    const authorized = await getCard('rs-expired', {}, token)
    expect([card.status, conditional.status, authorized.status]).toEqual([503, 503, 503])
    for (const file of ['card.svg', 'badge.svg'])
      expect(await send(`/agents/rs-expired/${file}`, { method: 'GET' })).toMatchObject({
        status: 503,
        body: card.body,
      })
  })

  it('gets 404 for an internal agent, unless the caller may read it', async () => {
    const issue = async (agents: string[]) => (await host.issue({ scopes: ['read'], agents })).token
    await registerWithoutCard('rs-inner-missing', failure(503), { visibility: 'internal' })
    await registerFailing('rs-inner-expired', 2 * day, failure(504), { visibility: 'internal' })
    const statuses: number[] = []
    for (const as of [undefined, await issue(['other']), await issue(['rs-inner-*'])])
      for (const id of ['rs-inner-missing', 'rs-inner-expired']) statuses.push((await getCard(id, {}, as)).status)
    expect(statuses).toEqual([404, 404, 404, 404, 503, 504])
  })
})

describe('the extended card of a remote card', () => {
  const extended = { extended: { description: 'For those with a token' } }

  it('has Age and Warning when it is stale', async () => {
    await registerFailing('rs-extended', 10 * minute, failure(), extended)
    const response = await getCard('rs-extended', {}, token)
    expect([freshness(response), response.body]).toMatchObject([[200, tenMinutes, stale], extended.extended])
  })

  it('is an error when it has expired, over GET and as an A2A call', async () => {
    await registerFailing('rs-extended-expired', 2 * day, failure(504), extended)
    const { body } = await send('/agents/rs-extended-expired/a2a', {
      ...{ token, headers: { 'A2A-Version': '1.0' } },
      body: { jsonrpc: '2.0', id: 1, method: 'GetExtendedAgentCard', params: {} },
    })
    expect(body).toMatchObject({ error: { code: expect.any(Number) } })
    expect((await getCard('rs-extended-expired', {}, token)).status).toBe(504)
  })
})
