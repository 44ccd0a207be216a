import { compactVerify, importJWK, type JWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAX_RECORDED_REFUSALS } from '../../../src/limits.ts'
import { type AuditEntry, findChainBreak } from '../../../src/registry/audit/chain.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'
import { startNodeHost } from '../../support/node-host.ts'
import { makeSigningKey } from '../../support/signing-key.ts'

type Page = {
  entries: AuditEntry[]
  head: { number: number; hash: string; signature?: string } | null
  cursor?: string
}

const auth = { Authorization: `Bearer ${token}` }
let host: OwnHost
let unsigned: OwnHost
beforeAll(async () => {
  host = await startHost({ SIGNING_KEY: JSON.stringify(makeSigningKey()) })
  unsigned = await startHost()
})
afterAll(() => Promise.all([host.close(), unsigned.close()]))

const read = async (query = '', from = host): Promise<Page> => {
  const response = await from.fetch(`/audit?${query}`, { headers: auth })
  expect([response.status, response.headers.get('Cache-Control')]).toEqual([200, 'private, no-store'])
  return (await response.json()) as Page
}

describe('GET /audit', () => {
  it('shows writes, tokens and refusals with their actors, newest first, and no secret', async () => {
    const writer = await host.issue({ scopes: ['write'], agents: ['mine-*'], note: 'note of the token' })
    const headers = { Authorization: `Bearer ${writer.token}` }
    expect((await host.put('mine-a', minimalCard, headers)).status).toBe(201)
    expect((await host.put('other', minimalCard, headers)).status).toBe(403)
    expect((await host.put('mine-a', { card: {} }, headers)).status).toBe(422)
    expect((await host.put('mine-a', minimalCard, { ...headers, 'If-None-Match': '*' })).status).toBe(412)
    expect((await host.fetch('/agents/mine-a', { method: 'DELETE' })).status).toBe(401)
    expect((await host.fetch('/agents/mine-a/refresh', { method: 'POST', headers })).status).toBe(409)
    expect((await host.fetch('/agents/mine-a', { method: 'DELETE', headers })).status).toBe(204)
    expect((await host.fetch(`/tokens/${writer.id}`, { method: 'DELETE', headers: auth })).status).toBe(204)
    const { entries, head } = await read()
    const refused = (code: string, status: number) => ({ what: 'write-refused', details: { code, status } })
    expect(entries.reverse()).toMatchObject([
      { number: 1, actor: 'admin', what: 'token-issued', details: { token: writer.id } },
      { actor: writer.id, what: 'agent-registered', agent: 'mine-a', seq: 1 },
      { actor: writer.id, agent: 'other', ...refused('forbidden', 403) },
      { actor: writer.id, agent: 'mine-a', ...refused('invalid-card', 422) },
      { actor: writer.id, agent: 'mine-a', ...refused('precondition-failed', 412) },
      { actor: 'anonymous', agent: 'mine-a', ...refused('no-token', 401) },
      { actor: writer.id, agent: 'mine-a', ...refused('no-source', 409) },
      { actor: writer.id, what: 'agent-removed', agent: 'mine-a', seq: 2 },
      { number: 9, actor: 'admin', what: 'token-revoked', details: { token: writer.id } },
    ])
    expect(entries.map((entry, index) => findChainBreak(entry, entries[index - 1])).filter(Boolean)).toEqual([])
    expect(head).toMatchObject({ number: 9, hash: entries.at(-1)?.hash })
    expect(JSON.stringify(entries)).not.toContain(writer.token.slice(16))
  })

  it('is paged and filtered', async () => {
    const { cursor } = await read('limit=2')
    expect((await read(`limit=3&cursor=${cursor}`)).entries.map(({ number }) => number)).toEqual([7, 6, 5])
    expect((await read('what=write-refused&actor=anonymous&agent=mine-a')).entries).toHaveLength(1)
    expect((await read('since=2020-01-01&until=2020-02-01')).entries).toEqual([])
    expect((await read('since=2020-01-01')).entries).toHaveLength(9)
  })

  it('signs the newest entry with a type of its own', async () => {
    const { head } = await read('limit=1')
    const { keys } = (await (await host.fetch('/.well-known/jwks.json')).json()) as { keys: { kid: string }[] }
    const { payload, protectedHeader } = await compactVerify(
      head?.signature ?? '',
      await importJWK({ ...keys[0] }, 'ES256'),
    )
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'calling-card-audit-head+jwt', kid: keys[0]?.kid })
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      ...{ iss: host.url.origin, iat: expect.any(Number) },
      ...{ number: head?.number, hash: head?.hash },
    })
  })

  it('signs it with the current key during a rotation, and publishes the others', async () => {
    const now = Math.floor(Date.now() / 1000)
    const [previous, current] = [makeSigningKey(), { ...makeSigningKey(), nbf: now - 60 }]
    const vars = { SIGNING_KEY: JSON.stringify(current), SIGNING_KEY_2: JSON.stringify(previous) }
    const rotating = await startNodeHost({ vars })
    await rotating.put('a', minimalCard)
    const { head } = (await (await rotating.fetch('/audit', { headers: auth })).json()) as Page
    const { keys } = (await (await rotating.fetch('/.well-known/jwks.json')).json()) as { keys: JWK[] }
    const { protectedHeader } = await compactVerify(head?.signature ?? '', await importJWK({ ...keys[0] }, 'ES256'))
    expect([protectedHeader.kid, ...keys.map(({ x }) => x)]).toEqual([keys[0]?.kid, current.x, previous.x])
  })

  it('has no head and no signature on a host without entries and without a key', async () => {
    expect(await read('', unsigned)).toEqual({ entries: [], head: null })
    await unsigned.put('a', minimalCard)
    expect((await read('', unsigned)).head).toEqual({
      ...{ number: 1, time: expect.any(String), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })

  it.each([
    ['what=nothing', 'bad-filter'],
    ['actor=Ann', 'bad-filter'],
    ['agent=A', 'bad-filter'],
    ['since=yesterday', 'bad-filter'],
    ['until=2027-02-30', 'bad-filter'],
    ['cursor=x', 'bad-cursor'],
    ['cursor=0', 'bad-cursor'],
    ['limit=0', 'bad-limit'],
    ['limit=-1', 'bad-limit'],
    ['limit=1000000000', 'bad-limit'],
    ['kind=x', 'unknown-query'],
  ])('rejects ?%s', async (query, code) => {
    const response = await host.fetch(`/audit?${query}`, { headers: auth })
    expect([response.status, await response.json()]).toMatchObject([400, { code }])
  })

  it('requires the scope admin', async () => {
    const { token: writer } = await host.issue({ scopes: ['read', 'write'] })
    const statuses = [{}, { Authorization: `Bearer ${writer}` }].map(
      async headers => (await host.fetch('/audit', { headers })).status,
    )
    expect(await Promise.all(statuses)).toEqual([401, 403])
  })

  it('does not grow without end from refusals', async () => {
    for (let count = 0; count < MAX_RECORDED_REFUSALS + 5; count++)
      await unsigned.fetch('/agents/x', { method: 'DELETE' })
    expect((await read('actor=anonymous', unsigned)).entries).toHaveLength(MAX_RECORDED_REFUSALS)
  })
})
