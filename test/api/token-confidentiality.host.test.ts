import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerCalls } from '../support/answers.ts'
import { nextAddress } from '../support/called-host.ts'
import { call } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken, sharedHost, startSharedUpstream } from '../support/host.ts'
import { type IssuerServer, startIssuer } from '../support/issuer.ts'
import { upstreamPorts } from '../support/shared-hosts.ts'
import type { UpstreamServer } from '../support/upstream.ts'

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
    ['as a password', secret => `Basic ${btoa(`user:${secret}`)}`],
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
})

describe('the card of an internal agent', () => {
  it('is served for a JWT of an issuer of the card, with and without extended cards', async () => {
    const jwt = await issuer.sign({ aud: 'weather-api' })
    for (const id of ['confidential-hidden', 'confidential-hidden-more']) {
      const { status, headers } = await getCard(id, { Authorization: `Bearer ${jwt}` })
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    }
  })
})
