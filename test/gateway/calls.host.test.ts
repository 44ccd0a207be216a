import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerCalls, restAnswerTo } from '../support/answers.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'

let called: CalledHost
let reader: string
beforeAll(async () => {
  called = await startCalledHost()
  const { origin } = called.agent
  await called.register('weather', { card: agentCard(origin), route: 'gateway', hosts: ['*'] })
  await called.register('tides', { card: agentCard(origin, { name: 'Tide Tables' }), hosts: ['tides.example.com'] })
  await called.register('hidden', { card: agentCard(origin, { name: 'Hush' }), visibility: 'internal' })
  await called.register('secret-host', {
    card: agentCard(origin),
    visibility: 'internal',
    hosts: ['internal.example.com'],
  })
  await called.register('closed', { card: agentCard(origin), route: 'closed' })
  await called.register('only-rpc', {
    card: agentCard(origin, {
      supportedInterfaces: [{ url: `${origin}/rpc-1`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    }),
  })
  reader = (await called.issue({ scopes: ['read'], agents: ['hidden'] })).token
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

/** Returns method and path of each request that the agent received. */
const upstreamRequests = () => called.agent.requests.map(({ method, path }) => `${method} ${path}`)

describe('a JSON-RPC call', () => {
  it.each<[string, string, object]>([
    ['POST /agents/{id}/a2a', '/agents/weather/a2a', {}],
    ['POST /agents/{id}', '/agents/weather', {}],
    ['POST /a2a', '/a2a', {}],
    ['POST /a2a with an empty tenant', '/a2a', { tenant: '' }],
    ['POST /a2a with a tenant', 'http://tides.example.com/a2a', { tenant: 'weather' }],
    ['POST /a2a/v1 with the id as agentName', '/a2a/v1', { agentName: 'weather' }],
    ['POST /a2a/v1 with the id in another case', '/a2a/v1', { agentName: 'WEATHER' }],
    ['POST /a2a/v1 with the name', '/a2a/v1', { agentName: 'Weather' }],
    ['POST /a2a/v1 with the name in another case', '/a2a/v1', { agentName: 'wEAtHER' }],
    ['a path with a query', '/agents/weather/a2a?a=b', {}],
  ])('to %s is forwarded, and returns the response of the agent', async (_, path, params) => {
    const { status, body, headers } = await called.send(path, { body: call('SendMessage', message({ ...params })) })
    expect([status, body, headers.get('cache-control'), headers.get('content-type')]).toEqual([
      200,
      agentResponse,
      'no-store',
      'application/json',
    ])
    expect(upstreamRequests()).toEqual(['POST /rpc-1'])
    // The parameter that selects the agent here is not forwarded.
    expect(JSON.parse(called.agent.requests[0]?.body ?? '')).toEqual(call('SendMessage', message()))
  })

  it.each([['http://tides.example.com/a2a'], ['http://tides.example.com./a2a']])(
    'to %s goes to the agent of the host name',
    async path => {
      await called.register('tides', {
        card: agentCard(called.agent.origin, {
          name: 'Tide Tables',
          supportedInterfaces: [
            { url: `${called.agent.origin}/tides`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
          ],
        }),
        hosts: ['tides.example.com'],
      })
      expect((await called.send(path, { body: call() })).status).toBe(200)
      expect(upstreamRequests()).toEqual(['POST /tides'])
    },
  )

  it('finds an agent by a name of two words', async () => {
    const { status } = await called.send('/a2a/v1', {
      body: call('SendMessage', message({ agentName: 'tide TABLES' })),
    })
    expect([status, upstreamRequests().length]).toEqual([200, 1])
  })

  it.each([
    ['missing', {}],
    ['empty', { agentName: '' }],
    ['a number', { agentName: 7 }],
    ['null', { agentName: null }],
    ['a list', { agentName: ['weather'] }],
  ])('to /a2a/v1 is invalid if its agentName is %s', async (_, params) => {
    const { status, body } = await called.send('/a2a/v1', { body: call('SendMessage', message(params)) })
    expect([status, body, upstreamRequests()]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 7,
        error: expect.objectContaining({ code: -32602, message: expect.stringContaining('`agentName`') }),
      },
      [],
    ])
    expect(JSON.stringify(body)).toContain('"field":"agentName"')
  })

  it('goes to the endpoint of its version, and declares that version', async () => {
    await called.send('/agents/weather/a2a', { body: call('message/send', messageV03()) })
    await called.send('/agents/weather/a2a', {
      body: call('message/send', messageV03()),
      headers: { 'A2A-Version': '0.3' },
    })
    await called.send('/agents/weather/a2a', { body: call(), headers: { 'A2A-Version': '1.0' } })
    expect(called.agent.requests.map(({ path, headers }) => [path, headers['a2a-version']])).toEqual([
      ['/rpc-0', '0.3'],
      ['/rpc-0', '0.3'],
      ['/rpc-1', '1.0'],
    ])
  })

  it.each([
    ['/agents/nobody/a2a', {}, 'nobody'],
    ['/agents/nobody', {}, 'nobody'],
    ['/agents/WEATHER/a2a', {}, 'WEATHER'],
    ['/agents/%77eather/a2a', {}, '%77eather'],
    ['/a2a', { tenant: 'nobody' }, 'nobody'],
    ['/a2a', { tenant: '../weather' }, '../weather'],
    ['/a2a/v1', { agentName: 'nobody' }, 'nobody'],
    ['/a2a/v1', { agentName: 'x'.repeat(5000) }, `${'x'.repeat(200)}…`],
    ['/a2a/v1', { agentName: "' OR 1=1 --" }, "' OR 1=1 --"],
  ])('to %s with %j returns an error for the unknown agent', async (path, params, agent) => {
    const { status, body } = await called.send(path, { body: call('SendMessage', message(params)) })
    expect([status, body, upstreamRequests()]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 7,
        error: {
          code: -32602,
          message: `There is no agent "${agent}" here. GET /agents lists the agents of this host.`,
          data: [expect.objectContaining({ reason: 'AGENT_NOT_FOUND', metadata: { agent } })],
        },
      },
      [],
    ])
  })
})

describe('an internal agent', () => {
  /** Name, path to an internal agent, path to an agent that does not exist, parameters. Responses to both must be the same. */
  const addresses: [string, string, string, object][] = [
    ['id', '/agents/hidden/a2a', '/agents/hidxen/a2a', {}],
    ['id alone', '/agents/hidden', '/agents/hidxen', {}],
    ['tenant', '/a2a', '/a2a', { tenant: 'hidden' }],
    ['agentName, the id', '/a2a/v1', '/a2a/v1', { agentName: 'hidden' }],
    ['agentName, the id in another case', '/a2a/v1', '/a2a/v1', { agentName: 'HIDDEN' }],
    ['agentName, the name', '/a2a/v1', '/a2a/v1', { agentName: 'Hush' }],
    ['agentName, the name in another case', '/a2a/v1', '/a2a/v1', { agentName: 'hUSh' }],
    ['HTTP+JSON', '/agents/hidden/a2a/message:send', '/agents/hidxen/a2a/message:send', {}],
    ['HTTP+JSON, an unknown path', '/agents/hidden/a2a/nothing', '/agents/hidxen/a2a/nothing', {}],
    ['HTTP+JSON of 0.3', '/agents/hidden/a2a/v1/message:send', '/agents/hidxen/a2a/v1/message:send', {}],
  ]
  const maskId = (text: string) => text.replaceAll(/hidxen/g, 'hidden')
  const tokens: [string, () => Promise<Record<string, string>>][] = [
    ['no token', async () => ({})],
    [
      'a token for other agents',
      async () => bearer((await called.issue({ scopes: ['read'], agents: ['tides'] })).token),
    ],
    ['a token without the scope read', async () => bearer((await called.issue({ scopes: ['write'] })).token)],
    ['an unknown token', async () => bearer(`cc_${'a'.repeat(12)}_${'a'.repeat(32)}`)],
    ['a malformed token', async () => bearer('cc_oops')],
    ['foreign credentials', async () => ({ Authorization: 'Basic aGk6aG8=' })],
    ['two tokens', async () => bearer('one, Bearer two')],
  ]
  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

  describe.each(tokens)('called with %s', (_, credentials) => {
    it.each(addresses)('by %s looks like an unknown agent', async (_, path, unknownPath, params) => {
      const headers = await credentials()
      const fetchMasked = async (path: string, params: object) => {
        const {
          status,
          headers: responseHeaders,
          text,
        } = await called.send(path, { headers, body: call('SendMessage', message({ ...params })) })
        return maskId(JSON.stringify([status, [...responseHeaders].filter(([name]) => name !== 'date'), text]))
      }
      const unknownParams = JSON.parse(
        JSON.stringify(params)
          .replace(/hidden/, 'hidxen')
          .replace(/HIDDEN/, 'HIDXEN')
          .replace(/hush/i, 'Nobo'),
      )
      const [hidden, unknown] = [await fetchMasked(path, params), await fetchMasked(unknownPath, unknownParams)]
      const maskNames = (text: string) => text.replaceAll(/hidden|hidxen|hush|nobo/gi, 'NAME')
      expect(maskNames(hidden)).toBe(maskNames(unknown))
      if (!/hush/i.test(JSON.stringify(params))) expect(hidden).not.toMatch(/hush/i)
      expect(upstreamRequests()).toEqual([])
    })
  })

  it.each([
    ['SendMessage', message()],
    ['NoSuchMethod', message()],
    ['GetExtendedAgentCard', {}],
    ['SendMessage', message({ configuration: { acceptedOutputModes: ['image/png'] } })],
  ])('looks like an unknown agent to every method: %s %#', async (method, params) => {
    const { status, body } = await called.send('/agents/hidden/a2a', { body: call(method, params) })
    expect([status, codeOf(body), upstreamRequests()]).toEqual([200, -32602, []])
  })

  it('at a host name of its own does not reveal its id', async () => {
    const { status, text } = await called.send('http://internal.example.com/a2a', { body: call() })
    expect([status, text]).toEqual([200, expect.not.stringContaining('secret-host')])
    expect(text).toContain('"No agent is configured for this hostname. GET /agents lists the agents of this host."')
    expect(upstreamRequests()).toEqual([])
  })

  it.each(addresses.filter(([name]) => !/unknown/.test(name)))(
    'by %s accepts calls with a token for it',
    async (name, path, _, params) => {
      for (const token of [reader, adminToken]) {
        called.agent.requests.length = 0
        const body =
          name === 'HTTP+JSON'
            ? message()
            : /0\.3/.test(name)
              ? messageV03()
              : call('SendMessage', message({ ...params }))
        expect((await called.send(path, { token, body })).status).toBe(200)
        expect(called.agent.requests.map(({ headers }) => headers.authorization)).toEqual([undefined])
      }
    },
  )
})

describe('a call over HTTP+JSON', () => {
  it.each<[string, string, object | undefined, string]>([
    ['POST', 'message:send', message(), 'POST /rest-1/message:send'],
    ['GET', 'tasks/t-1', undefined, 'GET /rest-1/tasks/t-1'],
    ['GET', 'tasks/t-1?historyLength=2', undefined, 'GET /rest-1/tasks/t-1?historyLength=2'],
    ['GET', 'tasks?pageSize=3&A2A-Version=1.0', undefined, 'GET /rest-1/tasks?pageSize=3'],
    ['POST', 'tasks/t-1:cancel', {}, 'POST /rest-1/tasks/t-1:cancel'],
    ['POST', 'tasks/t-1:cancel', undefined, 'POST /rest-1/tasks/t-1:cancel'],
    ['POST', 'v1/message:send', messageV03(), 'POST /rest-0/v1/message:send'],
    ['GET', 'v1/tasks/t-1', undefined, 'GET /rest-0/v1/tasks/t-1'],
    ['POST', 'v1/tasks/t-1:cancel', {}, 'POST /rest-0/v1/tasks/t-1:cancel'],
    ['POST', 'message%3Asend', message(), 'POST /rest-1/message:send'],
    ['POST', 'v1/message%3asend/', messageV03(), 'POST /rest-0/v1/message:send'],
    ['POST', 'tasks/t-1%3Acancel', {}, 'POST /rest-1/tasks/t-1:cancel'],
    ['GET', 'tasks/t-1/?historyLength=2', undefined, 'GET /rest-1/tasks/t-1?historyLength=2'],
    ['GET', 'tasks/', undefined, 'GET /rest-1/tasks'],
    ['GET', 'tasks/projects%2F7%2Ft-1', undefined, 'GET /rest-1/tasks/projects%2F7%2Ft-1'],
    ['POST', 'v1/tasks/projects%2Ft-1:cancel', {}, 'POST /rest-0/v1/tasks/projects%2Ft-1:cancel'],
  ])('%s %s is forwarded', async (method, path, body, expected) => {
    const { status, body: responseBody } = await called.send(`/agents/weather/a2a/${path}`, {
      method,
      ...(body && { body: body as never }),
    })
    const [upstreamMethod = '', upstreamPath = ''] = expected.split(/[ ?]/)
    expect([status, responseBody]).toEqual([
      200,
      restAnswerTo(upstreamMethod, upstreamPath.replace(/^\/rest-\d\//, '')),
    ])
    expect(upstreamRequests()).toEqual([expected])
  })

  it.each(['tenant[]', 'tenant[0]', 'Tenant', 'tenant.id', '%20tenant', 'tenant%00', 'agentName[]', 'A2A-Version[]'])(
    'is rejected with another spelling of a routing parameter: ?%s=',
    async name => {
      const get = await called.send(`/agents/weather/a2a/tasks/t-1?${name}=other`, { method: 'GET' })
      const post = await called.send(`/agents/weather/a2a/message:send?${name}=other`, { body: message() })
      expect([get.status, post.status, upstreamRequests()]).toEqual([400, 400, []])
      expect(get.text).toContain('in A2A')
    },
  )

  it('is forwarded to an agent whose id is also a path segment', async () => {
    await called.register('a2a', { card: agentCard(called.agent.origin) })
    const { status } = await called.send('/agents/a2a/a2a/message:send', { body: message() })
    expect([status, upstreamRequests()]).toEqual([200, ['POST /rest-1/message:send']])
  })

  it.each<[string, string, number, object]>([
    ['POST', 'message:shout', 404, { error: expect.objectContaining({ code: 404, status: 'NOT_FOUND' }) }],
    ['GET', 'tasks/t-1/more', 404, { error: expect.objectContaining({ code: 404, status: 'NOT_FOUND' }) }],
    ['GET', 'v1/tasks', 404, expect.objectContaining({ code: -32601 })],
    ['GET', 'tasks/..%2f..%2fadmin', 404, { error: expect.objectContaining({ code: 404 }) }],
    ['GET', 'tasks/%E0%A4%A', 404, { error: expect.objectContaining({ code: 404 }) }],
  ])('%s %s returns 404 in the form of its version', async (method, path, status, body) => {
    const response = await called.send(`/agents/weather/a2a/${path}`, {
      method,
      ...(method === 'POST' && { body: {} }),
    })
    expect([response.status, response.body, upstreamRequests()]).toEqual([status, body, []])
  })

  it.each([
    ['GET', 'message:send', 'POST'],
    ['POST', 'tasks', 'GET'],
    ['DELETE', 'tasks/t-1', 'GET'],
    ['POST', 'v1/card', 'GET'],
    ['POST', 'extendedAgentCard', 'GET'],
  ])('%s %s returns 405 with the allowed methods', async (method, path, allow) => {
    const { status, headers } = await called.send(`/agents/weather/a2a/${path}`, { method })
    expect([status, headers.get('allow'), upstreamRequests()]).toEqual([405, allow, []])
  })

  it.each([
    ['1.0', 'v1/message:send'],
    ['0.3', 'message:send'],
  ])('in A2A %s to the path %s of the other version is rejected with the right path', async (version, path) => {
    const { status, text } = await called.send(`/agents/weather/a2a/${path}`, {
      body: message(),
      headers: { 'A2A-Version': version },
    })
    expect([status, text, upstreamRequests()]).toEqual([404, expect.stringContaining('does not exist in A2A'), []])
  })

  it('is rejected for an agent that supports only JSON-RPC', async () => {
    const { status, body } = await called.send('/agents/only-rpc/a2a/message:send', { body: message() })
    expect([status, body, upstreamRequests()]).toEqual([
      400,
      {
        error: expect.objectContaining({
          code: 400,
          status: 'FAILED_PRECONDITION',
          details: [expect.objectContaining({ reason: 'VERSION_NOT_SUPPORTED' })],
        }),
      },
      [],
    ])
  })

  it('to an unknown agent returns 404 in the form of its version', async () => {
    const v1 = await called.send('/agents/nobody/a2a/message:send', { body: message() })
    const v03 = await called.send('/agents/nobody/a2a/v1/message:send', { body: messageV03() })
    expect([v1.status, v1.body, v03.status, v03.body]).toEqual([
      404,
      { error: expect.objectContaining({ code: 404, status: 'NOT_FOUND' }) },
      404,
      expect.objectContaining({ code: -32602 }),
    ])
  })
})

describe('other methods and paths', () => {
  it.each([
    ['GET', '/agents/weather/a2a', 405, 'POST, OPTIONS'],
    ['PUT', '/agents/weather/a2a', 405, 'POST, OPTIONS'],
    ['GET', '/a2a', 405, 'POST, OPTIONS'],
    ['DELETE', '/a2a/v1', 405, 'POST, OPTIONS'],
    ['PATCH', '/agents/weather/a2a/message:send', 405, 'GET, HEAD, POST, DELETE, OPTIONS'],
    ['OPTIONS', '/agents/weather/a2a', 204, 'POST, OPTIONS'],
    ['OPTIONS', '/agents/weather', 204, 'GET, HEAD, POST, PUT, DELETE, OPTIONS'],
    ['OPTIONS', '/agents/weather/a2a/message:send', 204, 'GET, HEAD, POST, DELETE, OPTIONS'],
    ['OPTIONS', '/a2a', 204, 'POST, OPTIONS'],
    ['OPTIONS', '/a2a/v1', 204, 'POST, OPTIONS'],
  ])('%s %s returns %d', async (method, path, status, allow) => {
    const { status: actualStatus, headers } = await called.send(path, { method })
    const allows = headers.get('allow')?.split(', ').sort()
    expect([actualStatus, allows, headers.get('access-control-allow-origin')]).toEqual([
      status,
      allow.split(', ').sort(),
      '*',
    ])
    expect(upstreamRequests()).toEqual([])
  })

  it('allow every header of a call in CORS', async () => {
    const { headers } = await called.send('/agents/weather/a2a', { method: 'OPTIONS' })
    const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? []
    // `*` allows every header except Authorization.
    const forbidden = ['content-type', 'a2a-version', 'a2a-extensions', 'x-a2a-extensions', 'x-weather-key'].filter(
      name => !allowed.includes(name) && !allowed.includes('*'),
    )
    expect([allowed.includes('authorization'), forbidden]).toEqual([true, []])
  })

  it.each(['/a2a/v2', '/agents/weather/rpc', '/agents/weather/a2a/a2a'])('POST %s returns 404', async path => {
    const { status } = await called.send(path, { body: call() })
    expect([status, upstreamRequests()]).toEqual([404, []])
  })
})

describe('route', () => {
  it('direct accepts calls, although the card has the URLs of the agent', async () => {
    const { status } = await called.send('/agents/tides/a2a', { body: call() })
    expect([status, upstreamRequests().length]).toEqual([200, 1])
  })

  it('closed rejects calls in every version and binding', async () => {
    const { origin } = called.agent
    const codes = [
      await called.send('/agents/closed/a2a', { body: call() }),
      await called.send('/agents/closed/a2a', { body: call('message/send', messageV03()) }),
      await called.send('/agents/closed/a2a/message:send', { body: message() }),
      await called.send('/agents/closed/a2a/v1/message:send', { body: messageV03() }),
    ].map(({ status, body, text }) => [status, codeOf(body), text.includes('only publishes'), text.includes(origin)])
    expect(codes).toEqual([
      [200, -32004, true, false],
      [200, -32004, true, false],
      [400, 400, true, false],
      [400, -32004, true, false],
    ])
    expect(upstreamRequests()).toEqual([])
  })
})
