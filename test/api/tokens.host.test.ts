import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { nextAddress } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
  await host.put('weather-eu', { card: minimalCard, visibility: 'internal' })
})
afterAll(() => host.close())

/** The members of tokens, of pages of tokens and of problems that these tests read. */
type Body = {
  id: string
  token: string
  expires: string | null
  code: string
  detail: string
  errors: { pointer: string; message: string }[]
  tokens: Body[]
  cursor?: string
}
const readBody = (response: Response) => response.json() as Promise<Body>
/** Each request has an address of its own, so that failed attempts of one test do not throttle another. */
const headersWith = (token: string) => ({
  Authorization: `Bearer ${token}`,
  'CF-Connecting-IP': nextAddress(),
})
const post = (document: unknown, token = adminToken) =>
  host.fetch('/tokens', {
    method: 'POST',
    headers: { ...headersWith(token), 'Content-Type': 'application/json' },
    body: typeof document === 'string' ? document : JSON.stringify(document),
  })
const issue = async (document: object) => readBody(await post(document))
const list = async (query = '') => readBody(await host.fetch(`/tokens${query}`, { headers: headersWith(adminToken) }))
const revoke = (id: string, token = adminToken) =>
  host.fetch(`/tokens/${id}`, { method: 'DELETE', headers: headersWith(token) })
const hashToken = (token: string) => createHash('sha256').update(token).digest('hex')
const canReadInternalCard = async (token: string) =>
  (await host.fetch('/agents/weather-eu', { headers: headersWith(token) })).status === 200
const daysFromNow = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString()

describe('POST /tokens', () => {
  it('returns 201 with a token, which no cache stores', async () => {
    const response = await post({ note: 'CI', scopes: ['read', 'write'], agents: ['weather-*'], tiers: ['partner'] })
    const issued = await readBody(response)
    expect([response.status, response.headers.get('cache-control'), issued]).toEqual([
      201,
      'private, no-store',
      {
        id: expect.stringMatching(/^[a-z2-7]{12}$/),
        token: expect.stringMatching(`^cc_${issued.id}_[a-z2-7]{32}$`),
        note: 'CI',
        scopes: ['read', 'write'],
        agents: ['weather-*'],
        tiers: ['partner'],
        created: expect.stringMatching(/^\d{4}-.*Z$/),
        expires: null,
        published: true,
      },
    ])
  })

  it('issues a token for all agents, without tiers and without expiry, by default', async () => {
    expect(await issue({ scopes: ['read'] })).toMatchObject({ note: '', agents: ['*'], tiers: [], expires: null })
  })

  it('issues a token that is valid at once', async () => {
    expect(await canReadInternalCard((await issue({ scopes: ['read'] })).token)).toBe(true)
  })

  it('stores only the SHA-256 of a token, in KV too', async () => {
    const { token } = await issue({ scopes: ['read'] })
    const { CARDS } = await host.env()
    const keys = (await CARDS.list()).keys.map(({ name }) => name)
    expect(keys).toContain(`token:${hashToken(token)}`)
    expect([await CARDS.get(`token:${hashToken(token)}`), ...keys].join()).not.toContain(token)
  })

  it('removes duplicates from lists', async () => {
    expect(await issue({ scopes: ['read', 'read'], agents: ['a', 'a'], tiers: ['t', 't'] })).toMatchObject({
      scopes: ['read'],
      agents: ['a'],
      tiers: ['t'],
    })
  })

  it.each<[string, unknown, () => string | null]>([
    ['a number of seconds', 3600, () => new Date(Date.now() + 3_600_000).toISOString().slice(0, 15)],
    ['a date, at 00:00 UTC', daysFromNow(30).slice(0, 10), () => `${daysFromNow(30).slice(0, 10)}T00:00:00.000Z`],
    ['a time', daysFromNow(1), () => daysFromNow(1).slice(0, 10)],
    ['a time with a zone', '2030-01-31T12:00:00+02:00', () => '2030-01-31T10:00:00.000Z'],
    ['null for never', null, () => null],
  ])('accepts as expiry %s', async (_, expires, expected) => {
    const issued = await issue({ scopes: ['read'], expires })
    const expiry = expected()
    expect(issued.expires?.slice(0, expiry?.length) ?? null).toBe(expiry)
  })

  it.each<[unknown, string, string]>([
    [{}, '/scopes', 'is missing'],
    [{ scopes: [] }, '/scopes', 'at least one of them'],
    [{ scopes: 'read' }, '/scopes', 'must be a list of read, call, write or admin'],
    [{ scopes: ['root'] }, '/scopes/0', 'must be read, call, write or admin'],
    [{ scopes: [null] }, '/scopes/0', 'must be read, call, write or admin'],
    [{ scopes: ['read'], agents: [] }, '/agents', 'omit it for all agents'],
    [{ scopes: ['read'], agents: ['Weather'] }, '/agents/0', 'must be an agent id'],
    [{ scopes: ['read'], agents: ['a?'] }, '/agents/0', 'must be an agent id'],
    [{ scopes: ['read'], agents: [7] }, '/agents/0', 'must be a string'],
    [{ scopes: ['read'], agents: Array(21).fill('a') }, '/agents', 'at most 20'],
    [{ scopes: ['admin'], agents: ['a'] }, '/agents', 'cannot narrow'],
    [{ scopes: ['read'], tiers: 'partner' }, '/tiers', 'must be a list'],
    [{ scopes: ['read'], tiers: ['Gold!'] }, '/tiers/0', 'must be the name of a tier'],
    [{ scopes: ['read'], note: 7 }, '/note', 'must be a string'],
    [{ scopes: ['read'], note: 'a\nb' }, '/note', 'one line'],
    [{ scopes: ['read'], note: 'x'.repeat(201) }, '/note', 'at most 200 characters'],
    [{ scopes: ['read'], expires: true }, '/expires', 'must be seconds from now, or a date'],
    [{ scopes: ['read'], expires: 'soon' }, '/expires', 'must be seconds from now, or a date'],
    [{ scopes: ['read'], expires: '2027-02-31' }, '/expires', 'must be seconds from now, or a date'],
    [{ scopes: ['read'], expires: '2027-01-31T25:00:00Z' }, '/expires', 'must be seconds from now, or a date'],
    ['{"scopes":["read"],"expires":1e400}', '/expires', 'must be seconds from now, or a date'],
    ['{"scopes":["read"],"expires":-1e400}', '/expires', 'must be seconds from now, or a date'],
    ['{"scopes":["read"],"expires":1e307}', '/expires', 'must be seconds from now, or a date'],
    [{ scopes: ['read'], expires: 90.5 }, '/expires', 'whole seconds'],
    [{ scopes: ['read'], expires: 59 }, '/expires', 'at least 60 seconds'],
    [{ scopes: ['read'], expires: -1 }, '/expires', 'at least 60 seconds'],
    [{ scopes: ['read'], expires: '2020-01-01' }, '/expires', 'at least 60 seconds'],
    [{ scopes: ['read'], expires: 1e300 }, '/expires', 'at most 3650 days'],
    [{ scopes: ['read'], agent: ['a'] }, '/agent', '"agent" is not a field of a token'],
    ['{"scopes":["read"],"__proto__":{"scopes":["admin"]}}', '/__proto__', 'is not a field of a token'],
    [[], '/scopes', 'is missing'],
    ['null', '', 'must be an object'],
    ['"read"', '', 'must be an object'],
  ])('rejects %j: %s %s', async (document, pointer, message) => {
    const response = await post(document)
    const problem = await readBody(response)
    expect([response.status, problem.code]).toEqual([422, 'invalid-token-request'])
    expect(problem.errors).toContainEqual({ pointer, message: expect.stringContaining(message) })
    expect(problem.detail).toContain(message)
  })

  it.each([
    ['{"scopes":', 400, 'not-json'],
    ['', 400, 'not-json'],
    ['['.repeat(10_000), 422, 'too-deep'],
    [`{"note":"${'x'.repeat(300_000)}"}`, 413, 'too-large'],
  ])('rejects a body that is not JSON or is too large: %#', async (text, status, code) => {
    const response = await post(text)
    expect([response.status, (await readBody(response)).code]).toEqual([status, code])
  })

  it('reports at most 100 errors', async () => {
    const { errors } = await readBody(await post({ scopes: Array(5000).fill('x') }))
    expect(errors).toHaveLength(100)
  })
})

describe('GET /tokens/self', () => {
  const readSelf = (token: string) => host.fetch('/tokens/self', { headers: headersWith(token) })

  it('returns what any token allows, and until when, in a response that no cache stores', async () => {
    const request = { note: 'CI', scopes: ['write'], agents: ['team1-*'], tiers: ['gold'], expires: 3600 }
    const { id, token, expires } = await issue(request)
    const response = await readSelf(token)
    expect([response.status, response.headers.get('cache-control'), await response.json()]).toEqual([
      200,
      'private, no-store',
      { id, note: 'CI', scopes: ['write'], agents: ['team1-*'], tiers: ['gold'], expires },
    ])
  })

  it('has no note for a token without one, and no expiry for one that does not expire', async () => {
    const { id, token } = await issue({ scopes: ['read'] })
    const self = { id, scopes: ['read'], agents: ['*'], tiers: [], expires: null }
    expect(await (await readSelf(token)).json()).toEqual(self)
  })

  it('describes the ADMIN_TOKEN as admin', async () => {
    const self = { id: 'admin', scopes: ['admin'], agents: ['*'], tiers: ['*'], expires: null }
    expect(await (await readSelf(adminToken)).json()).toEqual(self)
  })

  it('returns 401 without a token, and for one that is unknown or revoked', async () => {
    const { id, token } = await issue({ scopes: ['read'] })
    expect((await readSelf(token)).status).toBe(200)
    await revoke(id)
    const responses = [await host.fetch('/tokens/self'), await readSelf('cc_wrong'), await readSelf(token)]
    expect(await Promise.all(responses.map(async each => [each.status, (await readBody(each)).code]))).toEqual([
      [401, 'no-token'],
      [401, 'bad-token'],
      [401, 'bad-token'],
    ])
  })

  it('supports no other method', async () => {
    const response = await host.fetch('/tokens/self', { method: 'POST', headers: headersWith(adminToken) })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
  })
})

describe('GET /tokens', () => {
  it('lists all tokens in pages, without their secrets and hashes', async () => {
    const issued = [await issue({ scopes: ['read'], note: 'one' }), await issue({ scopes: ['read'], note: 'two' })]
    const listed: Body[] = []
    let cursor: string | undefined
    do {
      const page = await list(`?limit=2${cursor === undefined ? '' : `&cursor=${cursor}`}`)
      listed.push(...page.tokens)
      cursor = page.cursor
    } while (cursor !== undefined)
    const ids = listed.map(({ id }) => id)
    expect(ids).toEqual([...new Set(ids)].sort())
    for (const { id, token } of issued) {
      const {
        token: _,
        published: __,
        ...shown
      } = issued.find(({ id: issuedId }) => issuedId === id) as Body & { published: true }
      expect(listed).toContainEqual(shown)
      expect(JSON.stringify(listed)).not.toContain(token)
      expect(JSON.stringify(listed)).not.toContain(hashToken(token))
    }
  })

  it('does not list the ADMIN_TOKEN', async () => {
    expect(JSON.stringify(await list())).not.toContain(adminToken)
  })

  it.each([
    ['?limit=0', 'bad-limit'],
    ['?cursor=..', 'bad-cursor'],
    ['?scope=read', 'unknown-query'],
  ])('rejects %s', async (query, code) => {
    expect((await list(query)).code).toBe(code)
  })
})

describe('DELETE /tokens/{id}', () => {
  it('revokes a token at once, with 204, and then returns 404', async () => {
    const { id, token } = await issue({ scopes: ['read'] })
    expect(await canReadInternalCard(token)).toBe(true)
    expect((await revoke(id)).status).toBe(204)
    expect(await canReadInternalCard(token)).toBe(false)
    expect((await revoke(id)).status).toBe(404)
    expect((await list()).tokens.map(token => token.id)).not.toContain(id)
  })

  it.each(['admin', 'a'.repeat(12), 'A'.repeat(12), '...', '%00', 'x'.repeat(5000)])(
    'returns 404 for an unknown or invalid id: %#',
    async id => {
      const response = await revoke(encodeURIComponent(id))
      expect(response.status).toBe(404)
    },
  )
})

describe('authorization', () => {
  it.each([
    ['read', ['read']],
    ['write', ['read', 'write']],
  ])('rejects a token with at most the scope %s, with 403 and the missing scope', async (_, scopes) => {
    const { id, token } = await issue({ scopes })
    const responses = await Promise.all([
      post({ scopes: ['admin'] }, token),
      host.fetch('/tokens', { headers: headersWith(token) }),
      revoke(id, token),
    ])
    for (const response of responses)
      expect([response.status, response.headers.get('www-authenticate'), await readBody(response)]).toEqual([
        403,
        'Bearer realm="calling-card", error="insufficient_scope", scope="admin"',
        expect.objectContaining({
          code: 'forbidden',
          title: 'Forbidden',
          detail: 'This token lacks the scope `admin`: use one that has it.',
        }),
      ])
  })

  it('lets an admin token issue other tokens and revoke itself', async () => {
    const { id, token } = await issue({ scopes: ['admin'] })
    expect((await post({ scopes: ['read'] }, token)).status).toBe(201)
    expect((await revoke(id, token)).status).toBe(204)
    expect((await post({ scopes: ['read'] }, token)).status).toBe(401)
  })

  it.each([
    ['no credentials', {}, 'no-token', 'Authorization: Bearer'],
    ['an unknown token', { Authorization: 'Bearer wrong' }, 'bad-token', 'unknown, expired or revoked'],
    ['a malformed token', { Authorization: 'Bearer cc_abc' }, 'bad-token', 'incomplete or mistyped'],
    ['two tokens', { Authorization: `Bearer ${adminToken}, Bearer ${adminToken}` }, 'bad-token', 'more than one'],
    ['a token as an API key', { 'X-API-Key': adminToken }, 'no-token', 'Authorization: Bearer'],
  ])('rejects %s with 401', async (_, headers, code, detail) => {
    for (const [method, path] of [
      ['POST', '/tokens'],
      ['GET', '/tokens'],
      ['DELETE', '/tokens/aaaaaaaaaaaa'],
    ] as const) {
      const clientAddress = nextAddress()
      const response = await host.fetch(path, { method, headers: { ...headers, 'CF-Connecting-IP': clientAddress } })
      expect([response.status, response.headers.get('www-authenticate'), await readBody(response)]).toEqual([
        401,
        expect.stringMatching(/^Bearer realm="calling-card"/),
        expect.objectContaining({ code, detail: expect.stringContaining(detail) }),
      ])
    }
  })
})
