import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { compile } from '../../src/card/compile/index.ts'
import { resolveSource, type Source } from '../../src/card/manifest/upstream.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { prepareRemote } from '../../src/sources/reconcile.ts'
import { answerCalls, answerTo } from '../support/answers.ts'
import { type CalledHost, type Received, startCalledHost } from '../support/called-host.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { withoutKeys } from '../support/registrations.ts'

let called: CalledHost
let card: JsonObject
let source: string

beforeAll(async () => {
  called = await startCalledHost({ WEATHER_TOKEN: 'worker-secret' })
  source = `${called.agent.origin}/.well-known/agent-card.json`
})
afterAll(() => called.close())
beforeEach(() => {
  card = agentCard(called.agent.origin)
  serve(card)
})

const json = (response: ServerResponse, text: string) =>
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(text)

/** Makes the upstream respond to every request with a document, such as a card. */
const serve = (document: Json, headers: Record<string, string> = {}) =>
  called.agent.respond(response =>
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(document)),
  )

const put = (id: string, manifest: JsonObject = {}) =>
  called.send(`/agents/${id}`, {
    method: 'PUT',
    token,
    body: { ...manifest, upstream: { card: source, ...(manifest.upstream as JsonObject | undefined) } },
  })

const get = (id: string, query = '') =>
  called.send(`/agents/${id}/.well-known/agent-card.json${query}`, { method: 'GET' })
const refresh = (id: string, body?: Json) =>
  called.send(`/agents/${id}/refresh`, { token, ...(body !== undefined && { body }) })
const revisions = async (id: string) =>
  ((await called.send(`/agents/${id}/revisions`, { method: 'GET', token })).body as { revisions: JsonObject[] })
    .revisions
const getBody = ({ body }: Received) => body as JsonObject

describe('PUT /agents/{id} with upstream.card', () => {
  it('registers the fetched card, in any dialect', async () => {
    serve({ name: 'Tides', description: 'Tells the tides of any coast', url: 'https://tides.example.com/a2a' })
    expect((await put('tides')).status).toBe(201)
    expect(getBody(await get('tides', '?dialect=0.3'))).toMatchObject({
      name: 'Tides',
      url: 'https://tides.example.com/a2a',
    })
  })

  it('returns the source of the card and its state', async () => {
    const { body } = await put('fresh')
    expect(body).toMatchObject({ source: { kind: 'card', url: source, state: 'fresh' } })
  })

  it("merges the manifest's card into the fetched card, skills by their ids", async () => {
    await put('overlaid', { card: { description: 'Better words', skills: [{ id: 'now', tags: ['rain'] }] } })
    expect(getBody(await get('overlaid', '?dialect=1.0'))).toMatchObject({
      name: 'Weather',
      description: 'Better words',
      skills: [{ id: 'now', name: 'Now', tags: ['rain'] }],
    })
  })

  it("hides the agent's address behind the gateway", async () => {
    await put('hidden', { route: 'gateway' })
    const texts = await Promise.all(
      ['', '?dialect=1.0', '?dialect=0.3', '?dialect=gopherhole', '?dialect=superx', '?dialect=shaman'].map(
        async query => (await get('hidden', query)).text,
      ),
    )
    for (const text of texts) expect(text).not.toContain(called.agent.origin.slice('http://'.length))
    expect(texts[0]).toContain('/agents/hidden/a2a')
  })

  it('registers an agent that can be called', async () => {
    await put('callable', { route: 'gateway' })
    called.agent.respond(answerCalls)
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    expect((await called.send('/agents/callable', { body: call })).body).toEqual(answerTo(call))
  })

  it('does not replace a card that was fetched in the meantime', async () => {
    await put('re-registered')
    const requested = Promise.withResolvers<ServerResponse>()
    called.agent.respond(requested.resolve)
    const registration = put('re-registered', { card: { version: '2.0.0' } })
    const pending = await requested.promise
    serve({ ...card, description: 'Tells newer weather' })
    expect((await refresh('re-registered')).body).toMatchObject({ outcome: 'refreshed' })
    let laterRequests = 0
    called.agent.respond(response => {
      laterRequests++
      response.writeHead(500).end()
    })
    pending.writeHead(500).end()
    expect([(await registration).status, laterRequests]).toEqual([200, 0])
    expect(getBody(await get('re-registered', '?dialect=1.0'))).toMatchObject({
      description: 'Tells newer weather',
      version: '2.0.0',
    })
  })

  it('serves no card with a secret, and tells the owner where it is', async () => {
    const secret = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    serve({ ...card, description: secret })
    const { body, text } = await put('with-secret')
    expect(body).toMatchObject({ source: { state: 'no-card', failure: { errors: [{ pointer: '/description' }] } } })
    expect([(await get('with-secret')).status, text]).toEqual([502, expect.not.stringContaining(secret)])
    serve(card)
    await refresh('with-secret')
    serve({ ...card, description: secret })
    const refused = await refresh('with-secret')
    expect([refused.status, refused.body]).toMatchObject([502, { code: 'upstream-invalid-card' }])
    expect(refused.text).not.toContain(secret)
    expect(getBody(await get('with-secret', '?dialect=1.0'))).toMatchObject({ description: card.description })
    await put('with-secret', { allowSecrets: ['/description'] })
    expect(getBody(await get('with-secret', '?dialect=1.0'))).toMatchObject({ description: secret })
  })

  it('stays in its set, whether a card was fetched or not', async () => {
    const idsInSet = async () => {
      const { body } = await called.send('/agents?set=set-of-remote-cards', { method: 'GET', token })
      return (body as { agents: { id: string }[] }).agents.map(({ id }) => id)
    }
    called.agent.respond(response => response.writeHead(500).end())
    await put('in-a-set', { set: 'set-of-remote-cards' })
    const before = await idsInSet()
    serve(card)
    expect((await refresh('in-a-set')).body).toMatchObject({ outcome: 'refreshed' })
    expect([before, await idsInSet()]).toEqual([['in-a-set'], ['in-a-set']])
  })

  it('makes no new revision for an unchanged card', async () => {
    await put('same')
    expect((await put('same')).body).toMatchObject({ changed: false })
    expect(await revisions('same')).toHaveLength(1)
  })

  it.each([
    ['http://169.254.169.254/latest/meta-data'],
    ['https://10.0.0.1/card.json'],
    ['https://card.internal/'],
    ['http://cards.example.com/'],
  ])('rejects a URL that this host does not call, with the same reason for each: %s', async url => {
    const response = await put('blocked', { upstream: { card: url } })
    expect([response.status, response.body]).toEqual([
      422,
      expect.objectContaining({
        errors: [
          {
            pointer: '/upstream/card',
            message: expect.stringMatching(
              /^is not an address that this host calls: it calls public host names over https\. /,
            ),
          },
        ],
      }),
    ])
  })

  it("rejects an invalid member of the manifest's own card", async () => {
    const response = await put('invalid-manifest', { card: { skills: [{ id: 'now', name: 7 }] } })
    expect(response.status).toBe(422)
  })
})

describe('a remote card that cannot be fetched', () => {
  const failures: [
    name: string,
    status: number,
    code: string,
    respond: Parameters<CalledHost['agent']['respond']>[0],
  ][] = [
    ['404', 502, 'unreachable', response => response.writeHead(404).end()],
    ['500', 502, 'unreachable', response => response.writeHead(500).end()],
    ['HTML', 502, 'invalid-card', response => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<html>')],
    ['an empty body', 502, 'invalid-card', response => json(response, '')],
    ['an array', 502, 'invalid-card', response => json(response, '[]')],
    ['null', 502, 'invalid-card', response => json(response, 'null')],
    ['NaN', 502, 'invalid-card', response => json(response, '{"name":NaN}')],
    ['no name', 502, 'invalid-card', response => json(response, '{"url":"https://a.example.com/a2a"}')],
    ['__proto__', 502, 'invalid-card', response => json(response, '{"name":"A","__proto__":{"x":1}}')],
    ['10,000 levels', 502, 'invalid-card', response => json(response, '['.repeat(10_000) + ']'.repeat(10_000))],
    ['a broken connection', 502, 'unreachable', response => void response.destroy()],
  ]

  it.each(failures)('is reported to its owner, and to clients as 502: %s', async (name, status, code, respond) => {
    const id = name
      .replace(/[\W_]+/g, '-')
      .toLowerCase()
      .replace(/^-+/, '')
    called.agent.respond(respond)
    expect((await put(id)).body).toMatchObject({ source: { state: 'no-card', failure: { code } } })
    const response = await get(id)
    expect([response.status, response.headers.get('Content-Type'), response.headers.get('Cache-Control')]).toEqual([
      status,
      'application/problem+json',
      'no-store',
    ])
    expect(response.text).not.toContain(called.agent.origin.slice('http://'.length))
  })

  it('does not affect other agents', async () => {
    await put('healthy')
    called.agent.respond(response => response.writeHead(500).end())
    await put('failed')
    expect([(await get('healthy')).status, (await get('failed')).status]).toEqual([200, 502])
  })

  it('blocks calls of the agent', async () => {
    called.agent.respond(response => response.writeHead(500).end())
    await put('no-card')
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const response = await called.send('/agents/no-card', { body: call })
    expect([response.status, response.body]).toEqual([
      502,
      { jsonrpc: '2.0', id: 1, error: expect.objectContaining({ code: -32603 }) },
    ])
  })

  it('is served once a refresh has fetched it', async () => {
    called.agent.respond(response => response.writeHead(500).end())
    await put('healing')
    serve(card)
    expect((await refresh('healing')).body).toMatchObject({ outcome: 'refreshed', source: { state: 'fresh' } })
    expect((await get('healing')).status).toBe(200)
  })

  it('leaves the card in place that was fetched before', async () => {
    await put('lasting')
    called.agent.respond(response => response.writeHead(500).end())
    expect((await put('lasting')).body).toMatchObject({ source: { state: 'stale', failure: { code: 'unreachable' } } })
    expect((await get('lasting')).status).toBe(200)
  })
})

describe('POST /agents/{id}/refresh', () => {
  it('registers the current card, and stores the drift in the revision', async () => {
    await put('drifting')
    serve({ ...card, description: 'Tells the weather of tomorrow' })
    const drift = [
      {
        op: 'replace',
        pointer: '/description',
        before: 'Tells the weather of any place',
        after: 'Tells the weather of tomorrow',
      },
    ]
    expect((await refresh('drifting')).body).toMatchObject({ outcome: 'refreshed', drift })
    expect(getBody(await get('drifting')).description).toBe('Tells the weather of tomorrow')
    expect(await revisions('drifting')).toMatchObject([{ by: 'fetch', drift }, { by: 'manifest' }])
  })

  it('sends the entity tag of the card, and accepts 304', async () => {
    serve(card, { ETag: '"one"' })
    await put('tagged')
    called.agent.respond((response, { headers }) =>
      response.writeHead(headers['if-none-match'] === '"one"' ? 304 : 500).end(),
    )
    expect((await refresh('tagged')).body).toMatchObject({ outcome: 'unchanged' })
  })

  it('returns 502 if the upstream is unreachable, and serves the card that was fetched before', async () => {
    await put('failing')
    called.agent.respond(response => void response.destroy())
    const response = await refresh('failing')
    expect([response.status, getBody(response).code]).toEqual([502, 'upstream-unreachable'])
    expect((await get('failing')).status).toBe(200)
  })

  it('accepts an upstream with another card each time', async () => {
    let count = 0
    called.agent.respond(response => json(response, JSON.stringify({ ...card, version: `1.0.${++count}` })))
    await put('changing')
    for (let time = 0; time < 5; time++) await refresh('changing')
    expect(getBody(await get('changing')).version).toBe(`1.0.${count}`)
  })

  it.each([
    ['an unknown agent', 'unknown', undefined, 404, 'agent-not-found'],
    ['an agent whose card is in its manifest', 'local-card', undefined, 409, 'no-source'],
    ['an entity tag without a pending card', 'fresh', { accept: '"x"' }, 412, 'not-pending'],
    ['a body with an unknown member', 'fresh', { take: true }, 422, 'invalid-refresh'],
  ])('rejects %s', async (_, id, body, status, code) => {
    await called.register('local-card', card)
    await put('fresh')
    const response = await refresh(id, body)
    expect([response.status, getBody(response).code]).toEqual([status, code])
  })

  it('requires the scope write for the agent', async () => {
    const { token: reader } = await called.issue({ scopes: ['read'] })
    expect((await called.send('/agents/fresh/refresh', { token: reader })).status).toBe(403)
  })
})

describe('a remote card that is older than its ttl', () => {
  /** Registers an agent whose card was fetched an hour ago. */
  const registerOutdated = async (id: string) => {
    const document = { upstream: { card: source } }
    const origins = { requestOrigin: called.host.url.origin }
    const result = compile(document, { id, ...origins, fetched: card })
    if ('errors' in result) throw new Error(JSON.stringify(result.errors))
    const { compiled } = result
    const known = {
      source: resolveSource(compiled.manifest.upstream) as Source,
      card: JSON.stringify(card),
      by: 'manifest',
    } as const
    const record = { ...known, checked: Date.now() - 3_600_000 }
    const registry = (await called.host.env()).REGISTRY.getByName('default')
    const agent = { id, document, manifest: compiled.manifest, origins }
    await registry.register(
      await prepareRemote(agent, { record, compiled }, withoutKeys, { actor: 'admin', expected: {} }),
      true,
    )
    serve({ ...card, version: '3.0.0' })
  }

  const getVersion = async (id: string) => getBody(await get(id)).version

  it('is fetched by the alarm, without a request', async () => {
    await registerOutdated('outdated')
    await vi.waitFor(() => expect(called.agent.requests).toHaveLength(1), { timeout: 10_000 })
    await expect.poll(() => getVersion('outdated'), { timeout: 10_000 }).toBe('3.0.0')
  })

  it('is served while it is being fetched', async () => {
    const requested = Promise.withResolvers<ServerResponse>()
    await registerOutdated('outdated-served')
    called.agent.respond(requested.resolve)
    expect(await getVersion('outdated-served')).toBe('2.0.0')
    const response = await requested.promise
    expect(await getVersion('outdated-served')).toBe('2.0.0')
    json(response, JSON.stringify({ ...card, version: '3.0.0' }))
    await expect.poll(() => getVersion('outdated-served')).toBe('3.0.0')
  })

  it('is fetched even if the card of another agent fails', async () => {
    await registerOutdated('failing-due')
    await registerOutdated('healthy-due')
    called.agent.respond((response, { url }) =>
      called.agent.requests.length === 1
        ? response.writeHead(503).end()
        : json(response, JSON.stringify({ ...card, version: url })),
    )
    await expect
      .poll(async () => (await Promise.all(['failing-due', 'healthy-due'].map(getVersion))).toSorted(), {
        timeout: 10_000,
      })
      .toEqual(['/.well-known/agent-card.json', '2.0.0'])
  })
})

describe('upstream.pin', () => {
  const manifest = { upstream: { pin: true } }
  const movedCard = () => agentCard('https://other.example.com')

  it('withholds a card that names another host, until its owner accepts it', async () => {
    await put('pinned', manifest)
    serve(movedCard())
    const { pending } = (await refresh('pinned')).body as { pending: { etag: string; widens: JsonObject[] } }
    expect(pending.widens).not.toEqual([])
    expect((await get('pinned')).text).toContain(called.agent.origin)
    expect((await refresh('pinned', { accept: pending.etag })).body).toMatchObject({ outcome: 'refreshed' })
    expect((await get('pinned')).text).toContain('other.example.com')
  })

  it('withholds it from a registration of the same manifest too', async () => {
    await put('pinned-again', manifest)
    serve(movedCard())
    expect((await put('pinned-again', manifest)).body).toMatchObject({ source: { state: 'pending' } })
    expect((await get('pinned-again')).text).toContain(called.agent.origin)
  })

  it('keeps the pending card while the upstream fails', async () => {
    await put('pinned-failing', manifest)
    serve(movedCard())
    await refresh('pinned-failing')
    called.agent.respond(response => response.writeHead(500).end())
    expect((await put('pinned-failing', manifest)).body).toMatchObject({ source: { state: 'stale', pending: {} } })
  })

  it('serves a card without widenings at once', async () => {
    await put('pinned-narrow', manifest)
    serve({ ...card, description: 'Tells the weather of tomorrow' })
    expect((await refresh('pinned-narrow')).body).toMatchObject({ outcome: 'refreshed' })
  })

  it('is true by default for an agent with a secret', async () => {
    const upstream = { secret: 'WEATHER_TOKEN' }
    await put('pinned-by-secret', { upstream })
    serve({ ...card, supportedInterfaces: agentCard(`${called.agent.origin}/other`).supportedInterfaces as Json })
    expect((await refresh('pinned-by-secret')).body).toMatchObject({ outcome: 'pending' })
    await put('pinned-by-secret', { upstream: { ...upstream, pin: false } })
    expect((await refresh('pinned-by-secret')).body).toMatchObject({ outcome: 'unchanged' })
  })

  it('is false by default for an agent without a secret', async () => {
    await put('unpinned-default')
    serve(movedCard())
    expect((await refresh('unpinned-default')).body).toMatchObject({ outcome: 'refreshed' })
  })
})

describe('a token with the scope write', () => {
  const securityMembers = {
    security: [{ key: [] }],
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } },
  }
  const withSecret = { secret: 'WEATHER_TOKEN', pin: true }
  let writer: string
  beforeAll(async () => {
    writer = (await called.issue({ scopes: ['write'] })).token
  })

  const putAs = (id: string, upstream: JsonObject, more: JsonObject = {}) =>
    called.send(`/agents/${id}`, {
      method: 'PUT',
      token: writer,
      body: { ...more, upstream: { card: source, ...upstream } },
    })
  const serveSecured = (upstream: JsonObject) => {
    serve({ ...card, ...securityMembers })
    return upstream
  }
  const forbidden = (reason: string) => [403, expect.stringContaining(reason)]
  const summarize = ({ status, body }: Received) => [status, (body as JsonObject).detail]

  it('cannot have a secret sent to a new address, not even to fetch the card', async () => {
    const response = await putAs('guarded', { secret: 'OTHER_TOKEN' })
    expect([response.status, called.agent.requests]).toEqual([403, []])
  })

  it.each<[string, JsonObject]>([
    ['its pin', { pin: false }],
    ['its pin to the default', { pin: undefined as never }],
    ["the agent's name on its host", { agentName: 'Other' }],
    ['its visible hosts', { mayShow: ['a.example.com'] }],
    ['its ttl', { ttl: 86_400 }],
  ])('cannot change an upstream with a secret: %s', async (_, change) => {
    await put('unpinned', { upstream: serveSecured(withSecret) })
    serve(card)
    expect(summarize(await putAs('unpinned', { ...withSecret, ...change }))).toEqual(
      forbidden('is not what is registered now'),
    )
    expect(summarize(await putAs('unpinned', withSecret))).toEqual([200, undefined])
  })

  it('cannot open a secret by a fetched card without security: the served card counts', async () => {
    const unpinned = { ...withSecret, pin: false }
    await put('opened', { upstream: serveSecured(unpinned) })
    serve(card)
    expect(summarize(await putAs('opened', unpinned))).toEqual(forbidden('card.securitySchemes has changed'))
    expect(summarize(await putAs('opened', unpinned, { card: { security: securityMembers.security } }))[0]).toBe(403)
  })

  it('cannot accept a pending card of an agent with a secret', async () => {
    await put('pending', { upstream: serveSecured(withSecret) })
    serve(card)
    const { pending } = (await refresh('pending')).body as { pending: { etag: string } }
    const request = { token: writer, body: { accept: pending.etag } }
    expect(summarize(await called.send('/agents/pending/refresh', request))).toEqual(forbidden('scope `admin`'))
    expect((await get('pending')).text).toContain('X-Key')
    expect((await refresh('pending', { accept: pending.etag })).body).toMatchObject({ outcome: 'refreshed' })
  })

  it('can accept a pending card of an agent without a secret', async () => {
    await put('pending-without-secret', { upstream: serveSecured({ pin: true }) })
    serve(card)
    const { pending } = (await refresh('pending-without-secret')).body as { pending: { etag: string } }
    const response = await called.send('/agents/pending-without-secret/refresh', {
      token: writer,
      body: { accept: pending.etag },
    })
    expect(response.body).toMatchObject({ outcome: 'refreshed' })
  })
})

describe('POST /agents/{id}/rollback to a remote card', () => {
  const rollback = (id: string, seq: number) => called.send(`/agents/${id}/rollback`, { token, body: { seq } })

  it('fetches the card again, which its upstream decides about', async () => {
    await put('back')
    await called.send('/agents/back', { method: 'PUT', token, body: { card } })
    serve({ ...card, name: 'Newer' })
    expect((await rollback('back', 1)).status).toBe(200)
    expect(getBody(await get('back')).name).toBe('Newer')
  })

  it('registers an upstream that is gone, and serves no card until it answers', async () => {
    await put('lost')
    await called.send('/agents/lost', { method: 'PUT', token, body: { card } })
    called.agent.respond(response => response.writeHead(503).end())
    expect(await rollback('lost', 1)).toMatchObject({ status: 200, body: { seq: 3, source: { state: 'no-card' } } })
    expect((await get('lost')).status).toBeGreaterThanOrEqual(502)
    expect((await rollback('lost', 2)).status).toBe(200)
    expect((await get('lost')).status).toBe(200)
  })
})
