import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls, restAnswerTo } from '../support/answers.ts'
import { type CalledHost, type Sent, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'

let called: CalledHost
let reader: string
beforeAll(async () => {
  called = await useSharedHost()
  const { origin } = called.agent
  const endpoint = (path: string) => ({ url: `${origin}/${path}`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' })
  const tides = agentCard(origin, { name: 'Tide Tables', supportedInterfaces: [endpoint('tides')] })
  for (const [id, manifest] of Object.entries<JsonObject>({
    'calls-rain': { card: agentCard(origin, { name: 'Calls Rain' }), route: 'gateway', hosts: ['calls.example.com'] },
    'calls-tides': { card: tides, hosts: ['tides.example.com'] },
    'calls-hidden': { card: agentCard(origin, { name: 'Calls Hush' }), visibility: 'internal' },
    'calls-secret-host': { card: agentCard(origin), visibility: 'internal', hosts: ['internal.example.com'] },
    'calls-closed': { card: agentCard(origin), route: 'closed' },
    // An id that is also a segment of its path.
    a2a: { card: agentCard(origin) },
  }))
    await called.register(id, manifest)
  reader = (await called.issue({ scopes: ['read'], agents: ['calls-hidden'] })).token
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

/** Returns method and path of each request that the agent received since the last time. */
const upstreamRequests = () => called.agent.requests.splice(0).map(({ method, path }) => `${method} ${path}`)
const rain = '/agents/calls-rain/a2a'
const root = 'http://calls.example.com/a2a'

describe('a JSON-RPC call', () => {
  it('is forwarded from every address, and returns the response of the agent', async () => {
    for (const [path, params] of [
      [rain, {}],
      ['/agents/calls-rain', {}],
      [root, {}],
      [root, { tenant: '' }],
      ['http://tides.example.com/a2a', { tenant: 'calls-rain' }],
      ['/a2a/v1', { agentName: 'calls-rain' }],
      ['/a2a/v1', { agentName: 'cALLS rAIN' }],
    ] as const) {
      const { status, body, headers } = await called.send(path, { body: call('SendMessage', message({ ...params })) })
      const [request] = called.agent.requests
      expect([status, body, headers.get('cache-control'), headers.get('content-type')], path).toEqual([
        ...[200, agentResponse, 'no-store', 'application/json'],
      ])
      // The parameter that selects the agent here is not forwarded.
      expect(JSON.parse(request?.body ?? ''), path).toEqual(call('SendMessage', message()))
      expect(upstreamRequests(), path).toEqual(['POST /rpc-1'])
    }
  })

  it('is invalid at /a2a/v1 without a name', async () => {
    for (const params of [{}, { agentName: '' }, { agentName: 7 }]) {
      const { status, body, text } = await called.send('/a2a/v1', { body: call('SendMessage', message(params)) })
      const error = expect.objectContaining({ code: -32602, message: expect.stringContaining('`agentName`') })
      expect([status, body], JSON.stringify(params)).toEqual([200, { jsonrpc: '2.0', id: 7, error }])
      expect(text).toContain('"field":"agentName"')
    }
    expect(upstreamRequests()).toEqual([])
  })

  it('goes to the endpoint of its version, and declares that version', async () => {
    const body = call('message/send', messageV03())
    await called.send(rain, { body })
    await called.send(rain, { body, headers: { 'A2A-Version': '0.3' } })
    await called.send(rain, { body: call(), headers: { 'A2A-Version': '1.0' } })
    expect(called.agent.requests.map(({ path, headers }) => `${path} ${headers['a2a-version']}`)).toEqual([
      ...['/rpc-0 0.3', '/rpc-0 0.3', '/rpc-1 1.0'],
    ])
  })

  it('to an unknown agent returns an error that names it', async () => {
    for (const [path, params, agent] of [
      ['/agents/nobody/a2a', {}, 'nobody'],
      ['/agents/%63alls-rain/a2a', {}, '%63alls-rain'],
      ['/a2a', { tenant: '../calls-rain' }, '../calls-rain'],
      ['/a2a/v1', { agentName: 'x'.repeat(5000) }, `${'x'.repeat(200)}…`],
    ] as const) {
      const { status, body } = await called.send(path, { body: call('SendMessage', message(params)) })
      const text = `There is no agent "${agent}" here. GET /agents lists the agents of this host.`
      const data = [expect.objectContaining({ reason: 'AGENT_NOT_FOUND', metadata: { agent } })]
      expect([status, body], agent).toEqual([
        200,
        { jsonrpc: '2.0', id: 7, error: { code: -32602, message: text, data } },
      ])
    }
    expect(upstreamRequests()).toEqual([])
  })
})

describe('an internal agent', () => {
  /** Path to an internal agent, parameters. With `hidxen` and `Nobo` in it, there is no such agent. */
  const addresses: [path: string, params: JsonObject][] = [
    ['/agents/calls-hidden/a2a', {}],
    ['/agents/calls-hidden', {}],
    ['/a2a', { tenant: 'calls-hidden' }],
    ['/a2a/v1', { agentName: 'calls-hidden' }],
    ['/a2a/v1', { agentName: 'calls hUSh' }],
    ['/agents/calls-hidden/a2a/message:send', {}],
    ['/agents/calls-hidden/a2a/nothing', {}],
    ['/agents/calls-hidden/a2a/v1/message:send', {}],
  ]
  const toUnknown = (text: string) =>
    text.replaceAll('hidden', 'hidxen').replaceAll('HIDDEN', 'HIDXEN').replaceAll(/hush/gi, 'Nobo')
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

  it('looks like an unknown agent, whatever the credentials', async () => {
    const [other, writer] = [{ scopes: ['read'], agents: ['calls-tides'] }, { scopes: ['write'] }].map(called.issue)
    const credentials: [string, Record<string, string>][] = [
      ['no token', {}],
      ['a token for other agents', bearer((await other)?.token ?? '')],
      ['a token without the scope read', bearer((await writer)?.token ?? '')],
      ['an unknown token', bearer(`cc_${'a'.repeat(12)}_${'a'.repeat(32)}`)],
    ]
    for (const [name, headers] of credentials)
      for (const [path, params] of addresses) {
        const sent = call('SendMessage', message(params))
        const [hidden = '', unknown] = await Promise.all(
          [sent, JSON.parse(toUnknown(JSON.stringify(sent)))].map(async (body, index) => {
            const response = await called.send(index === 0 ? path : toUnknown(path), { headers, body })
            return JSON.stringify([
              response.status,
              [...response.headers].filter(([key]) => key !== 'date'),
              response.text,
            ])
          }),
        )
        const mask = (text = '') => text.replaceAll(/hidden|hidxen|hush|nobo/gi, 'NAME')
        expect(mask(hidden), `${name}: ${path}`).toBe(mask(unknown))
        if (!/hush/i.test(JSON.stringify(params))) expect(hidden).not.toMatch(/hush/i)
      }
    expect(upstreamRequests()).toEqual([])
  })

  it('at a host name of its own does not reveal its id', async () => {
    const { status, text } = await called.send('http://internal.example.com/a2a', { body: call() })
    expect([status, text, upstreamRequests()]).toEqual([200, expect.not.stringContaining('calls-secret-host'), []])
    expect(text).toContain('"No agent is configured for this hostname. GET /agents lists the agents of this host."')
  })

  it('accepts calls with a token for it at every address', async () => {
    for (const [path, params] of addresses.filter(([path]) => !path.endsWith('nothing')))
      for (const token of [reader, adminToken]) {
        const overRest = path.includes('/v1/message') ? messageV03() : message()
        const body = path.includes('message') ? overRest : call('SendMessage', message(params))
        expect((await called.send(path, { token, body })).status, path).toBe(200)
        expect(called.agent.requests.splice(0).map(({ headers }) => headers.authorization)).toEqual([undefined])
      }
  })
})

describe('a call over HTTP+JSON', () => {
  const send = (method: string, path: string, body?: Sent['body']) =>
    called.send(`${rain}/${path}`, { method, ...(body !== undefined && { body }) })

  it('is forwarded', async () => {
    for (const [method, path, body, expected] of [
      ['POST', 'message:send', message(), '/rest-1/message:send'],
      ['GET', 'tasks?pageSize=3&A2A-Version=1.0', undefined, '/rest-1/tasks?pageSize=3'],
      ['POST', 'tasks/t-1:cancel', undefined, '/rest-1/tasks/t-1:cancel'],
      ['POST', 'v1/message:send', messageV03(), '/rest-0/v1/message:send'],
      ['POST', 'v1/message%3asend/', messageV03(), '/rest-0/v1/message:send'],
      ['GET', 'tasks/t-1/?historyLength=2', undefined, '/rest-1/tasks/t-1?historyLength=2'],
      ['POST', 'v1/tasks/projects%2Ft-1:cancel', {}, '/rest-0/v1/tasks/projects%2Ft-1:cancel'],
    ] as const) {
      const { status, body: answer } = await send(method, path, body)
      expect([status, upstreamRequests()], path).toEqual([200, [`${method} ${expected}`]])
      const [, operation = ''] = /^\/rest-\d\/([^?]*)/.exec(expected) ?? []
      expect(answer, path).toEqual(restAnswerTo(method, operation))
    }
  })

  it('is forwarded to an agent whose id is also a path segment', async () => {
    const { status } = await called.send('/agents/a2a/a2a/message:send', { body: message() })
    expect([status, upstreamRequests()]).toEqual([200, ['POST /rest-1/message:send']])
  })

  it('is refused at an unknown path or agent, in the form of its version', async () => {
    for (const [method, path, status, body, version = ''] of [
      ['POST', `${rain}/message:shout`, 404, { error: { code: 404, status: 'NOT_FOUND' } }],
      ['GET', `${rain}/v1/tasks`, 404, { code: -32601 }],
      ['GET', `${rain}/tasks/..%2f..%2fadmin`, 404, { error: { code: 404 } }],
      ['POST', `${rain}/message:send`, 404, expect.anything(), '0.3'],
      ['GET', `${rain}/tasks/t-1?tenant[]=other`, 400, { error: { code: 400 } }],
      ['POST', '/agents/nobody/a2a/message:send', 404, { error: { code: 404, status: 'NOT_FOUND' } }],
      ['POST', '/agents/nobody/a2a/v1/message:send', 404, { code: -32602 }],
    ] as const) {
      const sent = { method, headers: { 'A2A-Version': version }, ...(method === 'POST' && { body: message() }) }
      expect(await called.send(path, sent), path).toMatchObject({ status, body })
    }
    expect(upstreamRequests()).toEqual([])
  })
})

describe('other methods', () => {
  it('return 405, or 204 for OPTIONS, with the allowed methods', async () => {
    for (const [method, path, status, allow] of [
      ['GET', rain, 405, 'OPTIONS, POST'],
      ['GET', '/a2a', 405, 'OPTIONS, POST'],
      ['DELETE', '/a2a/v1', 405, 'OPTIONS, POST'],
      ['PATCH', `${rain}/message:send`, 405, 'DELETE, GET, HEAD, OPTIONS, POST'],
      ['OPTIONS', '/agents/calls-rain', 204, 'DELETE, GET, HEAD, OPTIONS, POST, PUT'],
    ] as const) {
      const response = await called.send(path, { method })
      const allows = response.headers.get('allow')?.split(', ').sort().join(', ')
      const origin = response.headers.get('access-control-allow-origin')
      expect([response.status, allows, origin], `${method} ${path}`).toEqual([status, allow, '*'])
    }
    expect(upstreamRequests()).toEqual([])
  })

  it('allow every header of a call in CORS', async () => {
    const { headers } = await called.send(rain, { method: 'OPTIONS' })
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? []
    // `*` allows every header except Authorization.
    const names = ['content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'x-weather-key']
    const forbidden = names.filter(name => !allowed.includes(name) && !allowed.includes('*'))
    expect([allowed.includes('authorization'), forbidden]).toEqual([true, []])
  })
})

it('forwards calls by the host name with the route direct, and none with closed', async () => {
  for (const path of ['/agents/calls-tides/a2a', 'http://tides.example.com./a2a'])
    expect((await called.send(path, { body: call() })).status, path).toBe(200)
  expect(upstreamRequests()).toEqual(['POST /tides', 'POST /tides'])
  for (const [path, body, expected] of [
    ['', call(), [200, -32004]],
    ['/v1/message:send', messageV03(), [400, -32004]],
  ] as const) {
    const { status, body: answer, text } = await called.send(`/agents/calls-closed/a2a${path}`, { body })
    expect([status, codeOf(answer)], path).toEqual(expected)
    expect([text.includes('only publishes'), text.includes(called.agent.origin)], path).toEqual([true, false])
  }
  expect(upstreamRequests()).toEqual([])
})
