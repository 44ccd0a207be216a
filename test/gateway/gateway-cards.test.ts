import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { dialectNames } from '../../src/card/model/constants.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, startCalledHost } from '../support/called-host.ts'
import { answer, call, message, message0 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { reply } from '../support/upstream.ts'

const base = { name: 'Hidden Weather', description: 'Tells the weather of any place' }

/** A card in each dialect that says where its agent is in every way that the dialect has. */
const cards = (origin: string): Record<string, JsonObject> => ({
  '1-0': agentCard(origin, {
    supportedInterfaces: [
      { url: `${origin}/one`, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: 'north' },
      { url: `${origin}/rest`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0', tenant: 'a/b' },
      { url: `${origin}/grpc`, protocolBinding: 'GRPC', protocolVersion: '1.0' },
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
const receipts: Record<string, JsonObject> = {}
beforeAll(async () => {
  called = await startCalledHost()
  for (const [id, card] of Object.entries(cards(called.agent.origin)))
    receipts[id] = await called.register(id, {
      card,
      route: 'gateway',
      ...(id === 'upstream-url' && { upstream: { url: `${called.agent.origin}/up` } }),
      extended: { description: 'More of it for those who may' },
      tiers: { gold: { description: 'All of it' } },
    })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(reply(200, { 'Content-Type': 'application/json' }, JSON.stringify(answer))))

/** Where the agent is, in whatever URL: its port is nobody else's; and the address that `upstream.url` replaces. */
const whereabouts = () => [new URL(called.agent.origin).host, 'elsewhere.example']

/** Every string of a value, names of members included. */
const strings = (value: Json): string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => [name, ...strings(each as Json)])
}

const told = ({ headers, body }: Received) =>
  [...strings(body), ...[...headers].flat()].filter(text => whereabouts().some(where => text.includes(where)))

/** A document of an agent: its path, and whether it takes a token. */
const documents = (id: string) =>
  [
    `/agents/${id}`,
    `/agents/${id}/.well-known/agent-card.json`,
    `/agents/${id}/.well-known/agent.json`,
    ...dialectNames.map(name => `/agents/${id}?dialect=${name}`),
  ].flatMap(path => [
    { path, token: undefined },
    { path, token },
  ])

describe('of an agent behind the gateway', () => {
  it.each(ids)('no document says where it is, public or extended, in any dialect: %s', async id => {
    for (const { path, token } of documents(id)) {
      const came = await called.send(path, { method: 'GET', token })
      expect([path, came.status, told(came)]).toEqual([path, 200, []])
    }
    for (const method of [
      'GetExtendedAgentCard',
      'agent/getAuthenticatedExtendedCard',
      'agent/extendedCard',
      'agent/authenticatedExtendedCard',
    ]) {
      const came = await called.send(`/agents/${id}/a2a`, { token, body: call(method, {}) })
      expect([method, strings(came.body).includes('All of it'), told(came)]).toEqual([method, true, []])
    }
    for (const path of ['extendedAgentCard', 'v1/card']) {
      const came = await called.send(`/agents/${id}/a2a/${path}`, { method: 'GET', token })
      expect([path, strings(came.body).includes('All of it'), told(came)]).toEqual([path, true, []])
    }
  })

  it('no receipt and no list does', async () => {
    for (const id of ids)
      expect(strings(receipts[id] ?? {}).filter(text => whereabouts().some(where => text.includes(where)))).toEqual([])
    for (const path of ['/agents', '/agents?limit=1'])
      for (const reader of [undefined, token])
        expect(told(await called.send(path, { method: 'GET', token: reader }))).toEqual([])
  })

  it.each<[string, () => void]>([
    [
      'answers something else',
      () => called.agent.respond(reply(200, { 'Content-Type': 'text/html' }, 'at http://127.0.0.1')),
    ],
    ['redirects', () => called.agent.respond(reply(307, { Location: `${called.agent.origin}/elsewhere` }, ''))],
    ['hangs up', () => called.agent.respond(response => void response.destroy())],
    [
      'says where it is in headers',
      () => {
        const where = called.agent.origin
        const headers = {
          'Content-Type': 'application/json',
          Location: where,
          'Content-Location': where,
          Link: `<${where}>`,
          Server: where,
          Via: where,
          Refresh: where,
        }
        called.agent.respond(reply(200, headers, JSON.stringify(answer)))
      },
    ],
    ['wants credentials', () => called.agent.respond(reply(401, { 'Content-Type': 'text/html' }, called.agent.origin))],
  ])('no error does where the agent %s', async (_, prepare) => {
    prepare()
    for (const body of [
      call(),
      call('message/send', message0()),
      call('NoSuchMethod'),
      call('ListTasks', {}),
      call('message/stream', message0()),
    ])
      expect(told(await called.send('/agents/1-0/a2a', { body }))).toEqual([])
    for (const path of ['message:send', 'message:stream', 'message:shout', 'v1/message:send'])
      expect(told(await called.send(`/agents/1-0/a2a/${path}`, { body: message() }))).toEqual([])
  })
})

type Interface = { url: string; binding: string; version: string }

/** The interfaces that a document names, by its own rules. */
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

/** Sends a message by an interface, as its binding and version say. */
const sendBy = ({ url, binding, version }: Interface): Promise<Received> => {
  const isOld = version.startsWith('0.')
  const rest = `${url}/${isOld ? 'v1/' : ''}message:send`
  const headers = { 'A2A-Version': isOld ? '0.3' : '1.0' }
  if (binding === 'HTTP+JSON') return called.send(rest, { headers, body: isOld ? message0() : message() })
  return called.send(url, { headers, body: isOld ? call('message/send', message0()) : call() })
}

describe('the tenant of an interface', () => {
  it.each([{}, { tenant: 'south' }])('is that of every call by it, whatever its caller says: %j', async more => {
    await called.send('/agents/1-0/a2a', { body: call('SendMessage', { ...message(), ...more }) })
    await called.send('/agents/1-0/a2a/message:send?tenant=south', { body: { ...message(), ...more } })
    expect([called.agent.requests[0]?.path, JSON.parse(called.agent.requests[0]?.body ?? '')]).toMatchObject([
      '/one',
      { params: { ...message(), tenant: 'north' } },
    ])
    expect([called.agent.requests[1]?.path, JSON.parse(called.agent.requests[1]?.body ?? '')]).toEqual([
      '/rest/a%2Fb/message:send',
      { ...message(), tenant: 'a/b' },
    ])
  })

  it('is no matter of a call by another', async () => {
    await called.send('/agents/1-0/a2a', { body: call('message/send', message0()) })
    expect(called.agent.requests.map(({ path, body }) => [path, body.includes('north')])).toEqual([['/nought', false]])
  })
})

describe('every interface that a card behind the gateway names', () => {
  it.each(ids)('answers: %s', async id => {
    for (const path of ['/.well-known/agent-card.json', '/.well-known/agent.json', '?dialect=1.0', '?dialect=0.3']) {
      const { body } = await called.send(`/agents/${id}${path}`, { method: 'GET' })
      const interfaces = interfacesOf(body as never)
      expect([path, interfaces.length]).not.toEqual([path, 0])
      for (const each of interfaces) {
        called.agent.requests.length = 0
        const { status, body } = await sendBy(each)
        expect([each, status, body, called.agent.requests.length]).toEqual([each, 200, answer, 1])
        expect(each.url).toBe(`${called.host.url.origin}/agents/${id}/a2a`)
      }
    }
  })

  it('is all that the agent speaks and this host does: no other binding, each once', async () => {
    const { body } = await called.send('/agents/1-0?dialect=1.0', { method: 'GET' })
    expect(interfacesOf(body as never).map(({ binding, version }) => `${binding} ${version}`)).toEqual([
      'JSONRPC 1.0',
      'HTTP+JSON 1.0',
      'JSONRPC 0.3',
    ])
  })
})
