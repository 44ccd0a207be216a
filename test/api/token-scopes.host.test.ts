import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json } from '../../src/json/json.ts'
import type { TokenRecord } from '../../src/registry/token-record.ts'
import { nextAddress } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
  await host.put('open', minimalCard)
  await host.put('weather-eu', { card: minimalCard, visibility: 'internal' })
  await host.put('weather-us', { card: minimalCard, visibility: 'internal' })
  await host.put('zoo', { card: minimalCard, visibility: 'internal' })
})
afterAll(() => host.close())

const issue = async (scopes: string[], agents = ['*']): Promise<string> => (await host.issue({ scopes, agents })).token
const send = (method: string, path: string, token: string, document?: Json) =>
  host.fetch(path, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      'CF-Connecting-IP': nextAddress(),
    },
    ...(document !== undefined && { body: JSON.stringify(document) }),
  })
type Body = { code?: string; detail?: string; agents?: { id: string }[]; cursor?: string }
const readBody = async (response: Response) => (await response.json()) as Body

describe('the scope write', () => {
  it('allows its agents to be registered, read with their manifests and removed', async () => {
    const token = await issue(['write'], ['mine-*'])
    const statuses = [
      await send('PUT', '/agents/mine-1', token, minimalCard),
      await send('GET', '/agents/mine-1/manifest', token),
      await send('DELETE', '/agents/mine-1', token),
    ].map(({ status }) => status)
    expect(statuses).toEqual([201, 200, 204])
  })

  it.each<[string, string[], string[], string]>([
    ['a token without it', ['read'], ['*'], 'This token lacks the scope `write`: use one that has it.'],
    [
      'a token for other agents',
      ['read', 'write'],
      ['mine-*'],
      'The scope `write` of this token does not cover agent "',
    ],
  ])('is required: %s gets the same 403 for public, internal and unknown agents', async (_, scopes, agents, detail) => {
    const token = await issue(scopes, agents)
    for (const id of ['open', 'zoo', 'unknown'])
      for (const [method, path] of [
        ['PUT', `/agents/${id}`],
        ['GET', `/agents/${id}/manifest`],
        ['DELETE', `/agents/${id}`],
      ] as const) {
        const response = await send(method, path, token, method === 'PUT' ? minimalCard : undefined)
        expect([response.status, response.headers.get('www-authenticate'), await readBody(response)]).toEqual([
          403,
          'Bearer realm="calling-card", error="insufficient_scope", scope="write"',
          expect.objectContaining({ code: 'forbidden', detail: expect.stringContaining(detail) }),
        ])
      }
    expect((await host.fetch('/agents/open')).status).toBe(200)
  })
})

describe('the scope read', () => {
  const getCardStatus = async (id: string, token: string) => (await send('GET', `/agents/${id}`, token)).status

  it('gives access to the internal cards of its agents only', async () => {
    const token = await issue(['read'], ['weather-*'])
    const statuses = await Promise.all(['open', 'weather-eu', 'zoo', 'unknown'].map(id => getCardStatus(id, token)))
    expect(statuses).toEqual([200, 200, 404, 404])
  })

  it('does not distinguish other internal agents from unknown ones', async () => {
    const token = await issue(['read'], ['weather-*'])
    const [hidden, unknown] = await Promise.all(
      ['zoo', 'zob'].map(async id => {
        const response = await send('GET', `/agents/${id}`, token)
        return [[...response.headers].filter(([name]) => name !== 'date'), await response.text()]
      }),
    )
    expect(JSON.stringify(hidden).replaceAll('zoo', 'zob')).toBe(JSON.stringify(unknown))
  })

  it('is not included in the scope write', async () => {
    expect(await getCardStatus('zoo', await issue(['write']))).toBe(404)
  })

  it('lists public agents and the internal agents of the token', async () => {
    const listIds = async (agents: string[]) => {
      const token = await issue(['read'], agents)
      return (await readBody(await send('GET', '/agents', token))).agents?.map(({ id }) => id)
    }
    expect(await listIds(['*'])).toEqual(['open', 'weather-eu', 'weather-us', 'zoo'])
    expect(await listIds(['weather-*'])).toEqual(['open', 'weather-eu', 'weather-us'])
    expect(await listIds(['*-us', 'zoo'])).toEqual(['open', 'weather-us', 'zoo'])
    expect(await listIds(['unknown'])).toEqual(['open'])
  })

  it('lists them in pages, without gaps', async () => {
    const token = await issue(['read'], ['weather-us'])
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const page = await readBody(await send('GET', `/agents?limit=1${cursor ? `&cursor=${cursor}` : ''}`, token))
      listed.push(...(page.agents ?? []).map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(listed).toEqual(['open', 'weather-us'])
  })

  it('is required for the list with a token', async () => {
    const response = await send('GET', '/agents', await issue(['write']))
    expect([response.status, await readBody(response)]).toMatchObject([
      403,
      { detail: 'This token lacks the scope `read`: use one that has it.' },
    ])
  })
})

describe('invalid tokens', () => {
  const record: TokenRecord = {
    id: 'b'.repeat(12),
    note: '',
    scopes: ['admin'],
    agents: ['*'],
    tiers: [],
    created: 0,
    expires: Date.now() + 3_600_000,
  }
  const storeToken = async (expires: number | null): Promise<string> => {
    const token = `cc_${'b'.repeat(12)}_${createHash('sha256')
      .update(String(expires))
      .digest('hex')
      .slice(0, 32)
      .replace(/[0189]/g, 'x')}`
    const key = `token:${createHash('sha256').update(token).digest('hex')}`
    await (await host.env()).CARDS.put(key, JSON.stringify({ ...record, expires }), { metadata: { seq: 1 } })
    return token
  }

  it('include expired ones', async () => {
    const [valid, expired] = await Promise.all([storeToken(Date.now() + 3_600_000), storeToken(Date.now() - 1000)])
    const statuses = [await send('GET', '/tokens', valid), await send('GET', '/tokens', expired)].map(
      ({ status }) => status,
    )
    expect(statuses).toEqual([200, 401])
  })

  it.each([
    ['PUT', '/agents/open'],
    ['GET', '/agents/open/manifest'],
    ['DELETE', '/agents/open'],
    ['GET', '/agents'],
    ['GET', '/tokens'],
  ])('get 401 without a trace of the token: %s %s', async (method, path) => {
    for (const token of [`cc_${'z'.repeat(12)}_${'z'.repeat(32)}`, 'cc_mistyped', 'a-foreign-token']) {
      const response = await send(method, path, token, method === 'PUT' ? minimalCard : undefined)
      const text = await response.text()
      expect([response.status, text]).toEqual([401, expect.stringContaining('"code":"bad-token"')])
      expect(text + JSON.stringify([...response.headers])).not.toContain(token)
      expect(text).not.toContain(createHash('sha256').update(token).digest('hex'))
    }
  })

  it('include a short ADMIN_TOKEN, also on localhost: the host refuses writes, and serves everything else', async () => {
    const localHost = await startNodeHost({ origin: 'http://localhost:8787' })
    const fetchAs = (token: string | undefined, method: string, path: string, document: Json = minimalCard) =>
      localHost.fetch(path, {
        method,
        headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
        ...(['PUT', 'POST'].includes(method) && { body: JSON.stringify(document) }),
      })
    await localHost.put('open', minimalCard)
    const response = await fetchAs(adminToken, 'POST', '/tokens', { scopes: ['read', 'write'] })
    const issued = (await response.json()) as { token: string }
    await localHost.deploy({ ADMIN_TOKEN: 'dev' })
    for (const token of ['dev', 'cc_wrong', undefined])
      for (const [method, path] of [
        ['PUT', '/agents/a'],
        ['DELETE', '/agents/open'],
        ['GET', '/tokens'],
      ] as const) {
        const response = await fetchAs(token, method, path)
        expect([response.status, await readBody(response)]).toEqual([
          503,
          expect.objectContaining({
            code: 'admin-token-missing',
            detail: expect.stringContaining('Set a random one: npx wrangler secret put ADMIN_TOKEN'),
          }),
        ])
      }
    const card = '/agents/open/.well-known/agent-card.json'
    const reads = [
      [undefined, card],
      [undefined, '/agents'],
      ['dev', '/agents'],
      ['dev', '/tokens/self'],
    ] as const
    const statuses = await Promise.all(reads.map(async ([token, path]) => (await fetchAs(token, 'GET', path)).status))
    expect(statuses).toEqual([200, 200, 401, 401])
    expect((await fetchAs(issued.token, 'PUT', '/agents/b')).status).toBe(201)
  })

  it('get 429 after thirty attempts per minute from one address, which does not affect other addresses', async () => {
    const tryToken = (index: number, ip: string) =>
      host.fetch('/tokens', {
        headers: { Authorization: `Bearer guess-${index}`, 'CF-Connecting-IP': ip },
      })
    // A new minute may begin during the test, so that up to twice thirty attempts are checked.
    let rejected: Response | undefined
    for (let index = 0; index < 70 && rejected?.status !== 429; index++)
      rejected = await tryToken(index, '198.51.100.1')
    expect([
      rejected?.status,
      rejected?.headers.get('retry-after'),
      (await readBody(rejected as Response)).code,
    ]).toEqual([429, '60', 'too-many-attempts'])
    expect((await tryToken(0, '198.51.100.2')).status).toBe(401)
    const admin = await host.fetch('/tokens', {
      headers: { Authorization: `Bearer ${adminToken}`, 'CF-Connecting-IP': '198.51.100.1' },
    })
    // This token was valid before, so that clients that share an address with an attacker keep their access.
    expect(admin.status).toBe(200)
  })
})
