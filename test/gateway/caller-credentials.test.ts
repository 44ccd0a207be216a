import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { answer, call, codeOf, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'
import { json, reply } from '../support/upstream.ts'

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
  await called.register('open', { card: agentCard(origin, schemes) })
  await called.register('secret', { card: agentCard(origin, schemes), upstream: { secret: 'AGENT_TOKEN' } })
  await called.register('secured', { card: agentCard(origin, secured), upstream: { secret: 'AGENT_TOKEN' } })
  await called.register('secured-open', { card: agentCard(origin, secured) })
  await called.register('no-secret', { card: agentCard(origin), upstream: { secret: 'NO_SUCH_TOKEN' } })
  await called.register('empty-secret', { card: agentCard(origin), upstream: { secret: 'EMPTY_TOKEN' } })
  await called.register('binding-secret', { card: agentCard(origin), upstream: { secret: 'CARDS' } })
  await called.register('no-service', { card: agentCard(origin), upstream: { service: 'NO_SUCH_SERVICE' } })
  await called.register('no-fetcher', { card: agentCard(origin), upstream: { service: 'AGENT_TOKEN' } })
  for (const [name, request] of Object.entries<JsonObject>({
    reader: { scopes: ['read'] },
    other: { scopes: ['read'], agents: ['weather'] },
    writer: { scopes: ['write'] },
  }))
    tokens[name] = (await called.issue(request)).token
  tokens.admin = adminToken
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(reply(200, json, JSON.stringify(answer))))

const send = (id: string, headers: Record<string, string> = {}) =>
  called.send(`/agents/${id}/a2a`, { body: call(), headers })
const bearer = (name: string) => ({ Authorization: `Bearer ${tokens[name] ?? name}` })
/** What of credentials the agent was sent. */
const sent = () => called.agent.requests.map(({ headers }) => [headers.authorization, headers['x-weather-key']])

describe("a caller's credentials", () => {
  it.each<[string, Record<string, string>, (string | undefined)[]]>([
    ['a bearer token of somebody else', { Authorization: 'Bearer theirs' }, ['Bearer theirs', undefined]],
    ['another scheme', { Authorization: 'Basic aGk6aG8=' }, ['Basic aGk6aG8=', undefined]],
    [
      'a JWT of an issuer that the card does not name',
      { Authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
      ['Bearer eyJhbGciOiJub25lIn0.e30.', undefined],
    ],
    ["the agent's own key", { 'X-Weather-Key': 'theirs' }, [undefined, 'theirs']],
    ['none', {}, [undefined, undefined]],
  ])('that are not of this host go on to the agent: %s', async (_, headers, expected) => {
    expect([(await send('open', headers)).body, sent()]).toEqual([answer, [expected]])
    called.agent.requests.length = 0
    const rest = await called.send('/agents/open/a2a/message:send', { body: message(), headers })
    expect([rest.body, sent()]).toEqual([answer, [expected]])
  })

  it.each(['reader', 'other', 'writer', 'admin'])(
    'that are of this host stay here: %s, in either header',
    async name => {
      await send('open', bearer(name))
      await send('open', { 'X-Weather-Key': tokens[name] ?? '' })
      await send('open', { ...bearer('theirs'), 'X-Weather-Key': tokens[name] ?? '' })
      await send('open', { ...bearer(name), 'X-Weather-Key': 'theirs' })
      await send('open', { ...bearer(name), 'X-Weather-Key': tokens[name] ?? '' })
      expect(sent()).toEqual([
        [undefined, undefined],
        [undefined, undefined],
        ['Bearer theirs', undefined],
        [undefined, 'theirs'],
        [undefined, undefined],
      ])
      expect(JSON.stringify(called.agent.requests)).not.toContain(tokens[name])
    },
  )

  it.each(['cc_oops', `cc_${'a'.repeat(12)}_${'a'.repeat(32)}`, 'one, Bearer two', 'one, Basic two'])(
    'that do not hold stop the call: %s',
    async name => {
      const came = await send('open', bearer(name))
      expect([came.status, codeOf(came.body), came.headers.get('www-authenticate'), sent()]).toEqual([
        401,
        -32000,
        'Bearer realm="a2a", error="invalid_token"',
        [],
      ])
      expect(came.body).toMatchObject({ jsonrpc: '2.0', id: 7 })
    },
  )

  it("in two Authorization headers are nobody's", async () => {
    for (const both of [
      [`Bearer ${tokens.reader}`, 'Basic aGk6aG8='],
      ['Bearer theirs', 'Bearer theirs'],
      ['Basic aGk6aG8=', `Bearer ${tokens.reader}`],
    ]) {
      const came = await called.sendLines('/agents/open/a2a', { Authorization: both }, JSON.stringify(call()))
      expect([came.status, sent()]).toEqual([401, []])
    }
  })

  it('of other kinds, and what says who and where a caller is, never go on', async () => {
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
    const heard = called.agent.requests[0]?.headers ?? {}
    expect([heard.traceparent, heard.tracestate]).toEqual([headers.traceparent, headers.tracestate])
    const text = JSON.stringify(heard)
    for (const [name, value] of Object.entries(headers).slice(0, -2))
      expect([name, text.includes(value)]).toEqual([name, false])
    expect(Object.keys(heard).filter(name => /^(?:cf-(?!worker)|cookie|x-|forwarded|mf-)/.test(name))).toEqual([])
  })
})

describe('upstream.secret', () => {
  it.each<[string, () => Record<string, string>]>([
    ['nothing', () => ({})],
    ['credentials of somebody else', () => ({ Authorization: 'Bearer theirs', 'X-Weather-Key': 'theirs' })],
    ['a token of this host', () => bearer('reader')],
  ])("goes to the agent in the place of the caller's own: %s", async (_, headers) => {
    expect([(await send('secret', headers())).body, sent()]).toEqual([answer, [[`Bearer ${secret}`, undefined]]])
  })

  it.each<[string, number, Record<string, () => string>]>([
    ['nothing', 401, {}],
    ['credentials of somebody else', 401, { Authorization: () => 'Bearer theirs' }],
    ["the agent's own key", 401, { 'X-Weather-Key': () => 'theirs' }],
    ['a token for other agents', 403, { Authorization: () => `Bearer ${tokens.other}` }],
    ['a token that does not read', 403, { Authorization: () => `Bearer ${tokens.writer}` }],
    ['a token for this agent', 200, { Authorization: () => `Bearer ${tokens.reader}` }],
    ['one in the header of the API key', 200, { 'X-Weather-Key': () => `${tokens.reader}` }],
    ["the administrator's", 200, { Authorization: () => `Bearer ${adminToken}` }],
  ])(
    'is for callers that this host knows, where the card names security requirements: %s, %d',
    async (_, status, headers) => {
      const came = await send(
        'secured',
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value()])),
      )
      expect([came.status, sent()]).toEqual([status, status === 200 ? [[`Bearer ${secret}`, undefined]] : []])
      if (status !== 200)
        expect([codeOf(came.body), came.headers.get('www-authenticate')]).toEqual([
          -32000,
          expect.stringContaining('Bearer realm="a2a"'),
        ])
    },
  )

  it("is no matter of security requirements where there is none: those are the agent's", async () => {
    expect([(await send('secured-open')).body, sent()]).toEqual([answer, [[undefined, undefined]]])
  })

  it.each(['no-secret', 'empty-secret', 'binding-secret', 'no-service', 'no-fetcher'])(
    'that is not there is an error of this host, for its log alone: %s',
    async id => {
      const came = await send(id)
      expect([came.status, codeOf(came.body), sent()]).toEqual([502, -32603, []])
      expect(came.text).not.toMatch(/NO_SUCH|EMPTY_TOKEN|CARDS|AGENT_TOKEN/)
      await expect.poll(() => called.host.logged().at(-1)).toMatch(/"why":"(?:This Worker has no|The secret)/)
    },
  )

  it.each(Object.keys(unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true }).vars))(
    "is no variable of the host's own: %s",
    async name => {
      const id = name.toLowerCase().replaceAll('_', '-')
      await called.register(id, { card: agentCard(called.agent.origin), upstream: { secret: name } })
      const came = await send(id)
      expect([came.status, codeOf(came.body), sent()]).toEqual([502, -32603, []])
    },
  )

  it('is in no answer', async () => {
    called.agent.respond(
      (response, request) =>
        void response.writeHead(200, json).end(JSON.stringify({ ...answer, seen: Object.keys(request.headers) })),
    )
    const came = await send('secret')
    expect(JSON.stringify([came.text, [...came.headers]])).not.toContain(secret)
  })
})
