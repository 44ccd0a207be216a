import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import type { TokenRecord } from '../../src/registry/records.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost()
  await host.put('open', minimalCard)
  await host.put('weather-eu', { card: minimalCard, visibility: 'internal' })
  await host.put('weather-us', { card: minimalCard, visibility: 'internal' })
  await host.put('zoo', { card: minimalCard, visibility: 'internal' })
})
afterAll(() => host.close())

let address = 0
/** Each request is of another address, so that no test's failures are another's. */
const from = () => ({ 'CF-Connecting-IP': `203.0.113.${++address % 250}` })
const issue = async (scopes: string[], agents = ['*']): Promise<string> => {
  const response = await host.fetch('/tokens', {
    method: 'POST',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ scopes, agents }),
  })
  return ((await response.json()) as { token: string }).token
}
const send = (method: string, path: string, token: string, document?: Json) =>
  host.fetch(path, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...from() },
    ...(document !== undefined && { body: JSON.stringify(document) }),
  })
type Said = { code?: string; detail?: string; agents?: { id: string }[]; cursor?: string }
const said = async (response: Response) => (await response.json()) as Said

describe('the scope write', () => {
  it('registers, reads the manifest of, and removes the agents that it is for', async () => {
    const token = await issue(['write'], ['mine-*'])
    const statuses = [
      await send('PUT', '/agents/mine-1', token, minimalCard),
      await send('GET', '/agents/mine-1/manifest', token),
      await send('DELETE', '/agents/mine-1', token),
    ].map(({ status }) => status)
    expect(statuses).toEqual([201, 200, 204])
  })

  it.each<[string, string[], string[], string]>([
    ['without it', ['read'], ['*'], 'This token lacks the scope `write`.'],
    ['for other agents', ['read', 'write'], ['mine-*'], 'The scope `write` of this token does not cover agent "'],
  ])(
    'is asked for: %s, an agent looks the same whether it is public, internal or none',
    async (_, scopes, agents, detail) => {
      const token = await issue(scopes, agents)
      for (const id of ['open', 'zoo', 'nobody'])
        for (const [method, path] of [
          ['PUT', `/agents/${id}`],
          ['GET', `/agents/${id}/manifest`],
          ['DELETE', `/agents/${id}`],
        ] as const) {
          const response = await send(method, path, token, method === 'PUT' ? minimalCard : undefined)
          expect([response.status, response.headers.get('www-authenticate'), await said(response)]).toEqual([
            403,
            'Bearer realm="calling-card", error="insufficient_scope", scope="write"',
            expect.objectContaining({ code: 'forbidden', detail: expect.stringContaining(detail) }),
          ])
        }
      expect((await host.fetch('/agents/open')).status).toBe(200)
    },
  )
})

describe('the scope read', () => {
  const cardOf = async (id: string, token: string) => (await send('GET', `/agents/${id}`, token)).status

  it('reads internal cards of the agents that it is for; of others, there is none', async () => {
    const token = await issue(['read'], ['weather-*'])
    const statuses = await Promise.all(['open', 'weather-eu', 'zoo', 'nobody'].map(id => cardOf(id, token)))
    expect(statuses).toEqual([200, 200, 404, 404])
  })

  it('tells an internal agent from none in no word', async () => {
    const token = await issue(['read'], ['weather-*'])
    const [hidden, none] = await Promise.all(
      ['zoo', 'zob'].map(async id => {
        const response = await send('GET', `/agents/${id}`, token)
        return [[...response.headers].filter(([name]) => name !== 'date'), await response.text()]
      }),
    )
    expect(JSON.stringify(hidden).replaceAll('zoo', 'zob')).toBe(JSON.stringify(none))
  })

  it('is not had by who only writes', async () => {
    expect(await cardOf('zoo', await issue(['write']))).toBe(404)
  })

  it('lists public agents and the internal ones that it is for', async () => {
    const ids = async (agents: string[]) => {
      const token = await issue(['read'], agents)
      return (await said(await send('GET', '/agents', token))).agents?.map(({ id }) => id)
    }
    expect(await ids(['*'])).toEqual(['open', 'weather-eu', 'weather-us', 'zoo'])
    expect(await ids(['weather-*'])).toEqual(['open', 'weather-eu', 'weather-us'])
    expect(await ids(['*-us', 'zoo'])).toEqual(['open', 'weather-us', 'zoo'])
    expect(await ids(['nobody'])).toEqual(['open'])
  })

  it('lists them in pages, and misses none', async () => {
    const token = await issue(['read'], ['weather-us'])
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await said(await send('GET', `/agents?limit=1${cursor ? `&cursor=${cursor}` : ''}`, token))
      seen.push(...(page.agents ?? []).map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== undefined)
    expect(seen).toEqual(['open', 'weather-us'])
  })

  it('is asked for by the list', async () => {
    const response = await send('GET', '/agents', await issue(['write']))
    expect([response.status, await said(response)]).toMatchObject([
      403,
      { detail: 'This token lacks the scope `read`.' },
    ])
  })
})

describe('tokens that do not hold', () => {
  const record: TokenRecord = {
    id: 'b'.repeat(12),
    note: '',
    scopes: ['admin'],
    agents: ['*'],
    tiers: [],
    created: 0,
    expires: Date.now() + 3_600_000,
  }
  const keep = async (expires: number | null): Promise<string> => {
    const token = `cc_${'b'.repeat(12)}_${createHash('sha256')
      .update(String(expires))
      .digest('hex')
      .slice(0, 32)
      .replace(/[0189]/g, 'x')}`
    const key = `token:${createHash('sha256').update(token).digest('hex')}`
    await (await host.env()).CARDS.put(key, JSON.stringify({ ...record, expires }), { metadata: { seq: 1 } })
    return token
  }

  it('have expired', async () => {
    const [late, early] = await Promise.all([keep(Date.now() + 3_600_000), keep(Date.now() - 1000)])
    const statuses = [await send('GET', '/tokens', late), await send('GET', '/tokens', early)].map(
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
  ])('%s %s: 401, and no word of the token', async (method, path) => {
    for (const token of [`cc_${'z'.repeat(12)}_${'z'.repeat(32)}`, 'cc_mistyped', 'somebody-else-s']) {
      const response = await send(method, path, token, method === 'PUT' ? minimalCard : undefined)
      const text = await response.text()
      expect([response.status, text]).toEqual([401, expect.stringContaining('"code":"bad-token"')])
      expect(text + JSON.stringify([...response.headers])).not.toContain(token)
      expect(text).not.toContain(createHash('sha256').update(token).digest('hex'))
    }
  })

  it('are a short ADMIN_TOKEN, but on the machine that the host runs on', async () => {
    const local = await startHost({ ADMIN_TOKEN: 'dev' })
    const headers = { Authorization: 'Bearer dev' }
    expect((await local.fetch('/tokens', { headers })).status).toBe(200)
    for (const sent of [headers, {}]) {
      const response = await local.fetch('http://cards.example.com/tokens', { headers: sent })
      expect([response.status, (await said(response)).detail]).toEqual([
        401,
        expect.stringContaining(
          'This host has no ADMIN_TOKEN of at least 16 characters. Set a random one: npx wrangler',
        ),
      ])
    }
    await local.close()
  })

  it('are looked at no more after thirty in a minute from one address: 429; others go on', async () => {
    const guess = (index: number, ip: string) =>
      host.fetch('/tokens', {
        headers: { Authorization: `Bearer guess-${index}`, 'CF-Connecting-IP': ip },
      })
    // The limit's minute may turn while the test runs: at most twice thirty are looked at.
    let refused: Response | undefined
    for (let index = 0; index < 70 && refused?.status !== 429; index++) refused = await guess(index, '198.51.100.1')
    expect([refused?.status, refused?.headers.get('retry-after'), (await said(refused as Response)).code]).toEqual([
      429,
      '60',
      'too-many-attempts',
    ])
    expect((await guess(0, '198.51.100.2')).status).toBe(401)
    const right = await host.fetch('/tokens', {
      headers: { Authorization: `Bearer ${adminToken}`, 'CF-Connecting-IP': '198.51.100.1' },
    })
    // It held here before: who shares the address of a guesser is not kept out.
    expect(right.status).toBe(200)
  })
})

describe('what this host sends upstream for an agent', () => {
  const manifest = (upstream: Record<string, Json>, card: object = {}): Json => ({
    card: { ...minimalCard, url: 'https://mine.example.com/a2a', ...card } as Json,
    upstream,
  })
  const put = async (id: string, document: Json) => {
    const response = await send('PUT', `/agents/${id}`, await issue(['read', 'write']), document)
    return [response.status, (await said(response)).detail ?? '']
  }
  const secret = { url: 'https://agent.example.com/a2a', secret: 'AGENT_TOKEN' }

  it('may be named by an administrator only', async () => {
    for (const upstream of [secret, { secret: 'AGENT_TOKEN' }, { service: 'AGENT' }])
      expect(await put('named', manifest(upstream))).toEqual([403, expect.stringContaining('scope `admin`')])
    expect((await host.put('named', manifest(secret))).status).toBe(201)
  })

  it('is kept by who may write the rest', async () => {
    await host.put('kept', manifest(secret))
    expect(await put('kept', manifest(secret, { description: 'Another description of the agent' }))).toEqual([200, ''])
    expect(await put('kept', manifest({ url: 'https://agent.example.com/a2a' }))).toEqual([200, ''])
  })

  it.each<[string, Record<string, Json>]>([
    ['the secret to another address', { ...secret, url: 'https://evil.example.com/a2a' }],
    ["another agent's secret", { ...secret, secret: 'OTHER_TOKEN' }],
    ['the secret to a binding', { ...secret, service: 'OTHER' }],
    ['the secret to where a card is fetched', { ...secret, card: 'https://evil.example.com/card.json' }],
    ["the secret to the card's own address", { secret: 'AGENT_TOKEN' }],
  ])('is not sent where it was not: %s', async (name, upstream) => {
    const id = name.toLowerCase().replace(/[^a-z]+/g, '-')
    await host.put(id, manifest(secret))
    expect(await put(id, manifest(upstream))).toEqual([403, expect.stringContaining('is not what is registered now')])
  })

  it("is not sent to another address of the card's own", async () => {
    await host.put('own', manifest({ secret: 'AGENT_TOKEN' }))
    expect(await put('own', manifest({ secret: 'AGENT_TOKEN' }, { url: 'https://evil.example.com/a2a' }))).toEqual([
      403,
      expect.stringContaining('a different address'),
    ])
    expect(await put('own', manifest({ secret: 'AGENT_TOKEN' }, { version: '2.0.0' }))).toEqual([200, ''])
  })

  const schemes = {
    login: { type: 'openIdConnect', openIdConnectUrl: 'https://login.example.com/.well-known/openid-configuration' },
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  }
  const closed = { ...(manifest(secret, { securitySchemes: schemes, security: [{ key: [] }] }) as JsonObject) }
  const card = closed.card as JsonObject
  it.each<[string, JsonObject]>([
    ['card.security', { card: { ...card, security: [] } }],
    [
      'card.securitySchemes',
      { card: { ...card, securitySchemes: { ...schemes, key: { ...schemes.key, name: 'Y' } } } },
    ],
    [
      'card.securitySchemes',
      {
        card: {
          ...card,
          securitySchemes: { ...schemes, login: { ...schemes.login, openIdConnectUrl: 'https://evil.example.com' } },
        },
      },
    ],
    ['jwt', { jwt: { audience: 'https://evil.example.com' } }],
    ['visibility', { visibility: 'internal' }],
    ['route', { route: 'closed' }],
    ['gate', { gate: { modes: 'off' } }],
  ])('is sent for nobody else than now: %s with %j', async (field, change) => {
    await host.put('guarded', closed)
    expect(await put('guarded', { ...closed, ...change })).toEqual([
      403,
      expect.stringMatching(
        `^upstream.secret would be available to other callers: ${field} has changed.*scope \`admin\``,
      ),
    ])
    expect(await put('guarded', { ...closed, card: { ...card, description: 'Another description' } })).toEqual([
      200,
      '',
    ])
  })

  it('is sent for no other agent of the same address', async () => {
    const named = (agentName: string) => ({
      card: { ...minimalCard, url: 'https://mine.example.com' },
      upstream: { secret: 'MINE_TOKEN', agentName },
    })
    await host.put('named', named('One'))
    expect(await put('named', named('Two'))).toEqual([403, expect.stringContaining('is not what is registered now')])
  })

  it('is sent to no other tenant', async () => {
    const tenant = (name: string) =>
      manifest(
        { secret: 'AGENT_TOKEN' },
        {
          supportedInterfaces: [
            { url: 'https://mine.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: name },
          ],
        },
      )
    await host.put('tenanted', tenant('one'))
    expect(await put('tenanted', tenant('two'))).toEqual([403, expect.stringContaining('a different address')])
  })

  it('comes back with no registration that was not compared: a condition that fails is 412', async () => {
    const token = await issue(['write'])
    await host.put('conditional', manifest(secret))
    const response = await host.fetch('/agents/conditional', {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'If-Match': '"old"' },
      body: JSON.stringify(manifest(secret)),
    })
    expect(response.status).toBe(412)
  })
})

describe('a host name', () => {
  const hosted = (...hosts: string[]): Json => ({ card: minimalCard, hosts })
  const put = async (id: string, document: Json) => {
    const response = await send('PUT', `/agents/${id}`, await issue(['write'], ['hosted-*']), document)
    return [response.status, response.headers.get('www-authenticate'), (await said(response)).detail ?? '']
  }
  const refused = (name: string, id: string) => [
    403,
    'Bearer realm="calling-card", error="insufficient_scope", scope="admin"',
    `Assigning the hostname "${name}" to agent "${id}" requires a token with the scope \`admin\`.`,
  ]

  it.each([['free.example.com'], ['taken.example.com'], ['secret.example.com'], ['127.0.0.1'], ['*']])(
    'is given by an administrator only, whoever has it: %s',
    async name => {
      await host.put('zoo', { card: minimalCard, visibility: 'internal', hosts: ['secret.example.com'] })
      await host.put('open', hosted('taken.example.com'))
      expect(await put('hosted-new', hosted(name))).toEqual(refused(name, 'hosted-new'))
      expect((await host.fetch('/agents/hosted-new')).status).toBe(404)
    },
  )

  it('is kept and given up by who may write the agent, and not taken back', async () => {
    const [one, two] = ['one.example.com', 'two.example.com']
    expect((await host.put('hosted-kept', hosted(one, two))).status).toBe(201)
    expect(await put('hosted-kept', hosted(one, two))).toEqual([200, null, ''])
    expect(await put('hosted-kept', hosted(two))).toEqual([200, null, ''])
    expect(await put('hosted-kept', hosted(one, two))).toEqual(refused(one, 'hosted-kept'))
  })
})
