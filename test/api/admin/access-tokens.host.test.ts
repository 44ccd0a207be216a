import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { nextAddress, type Received, senderTo } from '../../support/called-host.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { token as adminToken, emptyHost, type Host, sharedHost } from '../../support/host.ts'
import { startNodeHost } from '../../support/node-host.ts'

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
const challengeOf = ({ headers }: Received) => headers.get('www-authenticate')

describe('POST /tokens', () => {
  it('returns 201 with a token, which no cache stores, which is valid at once, and of which only a hash is kept', async () => {
    const rights = { scopes: ['read', 'write'], agents: ['tok-*'], tiers: ['partner'] }
    const { status, headers, body } = await post({ note: 'CI', ...rights, scopes: ['read', 'write', 'read'] })
    const { id, token } = body as Token
    expect([status, headers.get('cache-control'), body]).toEqual([
      ...[201, 'private, no-store'],
      {
        ...{ id: expect.stringMatching(/^[a-z2-7]{12}$/), token: expect.stringMatching(`^cc_${id}_[a-z2-7]{32}$`) },
        ...{ note: 'CI', ...rights, created: expect.stringMatching(/^\d{4}-.*Z$/), expires: null, published: true },
      },
    ])
    expect(await statusOfCard('tok-zoo', token)).toBe(200)
    const stored = await (await host.env()).CARDS.get(`token:${hashOf(token)}`)
    expect(stored).toContain(id)
    expect(stored).not.toContain(token)
  })

  it('issues a token for all agents, without tiers and without expiry, by default', async () => {
    expect(await issue({ scopes: ['read'] })).toMatchObject({ note: '', agents: ['*'], tiers: [], expires: null })
  })

  it('accepts as expiry at least 60 seconds, a date, at 00:00 UTC, and a time', async () => {
    const date = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
    for (const [expires, expected] of [
      [60, new Date(Date.now() + 60_000).toISOString().slice(0, 13)],
      [date, `${date}T00:00:00.000Z`],
      ['2030-01-31T12:00:00+02:00', '2030-01-31T10:00:00.000Z'],
    ] as const) {
      const issued = await issue({ scopes: ['read'], expires })
      expect(issued.expires?.slice(0, expected.length), String(expires)).toBe(expected)
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
      [read({ agents: [] }), '/agents', 'omit it for all agents'],
      [read({ agents: ['a?'] }), '/agents/0', 'must be an agent id'],
      [read({ agents: Array(21).fill('a') }), '/agents', 'at most 20'],
      [{ scopes: ['admin'], agents: ['a'] }, '/agents', 'cannot narrow'],
      [read({ tiers: 'partner' }), '/tiers', 'must be a list'],
      [read({ tiers: ['Gold!'] }), '/tiers/0', 'must be the name of a tier'],
      [read({ note: 'a\nb' }), '/note', 'one line'],
      [read({ note: 'x'.repeat(201) }), '/note', 'at most 200 characters'],
      [read({ expires: true }), ...noTime],
      [read({ expires: 'soon' }), ...noTime],
      [read({ expires: '2027-02-31' }), ...noTime],
      ['{"scopes":["read"],"expires":1e400}', ...noTime],
      [read({ expires: 90.5 }), '/expires', 'whole seconds'],
      [read({ expires: 59 }), '/expires', 'at least 60 seconds'],
      [read({ expires: 315_360_001 }), '/expires', 'at most 3650 days'],
      ['{"scopes":["read"],"__proto__":{"scopes":["admin"]}}', '/__proto__', 'is not a known field here'],
      ['null', '', 'must be an object'],
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
    expect((await get('/tokens?cursor=..')).body).toMatchObject({ code: 'bad-cursor' })
  })
})

describe('DELETE /tokens/{id}', () => {
  it('revokes a token at once, with 204, and then returns 404, as for an unknown or invalid id', async () => {
    const { id, token } = await issue({ scopes: ['read'] })
    expect(await statusOfCard('tok-zoo', token)).toBe(200)
    expect((await remove(`/tokens/${id}`)).status).toBe(204)
    expect(await statusOfCard('tok-zoo', token)).toBe(404)
    for (const unknown of [id, 'a'.repeat(12), 'admin', '%2500'])
      expect(await remove(`/tokens/${unknown}`)).toMatchObject({ status: 404, body: { code: 'token-not-found' } })
    expect((await get('/tokens?limit=100')).text).not.toContain(id)
  })
})

describe('authorization', () => {
  it('rejects a token without the scope admin, with 403 and the missing scope', async () => {
    const { id, token } = await issue({ scopes: ['read', 'write'] })
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
  })

  it('rejects requests without a valid token with 401 and the reason', async () => {
    const realm = 'Bearer realm="calling-card"'
    const rows: [headers: Record<string, string>, code: string, detail: string][] = [
      [{}, 'no-token', 'Authorization: Bearer'],
      [{ Authorization: 'Bearer wrong' }, 'bad-token', 'unknown, expired or revoked'],
      [{ Authorization: 'Bearer cc_abc' }, 'bad-token', 'incomplete or mistyped'],
      [{ Authorization: `Bearer ${adminToken}, Bearer ${adminToken}` }, 'bad-token', 'more than one'],
    ]
    for (const [headers, code, detail] of rows) {
      const response = await send('/tokens/self', { method: 'GET', headers })
      expect(response).toMatchObject({ status: 401, body: { code, detail: expect.stringContaining(detail) } })
      expect(challengeOf(response)).toBe(code === 'no-token' ? realm : `${realm}, error="invalid_token"`)
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

  it('is required for the agent: without, internal and unknown agents get the same 403', async () => {
    const rows: [token: string, detail: string][] = [
      [await issueFor(['read']), 'This token lacks the scope `write`: use one that has it.'],
      [await issueFor(['read', 'write'], ['mine-*']), 'The scope `write` of this token does not cover agent "'],
    ]
    for (const [token, detail] of rows)
      for (const id of ['tok-zoo', 'tok-unknown'])
        for (const response of [
          await send(`/agents/${id}`, { method: 'PUT', token, body: minimalCard }),
          await get(`/agents/${id}/manifest`, token),
          await remove(`/agents/${id}`, token),
        ]) {
          const body = { code: 'forbidden', detail: expect.stringContaining(detail) }
          expect(response).toMatchObject({ status: 403, body })
          expect(challengeOf(response)).toBe('Bearer realm="calling-card", error="insufficient_scope", scope="write"')
        }
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

  it('lists public agents and the internal agents of the token, in pages, and is required for that', async () => {
    const list = async (agents: string[], query = '') => {
      const { body } = await get(`/agents${query}`, await issueFor(['read'], agents))
      const page = body as { agents: { id: string }[]; cursor?: string }
      return [page.agents.map(({ id }) => id).join(' '), page.cursor]
    }
    expect(await list(['tok-*s', 'tok-eu'])).toEqual(['tok-eu tok-open tok-us', undefined])
    expect(await list(['tok-us'], '?limit=1')).toEqual(['tok-open', 'tok-open'])
    expect(await list(['tok-us'], '?limit=1&cursor=tok-open')).toEqual(['tok-us', undefined])
    const detail = 'This token lacks the scope `read`: use one that has it.'
    expect(await get('/agents', await issueFor(['write']))).toMatchObject({ status: 403, body: { detail } })
  })
})

describe('invalid tokens', () => {
  it('get 401 without a trace of the token', async () => {
    for (const token of [`cc_${'z'.repeat(12)}_${'z'.repeat(32)}`, 'a-foreign-token'])
      for (const { status, text, headers } of [
        await send('/agents/tok-open', { method: 'PUT', token, body: minimalCard }),
        await get('/agents', token),
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
    for (const token of ['dev', undefined])
      for (const response of [await put(token), await sendLocally('/tokens', { method: 'GET', token })]) {
        const detail = expect.stringContaining('Set a random one: npx wrangler secret put ADMIN_TOKEN')
        expect(response).toMatchObject({ status: 503, body: { code: 'admin-token-missing', detail } })
      }
    const statusOf = async (path: string, token?: string) => (await sendLocally(path, { method: 'GET', token })).status
    expect([await statusOf('/agents/tok-open'), await statusOf('/agents', 'dev')]).toEqual([200, 401])
    expect((await put((issued.body as Token).token, 'b')).status).toBe(201)
  })

  it('get 429 past a limit of attempts from one address, unlike a token that was valid before', async () => {
    const headers = { 'CF-Connecting-IP': nextAddress() }
    const attempt = (token: string) => senderTo(sharedHost('limited'))('/tokens', { method: 'GET', token, headers })
    expect((await attempt(adminToken)).status).toBe(200)
    for (let index = 0; index < 5; index++) expect((await attempt(`guess-${index}`)).status).toBe(401)
    const rejected = await attempt('guess-5')
    expect([rejected.status, rejected.headers.get('retry-after'), rejected.body]).toMatchObject([
      ...[429, '60', { code: 'too-many-attempts' }],
    ])
    expect((await attempt(adminToken)).status).toBe(200)
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
