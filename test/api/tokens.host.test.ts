import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { nextAddress, type Received, senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, emptyHost, type Host, sharedHost } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'

/** Has the public agent `tok-open` and the internal ones `tok-eu`, `tok-us` and `tok-zoo`. */
let host: Host
const send = senderTo(sharedHost('empty'))
beforeAll(async () => {
  host = await emptyHost()
  await host.put('tok-open', minimalCard)
  for (const id of ['tok-eu', 'tok-us', 'tok-zoo']) await host.put(id, { card: minimalCard, visibility: 'internal' })
})

type Token = { id: string; token: string; expires: string | null }
const post = (body: Json, token = adminToken) => send('/tokens', { token, body })
const get = (path: string, token: string | undefined = adminToken) => send(path, { method: 'GET', token })
const remove = (path: string, token = adminToken) => send(path, { method: 'DELETE', token })
const issue = async (request: JsonObject) => (await post(request)).body as Token & JsonObject
const issueFor = async (scopes: string[], agents = ['*']) => (await issue({ scopes, agents })).token
const hashOf = (token: string) => createHash('sha256').update(token).digest('hex')
const statusOfCard = async (id: string, token: string) => (await get(`/agents/${id}`, token)).status
const daysFromNow = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()
const challengeOf = ({ headers }: Received) => headers.get('www-authenticate')

describe('POST /tokens', () => {
  it('returns 201 with a token, which no cache stores and which is valid at once', async () => {
    const rights = { scopes: ['read', 'write'], agents: ['tok-*'], tiers: ['partner'] }
    const { status, headers, body } = await post({ note: 'CI', ...rights })
    const { id, token } = body as Token
    expect([status, headers.get('cache-control'), body]).toEqual([
      ...[201, 'private, no-store'],
      {
        ...{ id: expect.stringMatching(/^[a-z2-7]{12}$/), token: expect.stringMatching(`^cc_${id}_[a-z2-7]{32}$`) },
        ...{ note: 'CI', ...rights, created: expect.stringMatching(/^\d{4}-.*Z$/), expires: null, published: true },
      },
    ])
    expect(await statusOfCard('tok-zoo', token)).toBe(200)
  })

  it('issues a token for all agents, without tiers and without expiry, by default', async () => {
    expect(await issue({ scopes: ['read'] })).toMatchObject({ note: '', agents: ['*'], tiers: [], expires: null })
  })

  it('stores only the SHA-256 of a token, in KV too', async () => {
    const token = await issueFor(['read'])
    const { CARDS } = await host.env()
    const keys = (await CARDS.list({ prefix: 'token:' })).keys.map(({ name }) => name)
    expect(keys).toContain(`token:${hashOf(token)}`)
    expect([await CARDS.get(`token:${hashOf(token)}`), ...keys].join()).not.toContain(token)
  })

  it('removes duplicates from lists', async () => {
    const lists = { scopes: ['read'], agents: ['a'], tiers: ['t'] }
    expect(await issue({ scopes: ['read', 'read'], agents: ['a', 'a'], tiers: ['t', 't'] })).toMatchObject(lists)
  })

  it('accepts as expiry seconds, a date, at 00:00 UTC, a time, and null for never', async () => {
    const date = daysFromNow(30).slice(0, 10)
    for (const [expires, expected] of [
      [3600, new Date(Date.now() + 3_600_000).toISOString().slice(0, 13)],
      [date, `${date}T00:00:00.000Z`],
      [daysFromNow(1), daysFromNow(1).slice(0, 10)],
      ['2030-01-31T12:00:00+02:00', '2030-01-31T10:00:00.000Z'],
      [null, null],
    ] as const) {
      const issued = await issue({ scopes: ['read'], expires })
      expect(issued.expires?.slice(0, expected?.length) ?? null, String(expires)).toBe(expected)
    }
  })

  it('rejects an invalid request with its mistakes', async () => {
    const read = (more: JsonObject): Json => ({ scopes: ['read'], ...more })
    const noTime = ['/expires', 'must be seconds from now, or a date'] as const
    const rows: [request: Json, pointer: string, message: string][] = [
      [{}, '/scopes', 'is missing'],
      [{ scopes: [] }, '/scopes', 'at least one of them'],
      [{ scopes: 'read' }, '/scopes', 'must be a list of read, call, write or admin'],
      [{ scopes: ['root'] }, '/scopes/0', 'must be read, call, write or admin'],
      [{ scopes: [null] }, '/scopes/0', 'must be read, call, write or admin'],
      [read({ agents: [] }), '/agents', 'omit it for all agents'],
      [read({ agents: ['Weather'] }), '/agents/0', 'must be an agent id'],
      [read({ agents: ['a?'] }), '/agents/0', 'must be an agent id'],
      [read({ agents: [7] }), '/agents/0', 'must be a string'],
      [read({ agents: Array(21).fill('a') }), '/agents', 'at most 20'],
      [{ scopes: ['admin'], agents: ['a'] }, '/agents', 'cannot narrow'],
      [read({ tiers: 'partner' }), '/tiers', 'must be a list'],
      [read({ tiers: ['Gold!'] }), '/tiers/0', 'must be the name of a tier'],
      [read({ note: 7 }), '/note', 'must be a string'],
      [read({ note: 'a\nb' }), '/note', 'one line'],
      [read({ note: 'x'.repeat(201) }), '/note', 'at most 200 characters'],
      [read({ expires: true }), ...noTime],
      [read({ expires: 'soon' }), ...noTime],
      [read({ expires: '2027-02-31' }), ...noTime],
      [read({ expires: '2027-01-31T25:00:00Z' }), ...noTime],
      ['{"scopes":["read"],"expires":1e400}', ...noTime],
      ['{"scopes":["read"],"expires":-1e400}', ...noTime],
      ['{"scopes":["read"],"expires":1e307}', ...noTime],
      [read({ expires: 90.5 }), '/expires', 'whole seconds'],
      [read({ expires: 59 }), '/expires', 'at least 60 seconds'],
      [read({ expires: -1 }), '/expires', 'at least 60 seconds'],
      [read({ expires: '2020-01-01' }), '/expires', 'at least 60 seconds'],
      [read({ expires: 1e300 }), '/expires', 'at most 3650 days'],
      [read({ agent: ['a'] }), '/agent', '"agent" is not a field of a token'],
      ['{"scopes":["read"],"__proto__":{"scopes":["admin"]}}', '/__proto__', 'is not a field of a token'],
      [[], '/scopes', 'is missing'],
      ['null', '', 'must be an object'],
      ['"read"', '', 'must be an object'],
    ]
    for (const [request, pointer, message] of rows)
      expect(await post(request), JSON.stringify(request)).toMatchObject({
        status: 422,
        body: {
          code: 'invalid-token-request',
          detail: expect.stringContaining(message),
          errors: expect.arrayContaining([{ pointer, message: expect.stringContaining(message) }]),
        },
      })
    const { errors } = (await post({ scopes: Array(5000).fill('x') })).body as { errors: object[] }
    expect(errors).toHaveLength(100)
  })

  it('rejects a body that is not JSON or is too large', async () => {
    for (const [body, status, code] of [
      ['{"scopes":', 400, 'not-json'],
      ['', 400, 'not-json'],
      ['['.repeat(10_000), 422, 'too-deep'],
      [`{"note":"${'x'.repeat(300_000)}"}`, 413, 'too-large'],
    ] as const)
      expect(await post(body)).toMatchObject({ status, body: { code } })
  })
})

describe('GET /tokens/self', () => {
  it('returns what any token allows, and until when, in a response that no cache stores', async () => {
    const request = { note: 'CI', scopes: ['write'], agents: ['team1-*'], tiers: ['gold'], expires: 3600 }
    const { id, token, expires } = await issue(request)
    const { status, headers, body } = await get('/tokens/self', token)
    expect([status, headers.get('cache-control'), body]).toEqual([
      200,
      'private, no-store',
      { ...request, id, expires },
    ])
    const plain = await issue({ scopes: ['read'] })
    const read = { scopes: ['read'], agents: ['*'], tiers: [], expires: null }
    expect((await get('/tokens/self', plain.token)).body).toEqual({ id: plain.id, ...read })
    const admin = { id: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'], expires: null }
    expect((await get('/tokens/self')).body).toEqual(admin)
  })

  it('returns 401 without a token, and for one that is unknown or revoked', async () => {
    const { id, token } = await issue({ scopes: ['read'] })
    expect((await get('/tokens/self', token)).status).toBe(200)
    await remove(`/tokens/${id}`)
    expect(await send('/tokens/self', { method: 'GET' })).toMatchObject({ status: 401, body: { code: 'no-token' } })
    for (const invalid of ['cc_wrong', token])
      expect(await get('/tokens/self', invalid)).toMatchObject({ status: 401, body: { code: 'bad-token' } })
  })

  it('supports no other method', async () => {
    const { status, headers } = await send('/tokens/self', { token: adminToken })
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})

describe('GET /tokens', () => {
  it('lists all tokens in pages, without their secrets and hashes, and without the ADMIN_TOKEN', async () => {
    const issued = [await issue({ scopes: ['read'], note: 'one' }), await issue({ scopes: ['read'], note: 'two' })]
    const listed: Token[] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const { body } = await get(`/tokens?limit=5${cursor && `&cursor=${cursor}`}`)
      const page = body as { tokens: Token[]; cursor?: string }
      expect(page.tokens.length).toBeLessThanOrEqual(5)
      listed.push(...page.tokens)
      cursor = page.cursor
    }
    const ids = listed.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    const text = JSON.stringify(listed)
    for (const { token, published: _, ...shown } of issued) {
      expect(listed).toContainEqual(shown)
      for (const secret of [token, hashOf(token), adminToken]) expect(text).not.toContain(secret)
    }
  })

  it('rejects invalid queries', async () => {
    for (const [query, code] of [
      ['limit=0', 'bad-limit'],
      ['cursor=..', 'bad-cursor'],
      ['scope=read', 'unknown-query'],
    ])
      expect((await get(`/tokens?${query}`)).body).toMatchObject({ code })
  })
})

describe('DELETE /tokens/{id}', () => {
  it('revokes a token at once, with 204, and then returns 404', async () => {
    const { id, token } = await issue({ scopes: ['read'] })
    expect(await statusOfCard('tok-zoo', token)).toBe(200)
    expect((await remove(`/tokens/${id}`)).status).toBe(204)
    expect(await statusOfCard('tok-zoo', token)).toBe(404)
    expect((await remove(`/tokens/${id}`)).status).toBe(404)
    expect((await get('/tokens?limit=100')).text).not.toContain(id)
  })

  it('returns 404 for an unknown or invalid id', async () => {
    for (const id of ['admin', 'a'.repeat(12), 'A'.repeat(12), '...', '%00', 'x'.repeat(5000)])
      expect((await remove(`/tokens/${encodeURIComponent(id)}`)).status).toBe(404)
  })
})

describe('authorization', () => {
  it('rejects a token without the scope admin, with 403 and the missing scope', async () => {
    for (const scopes of [['read'], ['read', 'write']]) {
      const { id, token } = await issue({ scopes })
      const requests = [post({ scopes: ['admin'] }, token), get('/tokens', token), remove(`/tokens/${id}`, token)]
      for (const response of await Promise.all(requests))
        expect([response.status, challengeOf(response), response.body]).toEqual([
          403,
          'Bearer realm="calling-card", error="insufficient_scope", scope="admin"',
          expect.objectContaining({
            code: 'forbidden',
            title: 'Forbidden',
            detail: 'This token lacks the scope `admin`: use one that has it.',
          }),
        ])
    }
  })

  it('lets an admin token issue other tokens and revoke itself', async () => {
    const { id, token } = await issue({ scopes: ['admin'] })
    expect((await post({ scopes: ['read'] }, token)).status).toBe(201)
    expect((await remove(`/tokens/${id}`, token)).status).toBe(204)
    expect((await post({ scopes: ['read'] }, token)).status).toBe(401)
  })

  it('rejects requests without a valid token with 401 and the reason', async () => {
    const rows: [headers: Record<string, string>, code: string, detail: string][] = [
      [{}, 'no-token', 'Authorization: Bearer'],
      [{ Authorization: 'Bearer wrong' }, 'bad-token', 'unknown, expired or revoked'],
      [{ Authorization: 'Bearer cc_abc' }, 'bad-token', 'incomplete or mistyped'],
      [{ Authorization: `Bearer ${adminToken}, Bearer ${adminToken}` }, 'bad-token', 'more than one'],
      [{ 'X-API-Key': adminToken }, 'no-token', 'Authorization: Bearer'],
    ]
    for (const [headers, code, detail] of rows)
      for (const [method, path] of [
        ['POST', '/tokens'],
        ['GET', '/tokens'],
        ['DELETE', '/tokens/aaaaaaaaaaaa'],
      ] as const) {
        const response = await send(path, { method, headers })
        expect(response).toMatchObject({ status: 401, body: { code, detail: expect.stringContaining(detail) } })
        expect(challengeOf(response)).toMatch(/^Bearer realm="calling-card"/)
      }
  })
})

describe('the scope write', () => {
  it('allows its agents to be registered, read with their manifests and removed', async () => {
    const token = await issueFor(['write'], ['mine-*'])
    const put = await send('/agents/mine-1', { method: 'PUT', token, body: minimalCard })
    const [manifest, removed] = [await get('/agents/mine-1/manifest', token), await remove('/agents/mine-1', token)]
    expect([put.status, manifest.status, removed.status]).toEqual([201, 200, 204])
  })

  it('is required for the agent: without, public, internal and unknown agents get the same 403', async () => {
    const rows: [token: string, detail: string][] = [
      [await issueFor(['read']), 'This token lacks the scope `write`: use one that has it.'],
      [await issueFor(['read', 'write'], ['mine-*']), 'The scope `write` of this token does not cover agent "'],
    ]
    for (const [token, detail] of rows)
      for (const id of ['tok-open', 'tok-zoo', 'tok-unknown'])
        for (const response of [
          await send(`/agents/${id}`, { method: 'PUT', token, body: minimalCard }),
          await get(`/agents/${id}/manifest`, token),
          await remove(`/agents/${id}`, token),
        ]) {
          const body = { code: 'forbidden', detail: expect.stringContaining(detail) }
          expect(response).toMatchObject({ status: 403, body })
          expect(challengeOf(response)).toBe('Bearer realm="calling-card", error="insufficient_scope", scope="write"')
        }
    expect((await send('/agents/tok-open', { method: 'GET' })).status).toBe(200)
  })
})

describe('the scope read', () => {
  it('gives access to the internal cards of its agents only, and is not included in the scope write', async () => {
    const [reader, writer] = [await issueFor(['read'], ['tok-e*']), await issueFor(['write'])]
    const ids = ['tok-open', 'tok-eu', 'tok-zoo', 'tok-unknown']
    expect(await Promise.all(ids.map(id => statusOfCard(id, reader)))).toEqual([200, 200, 404, 404])
    expect(await statusOfCard('tok-zoo', writer)).toBe(404)
  })

  it('does not distinguish other internal agents from unknown ones', async () => {
    const token = await issueFor(['read'], ['tok-e*'])
    const [hidden, unknown] = await Promise.all(
      ['tok-zoo', 'tok-zob'].map(async id => {
        const { headers, text } = await get(`/agents/${id}`, token)
        return JSON.stringify([[...headers].filter(([name]) => name !== 'date'), text])
      }),
    )
    expect(hidden?.replaceAll('tok-zoo', 'tok-zob')).toBe(unknown)
  })

  it('lists public agents and the internal agents of the token, in pages without gaps', async () => {
    const list = async (agents: string[], query = '') => {
      const { body } = await get(`/agents${query}`, await issueFor(['read'], agents))
      const page = body as { agents: { id: string }[]; cursor?: string }
      return [page.agents.map(({ id }) => id).join(' '), page.cursor]
    }
    expect([await list(['*']), await list(['tok-*s', 'tok-eu']), await list(['*-us', 'tok-zoo'])]).toEqual([
      ['tok-eu tok-open tok-us tok-zoo', undefined],
      ['tok-eu tok-open tok-us', undefined],
      ['tok-open tok-us tok-zoo', undefined],
    ])
    expect(await list(['unknown'])).toEqual(['tok-open', undefined])
    expect(await list(['tok-us'], '?limit=1')).toEqual(['tok-open', 'tok-open'])
    expect(await list(['tok-us'], '?limit=1&cursor=tok-open')).toEqual(['tok-us', undefined])
  })

  it('is required for the list with a token', async () => {
    const detail = 'This token lacks the scope `read`: use one that has it.'
    expect(await get('/agents', await issueFor(['write']))).toMatchObject({ status: 403, body: { detail } })
  })
})

describe('invalid tokens', () => {
  it('include expired ones', async () => {
    const rights = { scopes: ['admin'], agents: ['*'], tiers: [] }
    const { CARDS } = await host.env()
    const statusAt = async (letter: string, expires: number) => {
      // Tokens expire after a minute or more, so they are stored here by hand.
      const token = `cc_${'b'.repeat(12)}_${letter.repeat(32)}`
      const record = JSON.stringify({ id: 'b'.repeat(12), note: '', ...rights, created: 0, expires })
      await CARDS.put(`token:${hashOf(token)}`, record, { metadata: { seq: 1 } })
      return (await get('/tokens', token)).status
    }
    expect([await statusAt('d', Date.now() + 3_600_000), await statusAt('e', Date.now() - 1000)]).toEqual([200, 401])
  })

  it('get 401 without a trace of the token', async () => {
    for (const token of [`cc_${'z'.repeat(12)}_${'z'.repeat(32)}`, 'cc_mistyped', 'a-foreign-token'])
      for (const { status, text, headers } of [
        await send('/agents/tok-open', { method: 'PUT', token, body: minimalCard }),
        await get('/agents/tok-open/manifest', token),
        await remove('/agents/tok-open', token),
        await get('/agents', token),
        await get('/tokens', token),
      ]) {
        expect([status, text]).toEqual([401, expect.stringContaining('"code":"bad-token"')])
        expect(text + JSON.stringify([...headers])).not.toContain(token)
        expect(text).not.toContain(hashOf(token))
      }
  })

  it('include a short ADMIN_TOKEN, also on localhost: the host refuses writes, and serves everything else', async () => {
    const local = await startNodeHost({ origin: 'http://localhost:8787' })
    const sendLocally = senderTo(local)
    await local.put('tok-open', minimalCard)
    const issued = await sendLocally('/tokens', { token: adminToken, body: { scopes: ['read', 'write'] } })
    await local.deploy({ ADMIN_TOKEN: 'dev' })
    const put = (token: string | undefined, id = 'a') =>
      sendLocally(`/agents/${id}`, { method: 'PUT', token, body: minimalCard })
    for (const token of ['dev', 'cc_wrong', undefined])
      for (const response of [
        await put(token),
        await sendLocally('/agents/tok-open', { method: 'DELETE', token }),
        await sendLocally('/tokens', { method: 'GET', token }),
      ]) {
        const detail = expect.stringContaining('Set a random one: npx wrangler secret put ADMIN_TOKEN')
        expect(response).toMatchObject({ status: 503, body: { code: 'admin-token-missing', detail } })
      }
    const statusOf = async (path: string, token?: string) => (await sendLocally(path, { method: 'GET', token })).status
    expect([
      await statusOf('/agents/tok-open/.well-known/agent-card.json'),
      await statusOf('/agents'),
      await statusOf('/agents', 'dev'),
      await statusOf('/tokens/self', 'dev'),
    ]).toEqual([200, 200, 401, 401])
    expect((await put((issued.body as Token).token, 'b')).status).toBe(201)
  })

  it('get 429 past a limit of attempts from one address, which does not affect other addresses', async () => {
    const [address, other] = [nextAddress(), nextAddress()]
    const attempt = (token: string, from: string) =>
      senderTo(sharedHost('limited'))('/tokens', { method: 'GET', token, headers: { 'CF-Connecting-IP': from } })
    expect((await attempt(adminToken, other)).status).toBe(200)
    for (let index = 0; index < 5; index++) expect((await attempt(`guess-${index}`, address)).status).toBe(401)
    const rejected = await attempt('guess-5', address)
    expect([rejected.status, rejected.headers.get('retry-after'), rejected.body]).toMatchObject([
      ...[429, '60', { code: 'too-many-attempts' }],
    ])
    expect((await attempt('guess-0', other)).status).toBe(401)
    // This token was valid before, so that clients that share an address with an attacker keep their access.
    expect((await attempt(adminToken, address)).status).toBe(200)
  })
})

describe('while KV rejects writes', () => {
  const faulty = sharedHost('faults')
  const failKvWrites = async (times: number) => {
    const registry = (await faulty.env()).REGISTRY.getByName('default') as unknown as {
      fail: (times: number) => unknown
    }
    await registry.fail(times)
  }
  const statusOfList = async (token: string) => (await senderTo(faulty)('/agents', { method: 'GET', token })).status

  it('issues a token that is not yet published, but is valid in the location that issued it', async () => {
    await failKvWrites(1)
    const { token, published } = await faulty.issue({ scopes: ['read'] })
    expect([published, await statusOfList(token)]).toEqual([false, 200])
  })

  it('revokes a token in the location that revoked it', async () => {
    const { id, token } = await faulty.issue({ scopes: ['read'] })
    await failKvWrites(1)
    expect((await senderTo(faulty)(`/tokens/${id}`, { method: 'DELETE', token: adminToken })).status).toBe(204)
    expect(await (await faulty.env()).CARDS.get(`token:${hashOf(token)}`)).toContain(id)
    expect(await statusOfList(token)).not.toBe(200)
  })
})
