import { compactVerify, importJWK, type JWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { type AuditEntry, findChainBreak } from '../../../src/registry/audit/chain.ts'
import { senderTo } from '../../support/called-host.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { sharedHost, token } from '../../support/host.ts'
import { startNodeHost } from '../../support/node-host.ts'

type Page = {
  entries: AuditEntry[]
  head: { number: number; hash: string; signature?: string } | null
  cursor?: string
}

const host = sharedHost('signing')
const send = senderTo(host)

const read = async (query = '', from: Parameters<typeof senderTo>[0] = host): Promise<Page> => {
  const { status, headers, body } = await senderTo(from)(`/audit?${query}`, { method: 'GET', token })
  expect([status, headers.get('Cache-Control')]).toEqual([200, 'private, no-store'])
  return body as Page
}

describe('GET /audit', () => {
  it('shows writes, tokens and refusals with their actors, newest first, and no secret', async () => {
    // On a host that many tests share, the refusals of `admin` can be too many to be recorded.
    const own = await startNodeHost()
    const sendOwn = senderTo(own)
    const issued = await sendOwn('/tokens', { token, body: { scopes: ['write'], agents: ['mine-*'], note: 'a note' } })
    const writer = issued.body as { id: string; token: string }
    const put = async (id: string, body: object = minimalCard, headers = {}) =>
      (await sendOwn(`/agents/${id}`, { method: 'PUT', token: writer.token, body: { ...body }, headers })).status
    expect(await put('mine-a')).toBe(201)
    expect(await put('other')).toBe(403)
    expect(await put('mine-a', { card: {} })).toBe(422)
    expect(await put('mine-a', minimalCard, { 'If-None-Match': '*' })).toBe(412)
    expect((await sendOwn('/agents/mine-a', { method: 'DELETE' })).status).toBe(401)
    expect((await sendOwn('/agents/mine-a/refresh', { token: writer.token })).status).toBe(409)
    expect((await sendOwn('/agents/mine-a', { method: 'DELETE', token: writer.token })).status).toBe(204)
    expect((await sendOwn(`/tokens/${writer.id}`, { method: 'DELETE', token })).status).toBe(204)
    expect((await sendOwn(`/tokens/${writer.id}`, { method: 'DELETE', token })).status).toBe(404)
    const { entries, head } = await read('limit=100', own)
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
      { actor: 'admin', ...refused('token-not-found', 404) },
    ])
    expect(entries.at(-1)).not.toHaveProperty('agent')
    expect(
      entries
        .slice(1)
        .map((entry, index) => findChainBreak(entry, entries[index]))
        .filter(Boolean),
    ).toEqual([])
    expect(head).toMatchObject({ number: 10, hash: entries.at(-1)?.hash })
    expect(JSON.stringify(entries)).not.toContain(writer.token.slice(16))
  })

  it('is paged and filtered, and has no signature on a host without a key', async () => {
    const paged = await startNodeHost()
    expect(await read('', paged)).toEqual({ entries: [], head: null })
    for (const name of ['A', 'B', 'C', 'D']) await paged.put('audited', { ...minimalCard, name })
    await senderTo(paged)('/agents/audited', { method: 'DELETE' })
    // Past a rate limit, a write is not recorded.
    Object.assign(paged.env, { WRITE_LIMIT: { limit: async () => ({ success: false }) } })
    expect((await senderTo(paged)('/agents/audited', { method: 'DELETE', token })).status).toBe(429)
    const numbers = async (query: string) => (await read(query, paged)).entries.map(({ number }) => number)
    const { cursor, head } = await read('limit=2', paged)
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(head).toEqual({ number: 5, time: expect.any(String), hash })
    expect(await numbers(`limit=2&cursor=${cursor}`)).toEqual([3, 2])
    expect(await numbers('what=write-refused&actor=anonymous&agent=audited')).toEqual([5])
    expect(await numbers('since=2020-01-01&until=2020-02-01')).toEqual([])
    expect(await numbers('since=2020-01-01')).toEqual([5, 4, 3, 2, 1])
    expect([await numbers('actor=admin'), await numbers('actor=host')]).toEqual([[4, 3, 2, 1], []])
  })

  it('signs the newest entry with a type of its own', async () => {
    await host.put('audit-signed', minimalCard)
    const { head } = await read('limit=1')
    const { keys } = (await (await host.fetch('/.well-known/jwks.json')).json()) as { keys: JWK[] }
    const key = await importJWK({ ...keys[0] }, 'ES256')
    const { payload, protectedHeader } = await compactVerify(head?.signature ?? '', key)
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'calling-card-audit-head+jwt', kid: keys[0]?.kid })
    expect(JSON.parse(new TextDecoder().decode(payload))).toEqual({
      ...{ iss: host.url.origin, iat: expect.any(Number) },
      ...{ number: head?.number, hash: head?.hash },
    })
  })

  it('rejects invalid filters and pages', async () => {
    for (const [query, code] of [
      ['what=nothing', 'bad-filter'],
      ['actor=Ann', 'bad-filter'],
      ['agent=A', 'bad-filter'],
      ['since=yesterday', 'bad-filter'],
      ['until=2027-02-30', 'bad-filter'],
      ['cursor=x', 'bad-cursor'],
      ['cursor=0', 'bad-cursor'],
    ])
      expect(await send(`/audit?${query}`, { method: 'GET', token })).toMatchObject({ status: 400, body: { code } })
  })

  it('requires the scope admin', async () => {
    const { token: writer } = await host.issue({ scopes: ['read', 'write'] })
    expect((await send('/audit', { method: 'GET' })).status).toBe(401)
    expect((await send('/audit', { method: 'GET', token: writer })).status).toBe(403)
  })
})
