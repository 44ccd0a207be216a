import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { answerCalls, restAnswerTo } from '../support/answers.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
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
/** Agents with a secret or service that this host does not have. */
const misconfigured: Record<string, JsonObject> = {
  'no-secret': { secret: 'NO_SUCH_TOKEN' },
  'empty-secret': { secret: 'EMPTY_TOKEN' },
  'binding-secret': { secret: 'CARDS' },
  'no-service': { service: 'NO_SUCH_SERVICE' },
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
    protected: { card: agentCard(origin), upstream },
    secured: { card: agentCard(origin, secured), upstream },
    claimed: { card: agentCard(origin), hosts: ['claimed.example.com'] },
    'secured-open': { card: agentCard(origin, secured) },
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
      [{ Authorization: 'Basic aGk6aG8=' }, ['Basic aGk6aG8=', undefined]],
      [{ Authorization: jwt }, [jwt, undefined]],
      [{ 'X-Weather-Key': 'theirs' }, [undefined, 'theirs']],
      [{}, none],
    ] as [Record<string, string>, string[]][]) {
      const [rpc, rest] = [await send('open', headers), await sendRest('open', headers)]
      expect([rpc.body, rest.body]).toEqual([agentResponse, restAnswerTo('POST', 'message:send')])
      expect(upstreamCredentials()).toEqual([expected, expected])
    }
  })

  it('for this host are not forwarded from either header', async () => {
    for (const name of ['reader', 'other', 'writer', 'admin']) {
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
      ['A2A-Extensions', 'urn:a, urn:token:'],
      ['X-A2A-Extensions', ''],
      ['A2A-Version', ''],
      ['Accept', 'application/json, '],
      ['X-Weather-Key', ''],
      ['X-Weather-Key', 'theirs, '],
    ] as const)
      for (const name of ['reader', 'admin']) {
        const headers = { traceparent, [header]: prefix + tokens[name] }
        await send('open', headers)
        await sendRest('open', { ...bearer('theirs'), ...headers })
        expect(JSON.stringify(called.agent.requests.splice(0)), header).not.toContain(tokens[name])
      }
  })

  const encodePart = (part: Json) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const jwtFor = (aud: Json) => `${encodePart({ alg: 'none' })}.${encodePart({ aud })}.AAAA`

  it('are not forwarded if they are a JWT for this host or one of its agents', async () => {
    const own = called.host.url.origin
    const audiences: Json[] = [
      own,
      `${own}/agents/credentials-secret`,
      ['https://weather.example.com', `${own}/agents/credentials-open`],
      'https://claimed.example.com/agents/credentials-secret',
      'claimed.example.com',
      Array.from({ length: 6 }, (_, index) => `https://${index}.example.com`),
    ]
    for (const aud of audiences) {
      await send('open', { Authorization: `Bearer ${jwtFor(aud)}` })
      await send('open', { Authorization: `DPoP ${jwtFor(aud)}`, 'X-Weather-Key': 'theirs' })
      await send('open', { 'X-Weather-Key': jwtFor(aud) })
      expect(upstreamCredentials(), `${aud}`).toEqual([none, [undefined, 'theirs'], none])
    }
  })

  it('are forwarded if they are a JWT for others', async () => {
    for (const aud of ['https://weather.example.com/a2a', called.agent.origin, 'weather-api', 'api://1', [], null]) {
      const Authorization = `Bearer ${jwtFor(aud)}`
      await send('open', { Authorization, 'X-Weather-Key': jwtFor(aud) })
      expect(upstreamCredentials()).toEqual([[Authorization, jwtFor(aud)]])
    }
  })

  it('for this host are removed from a list of which the rest is forwarded', async () => {
    const extensions = { 'A2A-Extensions': `urn:a, ${tokens.reader}` }
    await send('open', { traceparent, tracestate: `a=1,b=${tokens.reader}`, ...extensions })
    expect(called.agent.requests[0]?.headers).toMatchObject({ tracestate: 'a=1', 'a2a-extensions': 'urn:a' })
  })

  it('for this host need the scheme Bearer in Authorization', async () => {
    // What contains the ADMIN_TOKEN is withheld from the agent, and otherwise looks like any other credential.
    for (const [name, status, forwarded] of [
      ['reader', 401, []],
      ['admin', 200, [none]],
    ] as const) {
      const headers = { Authorization: tokens[name] ?? '' }
      expect([(await send('open', headers)).status, upstreamCredentials()], name).toEqual([status, forwarded])
      for (const path of ['/agents', '/agents/credentials-open/manifest'])
        expect((await called.send(path, { method: 'GET', headers })).status, name).toBe(401)
    }
  })

  it('for this host that are invalid return 401', async () => {
    for (const name of ['cc_oops', `cc_${'a'.repeat(12)}_${'a'.repeat(32)}`, 'one, Bearer two', 'one, Basic two']) {
      const { status, body, headers } = await send('open', bearer(name))
      const challenge = 'Bearer realm="a2a", error="invalid_token"'
      expect([status, headers.get('www-authenticate'), upstreamCredentials()], name).toEqual([401, challenge, []])
      expect(body, name).toMatchObject({ jsonrpc: '2.0', id: 7, error: { code: -32000 } })
    }
  })

  it('in two Authorization headers return 401', async () => {
    for (const both of [
      [`Bearer ${tokens.reader}`, 'Basic aGk6aG8='],
      ['Bearer theirs', 'Bearer theirs'],
      ['Basic aGk6aG8=', `Bearer ${tokens.reader}`],
    ]) {
      const path = '/agents/credentials-open/a2a'
      const { status } = await called.sendLines(path, { Authorization: both }, JSON.stringify(call()))
      expect([status, upstreamCredentials()]).toEqual([401, []])
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
    }
    await send('open', { ...headers, traceparent, tracestate: 'a=b' })
    const received = called.agent.requests[0]?.headers ?? {}
    expect(received.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)[0-9a-f]{16}-01$/)
    expect(received.tracestate).toBe('a=b')
    const text = JSON.stringify(received)
    expect(Object.entries(headers).filter(([, value]) => text.includes(value))).toEqual([])
    expect(Object.keys(received).filter(name => /^(?:cf-(?!worker)|cookie|x-|forwarded|mf-)/.test(name))).toEqual([])
  })
})

describe('upstream.secret', () => {
  it("is sent to the agent instead of the caller's credentials", async () => {
    for (const headers of [{}, { ...bearer('theirs'), 'X-Weather-Key': 'theirs' }, bearer('reader')]) {
      expect((await send('secret', headers)).body).toEqual(agentResponse)
      expect(upstreamCredentials()).toEqual([[`Bearer ${secret}`, undefined]])
    }
  })

  it('is used only for callers that may call the agent', async () => {
    const rows: [status: number, headers: Record<string, string>, ids?: string[]][] = [
      [401, {}],
      [401, bearer('theirs')],
      [401, { 'X-Weather-Key': 'theirs' }],
      // Tokens that call other agents, write, or read cards.
      ...['other', 'writer', 'reader'].map((name): [number, Record<string, string>] => [403, bearer(name)]),
      [200, bearer('caller')],
      [200, bearer('admin')],
      [200, { 'X-Weather-Key': `${tokens.caller}` }, ['secured']],
    ]
    for (const [status, headers, ids = ['protected', 'secured']] of rows)
      for (const name of ids) {
        const id = `credentials-${name}`
        for (const [path, body] of [
          [`/agents/${id}/a2a`, call()],
          [`/agents/${id}/a2a/message:send`, message()],
          ['/a2a/v1', call('SendMessage', message({ agentName: id }))],
          ['/a2a', call('SendMessage', message({ tenant: id }))],
        ] as const) {
          const response = await called.send(path, { body, headers })
          const sent = status === 200 ? [[`Bearer ${secret}`, undefined]] : []
          expect([response.status, upstreamCredentials()], JSON.stringify([id, path, headers])).toEqual([status, sent])
          if (status !== 200) expect(response.headers.get('www-authenticate')).toContain('Bearer realm="a2a"')
        }
      }
  })

  it('tells an anonymous caller what to do', async () => {
    const { body, headers } = await send('protected')
    expect(headers.get('www-authenticate')).toBe('Bearer realm="a2a"')
    expect((body as { error: JsonObject }).error).toMatchObject({
      code: -32000,
      message:
        "This call requires a token of this host with the scope `call`, or other credentials that the agent's card names. Ask the owner of the agent for a token (`npx sync-card token create --scope call --agent ID`), and send it as `Authorization: Bearer …`.",
    })
  })

  it('leaves security requirements to the agent if it is not set', async () => {
    expect([(await send('secured-open')).body, upstreamCredentials()]).toEqual([agentResponse, [none]])
  })

  it('that does not exist is an error of this host, with details only in its log', async () => {
    for (const id of Object.keys(misconfigured)) {
      const { status, body, text } = await send(id)
      expect([status, codeOf(body), upstreamCredentials()], id).toEqual([502, -32603, []])
      expect(text).not.toMatch(/NO_SUCH|EMPTY_TOKEN|CARDS|AGENT_TOKEN/)
      const detail = /"calling_card.detail":"(?:This Worker has no|The secret)/
      await expect.poll(() => called.host.logged().find(line => line.includes(`credentials-${id}`))).toMatch(detail)
    }
  })

  it('cannot be a variable of this host', async () => {
    const { vars } = unstable_readConfig({ config: 'wrangler.toml' }, { hideWarnings: true })
    const card = agentCard(called.agent.origin)
    for (const secret of [...Object.keys(vars), 'ADMIN_TOKEN', 'SIGNING_KEY_2', 'LOCAL_ORIGINS'])
      await expect(called.register('credentials-variable', { card, upstream: { secret } }), secret).rejects.toThrow(
        `/upstream/secret must not be ${secret}`,
      )
  })

  it('never occurs in a response', async () => {
    called.agent.respond((response, { headers }) => {
      response.writeHead(200, json).end(JSON.stringify({ ...agentResponse, seen: Object.keys(headers) }))
    })
    const response = await send('secret')
    expect(JSON.stringify([response.text, [...response.headers]])).not.toContain(secret)
  })
})
