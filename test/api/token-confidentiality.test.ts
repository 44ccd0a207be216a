import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { nextAddress } from '../support/called-host.ts'
import { answer, call } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, sharedHost, startSharedUpstream } from '../support/host.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'
import { json, reply, type UpstreamServer } from '../support/upstream.ts'

/** The invalid credentials a minute that the limited host takes from one address. */
const authLimit = 5

const host = sharedHost('limited')
let agent: UpstreamServer
let issuer: IssuerServer
let token: string
beforeAll(async () => {
  agent = await startSharedUpstream()
  issuer = await startIssuer(undefined, inject('upstreamPorts'))
  const card = agentCard(agent.origin, {
    capabilities: { extendedAgentCard: true },
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
      login: { openIdConnectSecurityScheme: { openIdConnectUrl: issuer.discoveryUrl } },
    },
  })
  const jwt = { audience: 'weather-api' }
  await host.put('token-guards', { card, jwt, extended: { description: 'More of it' } })
  await host.put('token-guards-hidden', { card, jwt, visibility: 'internal' })
  await host.put('token-guards-hidden-more', {
    card,
    jwt,
    visibility: 'internal',
    extended: { description: 'More of it' },
  })
  const issued = await host.fetch('/tokens', {
    method: 'POST',
    headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
    body: '{"scopes":["read"],"agents":["token-guards"]}',
  })
  token = ((await issued.json()) as { token: string }).token
  agent.respond(reply(200, json, JSON.stringify(answer)))
})
afterAll(async () => {
  await agent.close()
  await issuer.close()
})

const send = (id: string, headers: Record<string, string>) =>
  host.fetch(`/agents/${id}/a2a`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'A2A-Version': '1.0',
      'CF-Connecting-IP': nextAddress(),
      ...headers,
    },
    body: JSON.stringify(call()),
  })
const card = (id: string, headers: Record<string, string> = {}) =>
  host.fetch(`/agents/${id}/.well-known/agent-card.json`, {
    headers: { 'CF-Connecting-IP': nextAddress(), ...headers },
  })

describe('a token of this host', () => {
  const spellings: [string, (secret: string) => string][] = [
    ['alone', secret => secret],
    ['as a bearer token', secret => `Bearer ${secret}`],
    ['behind another scheme', secret => `Token ${secret}`],
    ['behind a colon', secret => `Bearer: ${secret}`],
    ['as a parameter', secret => `ApiKey key="${secret}"`],
    ['as a password', secret => `Basic ${btoa(`user:${secret}`)}`],
    ['twice', secret => `${secret}, ${secret}`],
  ]

  it.each(spellings.flatMap(([how, say]) => ['Authorization', 'X-API-Key'].map(name => [name, how, say] as const)))(
    'never reaches an agent: %s, %s',
    async (name, _, say) => {
      const before = agent.requests.length
      for (const secret of [token, adminToken, `${token}x`]) {
        const { status } = await send('token-guards', { [name]: say(secret) })
        expect([200, 401]).toContain(status)
      }
      const heard = JSON.stringify(agent.requests.slice(before).map(({ headers }) => headers))
      for (const secret of [token, adminToken]) {
        expect(heard).not.toContain(say(secret))
        expect(heard).not.toContain(secret)
      }
    },
  )

  it("does not keep the agent's own credentials from it", async () => {
    for (const headers of [
      { 'x-api-key': 'theirs' },
      { authorization: 'Basic dTpw' },
      { authorization: 'Bearer e.e.cc_' },
    ]) {
      expect((await send('token-guards', headers)).status).toBe(200)
      expect(agent.requests.at(-1)?.headers).toMatchObject(headers)
    }
  })
})

describe('the card of an internal agent', () => {
  it.each(['token-guards-hidden', 'token-guards-hidden-more'])(
    "is there for a JWT of its card's issuer, whatever its tiers: %s",
    async id => {
      const jwt = await issuer.sign({ aud: 'weather-api' })
      const { status, headers } = await card(id, { Authorization: `Bearer ${jwt}` })
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    },
  )

  it.each(['token-guards-hidden', 'token-guards-hidden-more', 'nobody'])(
    'cannot be told from none by how many credentials are taken: %s',
    async id => {
      const from = nextAddress()
      const guesses: Record<string, string>[] = [
        { Authorization: 'Bearer cc_x' },
        { Authorization: 'Bearer theirs', 'X-API-Key': 'cc_x' },
        { 'X-API-Key': 'cc_x' },
        { Authorization: `Bearer ${await issuer.sign({ aud: 'weather-api', exp: 1 })}` },
      ]
      // Where there is no agent, only the first counts as a guess. A new minute may begin meanwhile.
      const most = 2 * authLimit + 2
      const askAs = (headers: Record<string, string>, time: number) =>
        time % 2 ? card(id, headers) : send(id, headers)
      let rounds = 0
      for (let refused = false; !refused && rounds < most; rounds++)
        for (const guess of guesses) {
          const { status } = await askAs({ ...guess, 'CF-Connecting-IP': from }, rounds)
          if (status === 429) refused = true
          else expect(status).toBe(404)
        }
      expect(rounds).toBeGreaterThan(authLimit)
      expect(rounds).toBeLessThan(most)
    },
  )
})

describe('HEAD of an extended card', () => {
  it('answers as GET does, without the card', async () => {
    const ask = (method: string) =>
      host.fetch('/agents/token-guards/a2a/extendedAgentCard', {
        method,
        headers: { Authorization: `Bearer ${token}` },
      })
    const [head, get] = [await ask('HEAD'), await ask('GET')]
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      get.headers.get('content-type'),
      '',
    ])
    expect(await get.json()).toMatchObject({ description: 'More of it' })
  })
})

describe('who may not be told what a card says', () => {
  it('keeps caches from taking the one for the other', async () => {
    const vary = async (headers = {}) => (await card('token-guards', headers)).headers.get('vary')
    expect([await vary(), await vary({ Authorization: `Bearer ${token}` })]).toEqual([
      'A2A-Version, Authorization',
      'A2A-Version, Authorization',
    ])
  })
})
