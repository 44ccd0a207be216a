import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerCalls } from '../support/answers.ts'
import { nextAddress } from '../support/called-host.ts'
import { call } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, sharedHost, startSharedUpstream } from '../support/host.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'
import { upstreamPorts } from '../support/shared-hosts.ts'
import type { UpstreamServer } from '../support/upstream.ts'

/** The failed attempts per minute that the limited host accepts from one address. */
const authLimit = 5

const host = sharedHost('limited')
let agent: UpstreamServer
let issuer: IssuerServer
let token: string
beforeAll(async () => {
  agent = await startSharedUpstream()
  issuer = await startIssuer(undefined, upstreamPorts())
  const card = agentCard(agent.origin, {
    capabilities: { extendedAgentCard: true },
    securitySchemes: {
      key: { apiKeySecurityScheme: { location: 'header', name: 'X-API-Key' } },
      login: { openIdConnectSecurityScheme: { openIdConnectUrl: issuer.discoveryUrl } },
    },
  })
  const jwt = { audience: 'weather-api' }
  await host.put('confidential', { card, jwt, extended: { description: 'More of it' } })
  await host.put('confidential-hidden', { card, jwt, visibility: 'internal' })
  const more = { extended: { description: 'More of it' } }
  await host.put('confidential-hidden-more', { card, jwt, visibility: 'internal', ...more })
  token = (await host.issue({ scopes: ['read'], agents: ['confidential'] })).token
  agent.respond(answerCalls)
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
const getCard = (id: string, headers: Record<string, string> = {}) =>
  host.fetch(`/agents/${id}/.well-known/agent-card.json`, {
    headers: { 'CF-Connecting-IP': nextAddress(), ...headers },
  })

describe('a token of this host', () => {
  const forms: [string, (secret: string) => string][] = [
    ['alone', secret => secret],
    ['as a bearer token', secret => `Bearer ${secret}`],
    ['with another scheme', secret => `Token ${secret}`],
    ['after a colon', secret => `Bearer: ${secret}`],
    ['as a parameter', secret => `ApiKey key="${secret}"`],
    ['as a password', secret => `Basic ${btoa(`user:${secret}`)}`],
    ['twice', secret => `${secret}, ${secret}`],
  ]

  it('never reaches an agent, in whatever form it is sent', async () => {
    for (const [form, write] of forms)
      for (const name of ['Authorization', 'X-API-Key']) {
        const before = agent.requests.length
        for (const secret of [token, adminToken, `${token}x`])
          expect([200, 401], form).toContain((await send('confidential', { [name]: write(secret) })).status)
        const received = JSON.stringify(agent.requests.slice(before).map(({ headers }) => headers))
        for (const secret of [token, adminToken]) {
          expect(received, form).not.toContain(write(secret))
          expect(received, form).not.toContain(secret)
        }
      }
  })

  it("does not stop the agent's own credentials", async () => {
    for (const headers of [
      { 'x-api-key': 'theirs' },
      { authorization: 'Basic dTpw' },
      { authorization: 'Bearer e.e.cc_' },
    ]) {
      expect((await send('confidential', headers)).status).toBe(200)
      expect(agent.requests.at(-1)?.headers).toMatchObject(headers)
    }
  })
})

describe('the card of an internal agent', () => {
  it('is served for a JWT of an issuer of the card, with and without extended cards', async () => {
    const jwt = await issuer.sign({ aud: 'weather-api' })
    for (const id of ['confidential-hidden', 'confidential-hidden-more']) {
      const { status, headers } = await getCard(id, { Authorization: `Bearer ${jwt}` })
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    }
  })

  it.each(['confidential-hidden', 'confidential-hidden-more', 'unknown'])(
    'cannot be distinguished from an unknown agent by the number of accepted attempts: %s',
    async id => {
      const clientAddress = nextAddress()
      const attempts: Record<string, string>[] = [
        { Authorization: 'Bearer cc_x' },
        { Authorization: 'Bearer theirs', 'X-API-Key': 'cc_x' },
        { 'X-API-Key': 'cc_x' },
        { Authorization: `Bearer ${await issuer.sign({ aud: 'weather-api', exp: 1 })}` },
      ]
      // All but the API key alone count as attempts, as for an unknown agent. A new minute may begin during the test.
      const maxRounds = 5
      const sendWith = (headers: Record<string, string>, round: number) =>
        round % 2 ? getCard(id, headers) : send(id, headers)
      let rounds = 0
      for (let limited = false; !limited && rounds < maxRounds; rounds++)
        for (const headers of attempts) {
          const { status } = await sendWith({ ...headers, 'CF-Connecting-IP': clientAddress }, rounds)
          if (status === 429) limited = true
          // JSON-RPC reports an unknown agent with HTTP 200.
          else expect(status).toBe(rounds % 2 ? 404 : 200)
        }
      expect(rounds).toBeGreaterThan(authLimit / 3)
      expect(rounds).toBeLessThan(maxRounds)
    },
  )
})
