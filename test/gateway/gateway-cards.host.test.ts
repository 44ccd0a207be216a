import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dialectNames } from '../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { html, json, reply } from '../support/upstream.ts'

/** Cards with the URL of the agent. Those of each dialect: test/card/rewrite/serving.test.ts. */
const cards = (origin: string): Record<string, JsonObject> => ({
  '1-0': agentCard(origin, {
    supportedInterfaces: [
      { url: `${origin}/one`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'north' },
      { url: `${origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'a/b' },
      { url: `${origin}/nought`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
  }),
  'upstream-url': { name: 'Hidden Weather', description: 'Tells the weather', url: 'https://elsewhere.example/a2a' },
})
const ids = Object.keys(cards('')).map(name => `gateway-card-${name}`)

let called: CalledHost
const reports: JsonObject[] = []
beforeAll(async () => {
  called = await useSharedHost()
  for (const [name, card] of Object.entries(cards(called.agent.origin)))
    reports.push(
      await called.register(`gateway-card-${name}`, {
        ...{ card, route: 'gateway', extended: { description: 'The extended description' } },
        ...(name === 'upstream-url' && { upstream: { url: `${called.agent.origin}/up` } }),
        tiers: { gold: { description: 'The description for gold' } },
      }),
    )
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

/** The host of the agent, whose port no other server uses, and the host that `upstream.url` replaces. */
const agentHosts = () => [new URL(called.agent.origin).host, 'elsewhere.example']

/** Returns every string in a value, including member names. */
const listStrings = (value: Json): string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...listStrings(each as Json)])
}

const isLeak = (text: string) => agentHosts().some(host => text.includes(host))
const findLeaks = ({ headers, body }: Received) => [...listStrings(body), ...[...headers].flat()].filter(isLeak)

/** Paths of the public documents of an agent. */
const documents = [
  ...['', '/.well-known/agent-card.json', '/.well-known/agent.json'],
  ...dialectNames.map(name => `?dialect=${name}`),
]
const cardMethods = ['GetExtendedAgentCard', 'agent/getAuthenticatedExtendedCard']
const path = '/agents/gateway-card-1-0/a2a'

describe("a gateway agent's address", () => {
  it('occurs in no public or extended document in any dialect', async () => {
    for (const id of ids) {
      for (const document of documents)
        for (const reader of [undefined, token]) {
          const response = await called.send(`/agents/${id}${document}`, { method: 'GET', token: reader })
          expect([response.status, findLeaks(response)], id + document).toEqual([200, []])
        }
      for (const response of [
        ...cardMethods.map(method => called.send(`/agents/${id}/a2a`, { token, body: call(method, {}) })),
        ...['extendedAgentCard', 'v1/card'].map(card =>
          called.send(`/agents/${id}/a2a/${card}`, { method: 'GET', token }),
        ),
      ]) {
        expect(findLeaks(await response), id).toEqual([])
        expect(listStrings((await response).body), id).toContain('The description for gold')
      }
    }
  })

  it('occurs in no registration report and no list', async () => {
    expect(reports.flatMap(listStrings).filter(isLeak)).toEqual([])
    for (const reader of [undefined, token]) {
      // The agents of other tests come before and after the page.
      const page = `/agents?cursor=gateway-card&limit=${ids.length}`
      const response = await called.send(page, { method: 'GET', token: reader })
      const listed = (response.body as { agents: { id: string }[] }).agents.map(({ id }) => id)
      expect([listed, findLeaks(response)]).toEqual([ids.toSorted(), []])
    }
  })

  it('occurs in no error, whatever the agent does', async () => {
    const { origin } = called.agent
    const names = ['Location', 'Content-Location', 'Link', 'Server', 'Via', 'Refresh']
    for (const respond of [
      reply(307, { Location: `${origin}/elsewhere` }, ''),
      (response: ServerResponse) => void response.destroy(),
      reply(200, { ...json, ...Object.fromEntries(names.map(name => [name, origin])) }, JSON.stringify(agentResponse)),
      reply(401, html, origin),
    ]) {
      called.agent.respond(respond)
      for (const body of [call(), call('message/stream', messageV03())])
        expect(findLeaks(await called.send(path, { body }))).toEqual([])
      expect(findLeaks(await called.send(`${path}/message:send`, { body: message() }))).toEqual([])
    }
  })
})

it('replaces the tenant of the caller by that of the interface, which is not sent to another one', async () => {
  const params = message({ tenant: 'south' })
  await called.send(path, { body: call('SendMessage', params) })
  await called.send(`${path}/message:send?tenant=south`, { body: params })
  await called.send(path, { body: call('message/send', messageV03()) })
  const [overRpc, overRest, v03] = called.agent.requests.map(({ path, body }) => [path, JSON.parse(body)])
  expect(overRpc).toMatchObject(['/one', { params: message({ tenant: 'north' }) }])
  expect(overRest).toEqual(['/rest/a%2Fb/message:send', message({ tenant: 'a/b' })])
  expect(v03).toEqual(['/nought', call('message/send', messageV03())])
})
