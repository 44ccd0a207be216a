import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dialectNames } from '../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, answerTo, restAnswerTo } from '../support/answers.ts'
import { type CalledHost, type Received, startCalledHost } from '../support/called-host.ts'
import { agentResponse, call, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { reply } from '../support/upstream.ts'

const base = { name: 'Hidden Weather', description: 'Tells the weather of any place' }

/** A card in each dialect with the agent's URL in every field that the dialect has for it. */
const cards = (origin: string): Record<string, JsonObject> => ({
  '1-0': agentCard(origin, {
    supportedInterfaces: [
      { url: `${origin}/one`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'north' },
      { url: `${origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'a/b' },
      { url: origin.replace('http://', ''), protocolBinding: 'GRPC', protocolVersion: '1.0' },
      { url: `${origin}/nought`, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
  }),
  '0-3': {
    ...base,
    url: `${origin}/nought`,
    protocolVersion: '0.3.0',
    preferredTransport: 'HTTP+JSON',
    additionalInterfaces: [
      { url: `${origin}/nought`, transport: 'HTTP+JSON' },
      { url: `${origin}/rpc`, transport: 'JSONRPC' },
    ],
  },
  gopherhole: { ...base, url: origin },
  superx: {
    ...base,
    protocol: 'a2a',
    url: origin,
    additional_interfaces: [{ url: `${origin}/x`, transport: 'GRPC' }],
    agentCard: { url: `${origin}/.well-known/agent.json` },
  },
  shaman: { ...base, url: origin, supportUrl: 'https://help.example', interfaces: [{ url: origin, transport: 'MCP' }] },
  telex: { ...base, url: origin, supportedProtocols: ['a2a-v1'] },
  'upstream-url': { ...base, url: 'https://elsewhere.example/a2a' },
})
const ids = Object.keys(cards(''))

let called: CalledHost
const reports: Record<string, JsonObject> = {}
beforeAll(async () => {
  called = await startCalledHost()
  for (const [id, card] of Object.entries(cards(called.agent.origin)))
    reports[id] = await called.register(id, {
      card,
      route: 'gateway',
      ...(id === 'upstream-url' && { upstream: { url: `${called.agent.origin}/up` } }),
      extended: { description: 'The extended description' },
      tiers: { gold: { description: 'The description for gold' } },
    })
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

const findLeaks = ({ headers, body }: Received) =>
  [...listStrings(body), ...[...headers].flat()].filter(text => agentHosts().some(host => text.includes(host)))

/** Returns the documents of an agent, each with and without a token. */
const listDocuments = (id: string) =>
  [
    `/agents/${id}`,
    `/agents/${id}/.well-known/agent-card.json`,
    `/agents/${id}/.well-known/agent.json`,
    ...dialectNames.map(name => `/agents/${id}?dialect=${name}`),
  ].flatMap(path => [
    { path, token: undefined },
    { path, token },
  ])

describe("a gateway agent's address", () => {
  it.each(ids)('occurs in no public or extended document in any dialect: %s', async id => {
    for (const { path, token } of listDocuments(id)) {
      const response = await called.send(path, { method: 'GET', token })
      expect([path, response.status, findLeaks(response)]).toEqual([path, 200, []])
    }
    for (const method of [
      'GetExtendedAgentCard',
      'agent/getAuthenticatedExtendedCard',
      'agent/extendedCard',
      'agent/authenticatedExtendedCard',
    ]) {
      const response = await called.send(`/agents/${id}/a2a`, { token, body: call(method, {}) })
      expect([method, listStrings(response.body).includes('The description for gold'), findLeaks(response)]).toEqual([
        method,
        true,
        [],
      ])
    }
    for (const path of ['extendedAgentCard', 'v1/card']) {
      const response = await called.send(`/agents/${id}/a2a/${path}`, { method: 'GET', token })
      expect([path, listStrings(response.body).includes('The description for gold'), findLeaks(response)]).toEqual([
        path,
        true,
        [],
      ])
    }
  })

  it('occurs in no registration report and no list', async () => {
    for (const id of ids)
      expect(listStrings(reports[id] ?? {}).filter(text => agentHosts().some(host => text.includes(host)))).toEqual([])
    for (const path of ['/agents', '/agents?limit=1'])
      for (const reader of [undefined, token])
        expect(findLeaks(await called.send(path, { method: 'GET', token: reader }))).toEqual([])
  })

  it.each<[string, () => void]>([
    [
      'responds with HTML',
      () => called.agent.respond(reply(200, { 'Content-Type': 'text/html' }, 'at http://127.0.0.1')),
    ],
    ['redirects', () => called.agent.respond(reply(307, { Location: `${called.agent.origin}/elsewhere` }, ''))],
    ['closes the connection', () => called.agent.respond(response => void response.destroy())],
    [
      'sends its address in headers',
      () => {
        const host = called.agent.origin
        const headers = {
          'Content-Type': 'application/json',
          Location: host,
          'Content-Location': host,
          Link: `<${host}>`,
          Server: host,
          Via: host,
          Refresh: host,
        }
        called.agent.respond(reply(200, headers, JSON.stringify(agentResponse)))
      },
    ],
    [
      'requires credentials',
      () => called.agent.respond(reply(401, { 'Content-Type': 'text/html' }, called.agent.origin)),
    ],
  ])('occurs in no error if the agent %s', async (_, prepare) => {
    prepare()
    for (const body of [
      call(),
      call('message/send', messageV03()),
      call('NoSuchMethod'),
      call('ListTasks', {}),
      call('message/stream', messageV03()),
    ])
      expect(findLeaks(await called.send('/agents/1-0/a2a', { body }))).toEqual([])
    for (const path of ['message:send', 'message:stream', 'message:shout', 'v1/message:send'])
      expect(findLeaks(await called.send(`/agents/1-0/a2a/${path}`, { body: message() }))).toEqual([])
  })
})

type Interface = { url: string; binding: string; version: string }

/** Returns the interfaces that a document declares in the form of its version. */
const interfacesOf = (card: {
  url?: string
  preferredTransport?: string
  protocolVersion?: string
  supportedInterfaces?: { url: string; protocolBinding: string; protocolVersion: string }[]
  additionalInterfaces?: { url: string; transport: string }[]
}): Interface[] => {
  const version = card.protocolVersion ?? '0.3'
  return [
    ...(card.supportedInterfaces ?? []).map(({ url, protocolBinding, protocolVersion }) => ({
      url,
      binding: protocolBinding,
      version: protocolVersion,
    })),
    ...(card.url === undefined || card.preferredTransport === undefined
      ? []
      : [{ url: card.url, binding: card.preferredTransport, version }]),
    ...(card.additionalInterfaces ?? []).map(({ url, transport }) => ({ url, binding: transport, version })),
  ]
}

/** Sends a message to an interface in the form of its binding and version. */
const sendBy = ({ url, binding, version }: Interface): Promise<Received> => {
  const isV03 = version.startsWith('0.')
  const rest = `${url}/${isV03 ? 'v1/' : ''}message:send`
  const headers = { 'A2A-Version': isV03 ? '0.3' : '1.0' }
  if (binding === 'HTTP+JSON') return called.send(rest, { headers, body: isV03 ? messageV03() : message() })
  return called.send(url, { headers, body: isV03 ? call('message/send', messageV03()) : call() })
}

const answerBy = ({ binding, version }: Interface): Json => {
  const isV03 = version.startsWith('0.')
  return binding === 'HTTP+JSON'
    ? restAnswerTo('POST', `${isV03 ? 'v1/' : ''}message:send`)
    : answerTo(isV03 ? call('message/send') : call())
}

describe('the tenant of an interface', () => {
  it.each([{}, { tenant: 'south' }])('replaces the tenant of the caller: %j', async params => {
    await called.send('/agents/1-0/a2a', { body: call('SendMessage', { ...message(), ...params }) })
    await called.send('/agents/1-0/a2a/message:send?tenant=south', { body: { ...message(), ...params } })
    expect([called.agent.requests[0]?.path, JSON.parse(called.agent.requests[0]?.body ?? '')]).toMatchObject([
      '/one',
      { params: { ...message(), tenant: 'north' } },
    ])
    expect([called.agent.requests[1]?.path, JSON.parse(called.agent.requests[1]?.body ?? '')]).toEqual([
      '/rest/a%2Fb/message:send',
      { ...message(), tenant: 'a/b' },
    ])
  })

  it('is not sent to another interface', async () => {
    await called.send('/agents/1-0/a2a', { body: call('message/send', messageV03()) })
    expect(called.agent.requests.map(({ path, body }) => [path, body.includes('north')])).toEqual([['/nought', false]])
  })
})

describe('every interface in a gateway card', () => {
  it.each(ids)('responds: %s', async id => {
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json', '?dialect=1.0', '?dialect=0.3']) {
      const { body } = await called.send(`/agents/${id}${path}`, { method: 'GET' })
      const interfaces = interfacesOf(body as never)
      expect([path, interfaces.length]).not.toEqual([path, 0])
      for (const each of interfaces) {
        called.agent.requests.length = 0
        const { status, body } = await sendBy(each)
        expect([each, status, body, called.agent.requests.length]).toEqual([each, 200, answerBy(each), 1])
        expect(each.url).toBe(`${called.host.url.origin}/agents/${id}/a2a`)
      }
    }
  })

  it('has a binding that this host supports, and occurs once', async () => {
    const { body } = await called.send('/agents/1-0?dialect=1.0', { method: 'GET' })
    expect(interfacesOf(body as never).map(({ binding, version }) => `${binding} ${version}`)).toEqual([
      'JSONRPC 1.0',
      'HTTP+JSON 1.0',
      'JSONRPC 0.3',
      'HTTP+JSON 0.3',
    ])
  })
})
