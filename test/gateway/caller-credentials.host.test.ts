import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, restAnswerTo } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token as adminToken } from '../support/host.ts'

const secret = 'the-hosts-own-secret'
const schemes: JsonObject = {
  securitySchemes: {
    key: { apiKeySecurityScheme: { location: 'header', name: 'X-Weather-Key' } },
    bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } },
  },
}
const secured: JsonObject = { ...schemes, securityRequirements: [{ schemes: { bearer: { list: [] } } }] }
/** Agents with a secret or service that this host does not have. */
const misconfigured: Record<string, JsonObject> = {
  'binding-secret': { secret: 'CARDS' },
  'no-fetcher': { service: 'AGENT_TOKEN' },
}

let called: CalledHost
const tokens: Record<string, string> = { admin: adminToken }
beforeAll(async () => {
  called = await useSharedHost()
  const { origin } = called.agent
  const upstream = { secret: 'AGENT_TOKEN' }
  for (const [id, manifest] of Object.entries<JsonObject>({
    open: { card: agentCard(origin, schemes) },
    secret: { card: agentCard(origin, schemes), callers: 'anyone', upstream },
    secured: { card: agentCard(origin, secured), upstream },
  }))
    await called.register(`credentials-${id}`, manifest)
  for (const [id, upstream] of Object.entries(misconfigured))
    await called.register(`credentials-${id}`, { card: agentCard(origin), callers: 'anyone', upstream })
  for (const [name, request] of Object.entries<JsonObject>({
    caller: { scopes: ['call'] },
    reader: { scopes: ['read'] },
    other: { scopes: ['call'], agents: ['weather'] },
    writer: { scopes: ['write'] },
  }))
    tokens[name] = (await called.issue(request)).token
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

const send = (id: string, headers: Record<string, string> = {}) =>
  called.send(`/agents/credentials-${id}/a2a`, { body: call(), headers })
const sendRest = (id: string, headers: Record<string, string> = {}) =>
  called.send(`/agents/credentials-${id}/a2a/message:send`, { body: message(), headers })
const bearer = (name: string) => ({ Authorization: `Bearer ${tokens[name] ?? name}` })
/** Returns the credentials in each request to the agent since the last time. */
const upstreamCredentials = () =>
  called.agent.requests.splice(0).map(({ headers }) => [headers.authorization, headers['x-weather-key']])
const none = [undefined, undefined]

describe("a caller's credentials", () => {
  it('for the agent are forwarded', async () => {
    const jwt = 'Bearer eyJhbGciOiJub25lIn0.e30.'
    for (const [headers, expected] of [
      [{ Authorization: 'Bearer theirs' }, ['Bearer theirs', undefined]],
      [{ Authorization: 'Basic aGk6aG8=', 'X-Weather-Key': 'theirs' }, ['Basic aGk6aG8=', 'theirs']],
      [{ Authorization: jwt }, [jwt, undefined]],
    ] as [Record<string, string>, string[]][]) {
      const [rpc, rest] = [await send('open', headers), await sendRest('open', headers)]
      expect([rpc.body, rest.body]).toEqual([agentResponse, restAnswerTo('POST', 'message:send')])
      expect(upstreamCredentials()).toEqual([expected, expected])
    }
  })

  it('for this host are not forwarded from either header', async () => {
    for (const name of ['reader', 'admin']) {
      const key = { 'X-Weather-Key': tokens[name] ?? '' }
      for (const headers of [bearer(name), key, { ...bearer('theirs'), ...key }]) await send('open', headers)
      for (const headers of [{ 'X-Weather-Key': 'theirs' }, key]) await send('open', { ...bearer(name), ...headers })
      expect(JSON.stringify(called.agent.requests), name).not.toContain(tokens[name])
      expect(upstreamCredentials(), name).toEqual([
        ...[none, none, ['Bearer theirs', undefined], [undefined, 'theirs'], none],
      ])
    }
  })

  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it('for this host are not forwarded in any header that is passed on in some form', async () => {
    for (const [header, prefix] of [
      ['traceparent', ''],
      ['tracestate', 'vendor=1,token='],
      ['Via', '1.1 edge, 1.1 '],
      ['X-A2A-Extensions', 'urn:a, urn:token:'],
    ] as const)
      for (const name of ['reader', 'admin']) {
        const headers = { traceparent, [header]: prefix + tokens[name] }
        await send('open', headers)
        await sendRest('open', { ...bearer('theirs'), ...headers })
        expect(JSON.stringify(called.agent.requests.splice(0)), header).not.toContain(tokens[name])
      }
  })

  // The rules: test/auth/authenticate.test.ts.
  it('are not forwarded if they are a JWT for this host, but if it is for others', async () => {
    const encodePart = (part: Json) => Buffer.from(JSON.stringify(part)).toString('base64url')
    const jwtFor = (aud: Json) => `${encodePart({ alg: 'none' })}.${encodePart({ aud })}.AAAA`
    await send('open', { Authorization: `DPoP ${jwtFor(called.host.url.origin)}`, 'X-Weather-Key': 'theirs' })
    const ofOthers = `Bearer ${jwtFor('https://weather.example.com/a2a')}`
    await send('open', { Authorization: ofOthers })
    expect(upstreamCredentials()).toEqual([
      [undefined, 'theirs'],
      [ofOthers, undefined],
    ])
  })

  it('for this host that are invalid, or in two Authorization headers, return 401', async () => {
    const { status, body, headers } = await send('open', bearer(`cc_${'a'.repeat(12)}_${'a'.repeat(32)}`))
    const challenge = 'Bearer realm="a2a", error="invalid_token"'
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
    expect(body).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32000 } })
    const Authorization = ['Basic aGk6aG8=', `Bearer ${tokens.reader}`]
    const both = await called.sendLines('/agents/credentials-open/a2a', { Authorization }, JSON.stringify(call()))
    expect([both.status, upstreamCredentials()]).toEqual([401, []])
  })
})

describe('upstream.secret', () => {
  it("is sent to the agent instead of the caller's credentials", async () => {
    expect((await send('secret', { ...bearer('theirs'), 'X-Weather-Key': 'theirs' })).body).toEqual(agentResponse)
    expect(upstreamCredentials()).toEqual([[`Bearer ${secret}`, undefined]])
  })

  it('is used only for callers that may call the agent', async () => {
    const rows: [status: number, headers: Record<string, string>][] = [
      [401, {}],
      [401, bearer('theirs')],
      // Tokens that call other agents, write, or read cards.
      ...['other', 'writer', 'reader'].map((name): [number, Record<string, string>] => [403, bearer(name)]),
      [200, bearer('caller')],
      [200, bearer('admin')],
      [200, { 'X-Weather-Key': `${tokens.caller}` }],
    ]
    const id = 'credentials-secured'
    for (const [status, headers] of rows)
      for (const [path, body] of [
        [`/agents/${id}/a2a`, call()],
        [`/agents/${id}/a2a/message:send`, message()],
        ['/a2a/v1', call('SendMessage', message({ agentName: id }))],
      ] as const) {
        const response = await called.send(path, { body, headers })
        const sent = status === 200 ? [[`Bearer ${secret}`, undefined]] : []
        expect([response.status, upstreamCredentials()], JSON.stringify([path, headers])).toEqual([status, sent])
        if (status !== 200) expect(response.headers.get('www-authenticate')).toContain('Bearer realm="a2a"')
      }
  })

  it('that does not exist is an error of this host, with details only in its log', async () => {
    for (const id of Object.keys(misconfigured)) {
      const { status, body, text } = await send(id)
      expect([status, codeOf(body), upstreamCredentials()], id).toEqual([502, -32603, []])
      expect(text).not.toMatch(/CARDS|AGENT_TOKEN/)
      const detail = /"calling_card.detail":"(?:This Worker has no|The secret)/
      await expect.poll(() => called.host.logged().find(line => line.includes(`credentials-${id}`))).toMatch(detail)
    }
  })
})
