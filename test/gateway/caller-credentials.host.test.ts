import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, restAnswerTo } from '../support/answers.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { json } from '../support/upstream.ts'

const secret = 'the-hosts-own-secret'
const schemes: JsonObject = {
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  },
}
const secured: JsonObject = { ...schemes, securityRequirements: [{ schemes: { bearer: { list: [] } } }] }

let called: CalledHost
const tokens: Record<string, string> = {}
beforeAll(async () => {
  called = await startCalledHost({ AGENT_TOKEN: secret, EMPTY_TOKEN: '' })
  const { origin } = called.agent
  const upstream = { secret: 'AGENT_TOKEN' }
  await called.register('open', { card: agentCard(origin, schemes) })
  await called.register('secret', { card: agentCard(origin, schemes), callers: 'anyone', upstream })
  await called.register('protected', { card: agentCard(origin), upstream })
  await called.register('secured', { card: agentCard(origin, secured), upstream })
  await called.register('claimed', { card: agentCard(origin), hosts: ['claimed.example.com'] })
  await called.register('secured-open', { card: agentCard(origin, secured) })
  for (const [id, missing] of Object.entries<JsonObject>({
    'no-secret': { secret: 'NO_SUCH_TOKEN' },
    'empty-secret': { secret: 'EMPTY_TOKEN' },
    'binding-secret': { secret: 'CARDS' },
    'no-service': { service: 'NO_SUCH_SERVICE' },
    'no-fetcher': { service: 'AGENT_TOKEN' },
  }))
    await called.register(id, { card: agentCard(origin), callers: 'anyone', upstream: missing })
  for (const [name, request] of Object.entries<JsonObject>({
    caller: { scopes: ['call'] },
    reader: { scopes: ['read'] },
    other: { scopes: ['call'], agents: ['weather'] },
    writer: { scopes: ['write'] },
  }))
    tokens[name] = (await called.issue(request)).token
  tokens.admin = adminToken
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

const send = (id: string, headers: Record<string, string> = {}) =>
  called.send(`/agents/${id}/a2a`, { body: call(), headers })
const bearer = (name: string) => ({ Authorization: `Bearer ${tokens[name] ?? name}` })
/** Returns the credentials in each request to the agent. */
const upstreamCredentials = () =>
  called.agent.requests.map(({ headers }) => [headers.authorization, headers['x-weather-key']])

describe("a caller's credentials", () => {
  it.each<[string, Record<string, string>, (string | undefined)[]]>([
    ['a foreign bearer token', { Authorization: 'Bearer theirs' }, ['Bearer theirs', undefined]],
    ['another scheme', { Authorization: 'Basic aGk6aG8=' }, ['Basic aGk6aG8=', undefined]],
    [
      'a JWT of an issuer that the card does not name',
      { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
      ['Bearer eyJhbGciOiJub25lIn0.e30.', undefined],
    ],
    ["the agent's own key", { 'X-Weather-Key': 'theirs' }, [undefined, 'theirs']],
    ['no credentials', {}, [undefined, undefined]],
  ])('for the agent are forwarded: %s', async (_, headers, expected) => {
    expect([(await send('open', headers)).body, upstreamCredentials()]).toEqual([agentResponse, [expected]])
    called.agent.requests.length = 0
    const rest = await called.send('/agents/open/a2a/message:send', { body: message(), headers })
    expect([rest.body, upstreamCredentials()]).toEqual([restAnswerTo('POST', 'message:send'), [expected]])
  })

  it.each(['reader', 'other', 'writer', 'admin'])(
    'for this host are not forwarded from either header: %s',
    async name => {
      await send('open', bearer(name))
      await send('open', { 'X-Weather-Key': tokens[name] ?? '' })
      await send('open', { ...bearer('theirs'), 'X-Weather-Key': tokens[name] ?? '' })
      await send('open', { ...bearer(name), 'X-Weather-Key': 'theirs' })
      await send('open', { ...bearer(name), 'X-Weather-Key': tokens[name] ?? '' })
      expect(upstreamCredentials()).toEqual([
        [undefined, undefined],
        [undefined, undefined],
        ['Bearer theirs', undefined],
        [undefined, 'theirs'],
        [undefined, undefined],
      ])
      expect(JSON.stringify(called.agent.requests)).not.toContain(tokens[name])
    },
  )

  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  /** Every header of a caller that is passed on in some form, and a prefix with which it may carry a token. */
  const passedHeaders: [header: string, prefix: string][] = [
    ['traceparent', ''],
    ['tracestate', 'vendor=1,token='],
    ['Via', '1.1 edge, 1.1 '],
    ['A2A-Extensions', 'urn:a, urn:token:'],
    ['X-A2A-Extensions', ''],
    ['A2A-Version', ''],
    ['Accept', 'application/json, '],
    ['X-Weather-Key', ''],
    ['X-Weather-Key', 'theirs, '],
  ]
  it.each(passedHeaders)('for this host are not forwarded in %s: %j', async (header, prefix) => {
    for (const name of ['reader', 'admin']) {
      const headers = { traceparent, [header]: prefix + tokens[name] }
      await send('open', headers)
      await called.send('/agents/open/a2a/message:send', {
        body: message(),
        headers: { ...bearer('theirs'), ...headers },
      })
      expect(JSON.stringify(called.agent.requests)).not.toContain(tokens[name])
    }
  })

  const jwtFor = (aud: Json) => `${encodePart({ alg: 'none' })}.${encodePart({ aud })}.AAAA`
  const encodePart = (part: Json) => Buffer.from(JSON.stringify(part)).toString('base64url')

  it('are not forwarded if they are a JWT for this host or one of its agents', async () => {
    const own = called.host.url.origin
    const audiences: Json[] = [
      own,
      `${own}/agents/secret`,
      ['https://weather.example.com', `${own}/agents/open`],
      'https://claimed.example.com/agents/secret',
      'claimed.example.com',
      Array.from({ length: 6 }, (_, index) => `https://${index}.example.com`),
    ]
    for (const aud of audiences) {
      await send('open', { Authorization: `Bearer ${jwtFor(aud)}` })
      await send('open', { Authorization: `DPoP ${jwtFor(aud)}`, 'X-Weather-Key': 'theirs' })
      await send('open', { 'X-Weather-Key': jwtFor(aud) })
      expect([aud, upstreamCredentials()]).toEqual([
        aud,
        [
          [undefined, undefined],
          [undefined, 'theirs'],
          [undefined, undefined],
        ],
      ])
      called.agent.requests.length = 0
    }
  })

  it('are forwarded if they are a JWT for others', async () => {
    for (const aud of ['https://weather.example.com/a2a', called.agent.origin, 'weather-api', 'api://1', [], null]) {
      const Authorization = `Bearer ${jwtFor(aud)}`
      await send('open', { Authorization, 'X-Weather-Key': jwtFor(aud) })
      expect(upstreamCredentials()).toEqual([[Authorization, jwtFor(aud)]])
      called.agent.requests.length = 0
    }
  })

  it('for this host are removed from a list of which the rest is forwarded', async () => {
    await send('open', {
      traceparent,
      tracestate: `a=1,b=${tokens.reader}`,
      'A2A-Extensions': `urn:a, ${tokens.reader}`,
    })
    const { headers } = called.agent.requests[0] ?? {}
    expect([headers?.tracestate, headers?.['a2a-extensions']]).toEqual(['a=1', 'urn:a'])
  })

  it.each(['reader', 'admin'])('for this host need the scheme Bearer in Authorization: %s', async name => {
    const headers = { Authorization: tokens[name] ?? '' }
    const isAdmin = name === 'admin'
    const statuses = [
      (await send('open', headers)).status,
      (await called.send('/agents', { method: 'GET', headers })).status,
      (await called.send('/agents/open/manifest', { method: 'GET', headers })).status,
    ]
    // What contains the ADMIN_TOKEN is withheld from the agent, and otherwise looks like any other credential.
    expect([statuses, upstreamCredentials()]).toEqual([
      [isAdmin ? 200 : 401, 401, 401],
      isAdmin ? [[undefined, undefined]] : [],
    ])
  })

  it.each(['cc_oops', `cc_${'a'.repeat(12)}_${'a'.repeat(32)}`, 'one, Bearer two', 'one, Basic two'])(
    'for this host that are invalid return 401: %s',
    async name => {
      const response = await send('open', bearer(name))
      expect([
        response.status,
        codeOf(response.body),
        response.headers.get('www-authenticate'),
        upstreamCredentials(),
      ]).toEqual([401, -32000, 'Bearer realm="a2a", error="invalid_token"', []])
      expect(response.body).toMatchObject({ jsonrpc: '2.0', id: 7 })
    },
  )

  it('in two Authorization headers return 401', async () => {
    for (const both of [
      [`Bearer ${tokens.reader}`, 'Basic aGk6aG8='],
      ['Bearer theirs', 'Bearer theirs'],
      ['Basic aGk6aG8=', `Bearer ${tokens.reader}`],
    ]) {
      const response = await called.sendLines('/agents/open/a2a', { Authorization: both }, JSON.stringify(call()))
      expect([response.status, upstreamCredentials()]).toEqual([401, []])
    }
  })

  it('of other kinds, and headers that identify the caller, are not forwarded', async () => {
    const headers = {
      Cookie: 'session=1',
      'Proxy-Authorization': 'Basic aGk6aG8=',
      'CF-Access-Client-Secret': 'access-secret',
      'CF-IPCountry': 'Antarctica',
      'X-Forwarded-For': '192.0.2.1',
      Forwarded: 'for=192.0.2.1',
      'X-API-Key': 'undeclared',
      Origin: 'https://page.example',
      Referer: 'https://page.example/secret',
      'User-Agent': 'caller/1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=b',
    }
    await send('open', headers)
    const received = called.agent.requests[0]?.headers ?? {}
    expect(received.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/)
    expect(received.tracestate).toBe(headers.tracestate)
    const text = JSON.stringify(received)
    for (const [name, value] of Object.entries(headers).slice(0, -2))
      expect([name, text.includes(value)]).toEqual([name, false])
    expect(Object.keys(received).filter(name => /^(?:cf-(?!worker)|cookie|x-|forwarded|mf-)/.test(name))).toEqual([])
  })
})

describe('upstream.secret', () => {
  it.each<[string, () => Record<string, string>]>([
    ['no credentials', () => ({})],
    ['foreign credentials', () => ({ Authorization: 'Bearer theirs', 'X-Weather-Key': 'theirs' })],
    ['a token of this host', () => bearer('reader')],
  ])("is sent to the agent instead of the caller's credentials: %s", async (_, headers) => {
    expect([(await send('secret', headers())).body, upstreamCredentials()]).toEqual([
      agentResponse,
      [[`Bearer ${secret}`, undefined]],
    ])
  })

  const rows: [string, number, Record<string, () => string>][] = [
    ['no credentials', 401, {}],
    ['foreign credentials', 401, { Authorization: () => 'Bearer theirs' }],
    ["the agent's own key", 401, { 'X-Weather-Key': () => 'theirs' }],
    ['a token that calls other agents', 403, { Authorization: () => `Bearer ${tokens.other}` }],
    ['a token that writes', 403, { Authorization: () => `Bearer ${tokens.writer}` }],
    ['a token that reads cards', 403, { Authorization: () => `Bearer ${tokens.reader}` }],
    ['a token that calls', 200, { Authorization: () => `Bearer ${tokens.caller}` }],
    ["the administrator's token", 200, { Authorization: () => `Bearer ${adminToken}` }],
  ]
  it.each([
    ...rows.map(row => ['protected', ...row] as const),
    ...rows.map(row => ['secured', ...row] as const),
    ['secured', 'a token that calls, as the API key', 200, { 'X-Weather-Key': () => `${tokens.caller}` }] as const,
  ])('is used only for callers that may call the agent %s: %s, %d', async (id, _, status, values) => {
    const headers = Object.fromEntries(Object.entries<() => string>(values).map(([name, value]) => [name, value()]))
    for (const [path, body] of [
      [`/agents/${id}/a2a`, call()],
      [`/agents/${id}/a2a/message:send`, message()],
      ['/a2a/v1', { ...call(), params: { ...message(), agentName: id } }],
      ['/a2a', { ...call(), params: { ...message(), tenant: id } }],
    ] as const) {
      const response = await called.send(path, { body, headers })
      expect([response.status, upstreamCredentials()]).toEqual([
        status,
        status === 200 ? [[`Bearer ${secret}`, undefined]] : [],
      ])
      if (status !== 200)
        expect(response.headers.get('www-authenticate')).toEqual(expect.stringContaining('Bearer realm="a2a"'))
      called.agent.requests.length = 0
    }
  })

  it('tells an anonymous caller what to do', async () => {
    const { body, headers } = await send('protected')
    expect([body, headers.get('www-authenticate')]).toEqual([
      {
        jsonrpc: '2.0',
        id: 7,
        error: {
          code: -32000,
          message:
            "This call requires a token of this host with the scope `call`, or other credentials that the agent's card names. Ask the owner of the agent for a token (`npx sync-card token create --scope call --agent ID`), and send it as `Authorization: Bearer …`.",
          data: expect.any(Array),
        },
      },
      'Bearer realm="a2a"',
    ])
  })

  it('leaves security requirements to the agent if it is not set', async () => {
    expect([(await send('secured-open')).body, upstreamCredentials()]).toEqual([
      agentResponse,
      [[undefined, undefined]],
    ])
  })

  it.each(['no-secret', 'empty-secret', 'binding-secret', 'no-service', 'no-fetcher'])(
    'that does not exist is an error of this host, with details only in its log: %s',
    async id => {
      const response = await send(id)
      expect([response.status, codeOf(response.body), upstreamCredentials()]).toEqual([502, -32603, []])
      expect(response.text).not.toMatch(/NO_SUCH|EMPTY_TOKEN|CARDS|AGENT_TOKEN/)
      await expect
        .poll(() => called.host.logged().at(-1))
        .toMatch(/"calling_card.detail":"(?:This Worker has no|The secret)/)
    },
  )

  it('cannot be a variable of this host', async () => {
    const { vars } = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })
    for (const secret of [...Object.keys(vars), 'ADMIN_TOKEN', 'SIGNING_KEY_2', 'LOCAL_ORIGINS'])
      await expect(
        called.register('own-variable', { card: agentCard(called.agent.origin), upstream: { secret } }),
        secret,
      ).rejects.toThrow(`/upstream/secret must not be ${secret}`)
  })

  it('never occurs in a response', async () => {
    called.agent.respond(
      (response, request) =>
        void response
          .writeHead(200, json)
          .end(JSON.stringify({ ...agentResponse, seen: Object.keys(request.headers) })),
    )
    const response = await send('secret')
    expect(JSON.stringify([response.text, [...response.headers]])).not.toContain(secret)
  })
})
