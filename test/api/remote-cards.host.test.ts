import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { call } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { prepareDocument, sourceAt } from '../support/registrations.ts'
import { json, type Responder, reply } from '../support/upstream.ts'

let called: CalledHost
let card: JsonObject
let source: string

beforeAll(async () => {
  called = await useSharedHost()
  source = `${called.agent.origin}/.well-known/agent-card.json`
})
afterAll(() => called.close())
beforeEach(() => {
  card = agentCard(called.agent.origin)
  serve(card)
})

/** Makes the upstream respond to every request with a document, such as a card. */
const serve = (document: Json, headers: Record<string, string> = {}) =>
  called.agent.respond(reply(200, { ...json, ...headers }, JSON.stringify(document)))
/** Makes the upstream fail. */
const fail = (status = 500) => called.agent.respond(reply(status, {}, ''))

const put = async (id: string, manifest: JsonObject = {}, as = token) => {
  const upstream = { card: source, ...(manifest.upstream as JsonObject | undefined) }
  const { body, ...rest } = await called.send(`/agents/${id}`, {
    ...{ method: 'PUT', token: as, body: { ...manifest, upstream } },
  })
  return { ...rest, body: body as JsonObject }
}
const get = async (id: string, query = '') => {
  const response = await called.send(`/agents/${id}/.well-known/agent-card.json${query}`, { method: 'GET' })
  return { ...response, body: response.body as JsonObject }
}
type Refreshed = JsonObject & { pending: { etag: string; widens: JsonObject[] } }
const refresh = async (id: string, body?: Json, as = token) => {
  const response = await called.send(`/agents/${id}/refresh`, { token: as, ...(body !== undefined && { body }) })
  return { ...response, body: response.body as Refreshed }
}
const revisions = async (id: string) => {
  const { body } = await called.send(`/agents/${id}/revisions`, { method: 'GET', token })
  return (body as { revisions: JsonObject[] }).revisions
}

describe('PUT /agents/{id} with upstream.card', () => {
  it('registers the fetched card, in any dialect, and returns its source and the state', async () => {
    const tides = { name: 'Tides', url: 'https://tides.example.com/a2a' }
    serve({ ...tides, description: 'Tells the tides of any coast' })
    const { status, body } = await put('rc-tides')
    expect([status, body]).toMatchObject([201, { source: { kind: 'card', url: source, state: 'fresh' } }])
    expect((await get('rc-tides', '?dialect=0.3')).body).toMatchObject(tides)
  })

  it('does not replace a card that was fetched in the meantime', async () => {
    await put('rc-re-registered')
    const requested = Promise.withResolvers<ServerResponse>()
    called.agent.respond(requested.resolve)
    const registration = put('rc-re-registered', { card: { version: '2.0.0' } })
    const pending = await requested.promise
    serve({ ...card, description: 'Tells newer weather' })
    expect((await refresh('rc-re-registered')).body).toMatchObject({ outcome: 'refreshed' })
    let laterRequests = 0
    called.agent.respond(response => {
      laterRequests++
      response.writeHead(500).end()
    })
    pending.writeHead(500).end()
    expect([(await registration).status, laterRequests]).toEqual([200, 0])
    const served = { description: 'Tells newer weather', version: '2.0.0' }
    expect((await get('rc-re-registered', '?dialect=1.0')).body).toMatchObject(served)
  })

  it('serves no card with a secret, and tells the owner where it is', async () => {
    const secret = `sk-proj-${'aB3dE6gH9jK2mN5pQ8sT'}`
    serve({ ...card, description: secret })
    const { body, text } = await put('rc-with-secret')
    expect(body).toMatchObject({ source: { state: 'no-card', failure: { errors: [{ pointer: '/description' }] } } })
    expect([(await get('rc-with-secret')).status, text]).toEqual([502, expect.not.stringContaining(secret)])
    serve(card)
    await refresh('rc-with-secret')
    serve({ ...card, description: secret })
    const refused = await refresh('rc-with-secret')
    expect([refused.status, refused.body]).toMatchObject([502, { code: 'upstream-invalid-card' }])
    expect(refused.text).not.toContain(secret)
    expect((await get('rc-with-secret', '?dialect=1.0')).body).toMatchObject({ description: card.description })
    await put('rc-with-secret', { allowSecrets: ['/description'] })
    expect((await get('rc-with-secret', '?dialect=1.0')).body).toMatchObject({ description: secret })
  })

  it('rejects URLs that this host does not call, with the same reason for each', async () => {
    const reason = /^is not an address that this host calls: it calls public host names over https\. /
    for (const url of ['http://169.254.169.254/latest/meta-data', 'http://cards.example.com/']) {
      const errors = [{ pointer: '/upstream/card', message: expect.stringMatching(reason) }]
      expect(await put('rc-blocked', { upstream: { card: url } })).toMatchObject({ status: 422, body: { errors } })
    }
  })
})

describe('a remote card that cannot be fetched', () => {
  it('is reported to its owner, and to clients as 502', async () => {
    const failures: [code: string, respond: Responder][] = [
      ['unreachable', reply(404, {}, '')],
      ['invalid-card', reply(200, json, '{"url":"https://a.example.com/a2a"}')],
    ]
    for (const [index, [code, respond]] of failures.entries()) {
      called.agent.respond(respond)
      const { body } = await put(`rc-unfetched-${index}`)
      expect(body).toMatchObject({ source: { state: 'no-card', failure: { code } } })
      const { status, headers, text } = await get(`rc-unfetched-${index}`)
      expect([status, headers.get('Content-Type'), headers.get('Cache-Control')]).toEqual([
        ...[502, 'application/problem+json', 'no-store'],
      ])
      expect(text).not.toContain(called.agent.origin.slice('http://'.length))
    }
  })

  it('blocks calls of the agent', async () => {
    fail()
    await put('rc-no-card')
    const response = await called.send('/agents/rc-no-card', { body: call() })
    const error = { code: -32603, message: expect.any(String) }
    expect([response.status, response.body]).toMatchObject([502, { jsonrpc: '2.0', id: 7, error }])
  })

  it('leaves the card in place that was fetched before', async () => {
    await put('rc-lasting')
    fail()
    const stale = { source: { state: 'stale', failure: { code: 'unreachable' } } }
    expect((await put('rc-lasting')).body).toMatchObject(stale)
    const detail = expect.stringContaining('The card that was served before, if any, is still served.')
    expect(await refresh('rc-lasting')).toMatchObject({ status: 502, body: { code: 'upstream-unreachable', detail } })
    expect((await get('rc-lasting')).status).toBe(200)
  })
})

describe('POST /agents/{id}/refresh', () => {
  it('registers the current card, and stores the drift in the revision', async () => {
    await put('rc-drifting')
    serve({ ...card, description: 'Tells the weather of tomorrow' })
    const [before, after] = ['Tells the weather of any place', 'Tells the weather of tomorrow']
    const drift = [{ op: 'replace', pointer: '/description', before, after }]
    expect((await refresh('rc-drifting')).body).toMatchObject({ outcome: 'refreshed', drift })
    expect((await get('rc-drifting')).body.description).toBe('Tells the weather of tomorrow')
    expect(await revisions('rc-drifting')).toMatchObject([{ by: 'fetch', drift }, { by: 'manifest' }])
  })

  it('rejects what it cannot refresh', async () => {
    await called.register('rc-local-card', card)
    await put('rc-fresh')
    for (const [id, body, status, code] of [
      ['rc-unknown', undefined, 404, 'agent-not-found'],
      ['rc-local-card', undefined, 409, 'no-source'],
      ['rc-fresh', { accept: '"x"' }, 412, 'not-pending'],
      ['rc-fresh', { take: true }, 422, 'invalid-refresh'],
    ] as const)
      expect(await refresh(id, body)).toMatchObject({ status, body: { code } })
    const { text } = await refresh('rc-fresh', { accept: '"x"' })
    expect(text).toContain('GET /agents/rc-fresh/source shows the pending card.')
  })
})

describe('a remote card that is older than its ttl', () => {
  /** Registers an agent whose card was fetched an hour ago. */
  const registerOutdated = async (id: string) => {
    const record = {
      source: sourceAt(source),
      ...{ card: JSON.stringify(card), by: 'manifest' as const, checked: Date.now() - 3_600_000 },
    }
    const context = { id, requestOrigin: called.host.url.origin }
    const registration = await prepareDocument({ upstream: { card: source } }, context, { fetched: card, record })
    const registry = (await called.host.env()).REGISTRY.getByName('default')
    await registry.register(registration, true)
    serve({ ...card, version: '3.0.0' })
  }

  const getVersion = async (id: string) => (await get(id)).body.version

  it('is fetched by the alarm, without a request', async () => {
    await registerOutdated('rc-outdated')
    await vi.waitFor(() => expect(called.agent.requests).toHaveLength(1), { timeout: 10_000 })
    await expect.poll(() => getVersion('rc-outdated'), { timeout: 10_000 }).toBe('3.0.0')
  })
})

describe('upstream.pin', () => {
  const manifest = { upstream: { pin: true } }
  const movedCard = () => agentCard('https://other.example.com')

  it('withholds a card that names another host, until its owner accepts it', async () => {
    await put('rc-pinned', manifest)
    serve(movedCard())
    const { pending } = (await refresh('rc-pinned')).body
    expect(pending.widens).not.toEqual([])
    expect((await get('rc-pinned')).text).toContain(called.agent.origin)
    expect((await refresh('rc-pinned', { accept: pending.etag })).body).toMatchObject({ outcome: 'refreshed' })
    expect((await get('rc-pinned')).text).toContain('other.example.com')
  })

  it('withholds it from a registration of the same manifest too', async () => {
    await put('rc-pinned-again', manifest)
    serve(movedCard())
    expect((await put('rc-pinned-again', manifest)).body).toMatchObject({ source: { state: 'pending' } })
    expect((await get('rc-pinned-again')).text).toContain(called.agent.origin)
  })
})

describe('a token with the scope write', () => {
  const security = [{ key: [] }]
  const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } }
  const withSecret = { secret: 'AGENT_TOKEN', pin: true }
  let writer: string
  beforeAll(async () => {
    writer = (await called.issue({ scopes: ['write'] })).token
  })

  const putAs = (id: string, upstream: JsonObject, more: JsonObject = {}) => put(id, { ...more, upstream }, writer)
  /** Registers an agent whose card has security schemes. */
  const putSecured = async (id: string, upstream: JsonObject) => {
    serve({ ...card, security, securitySchemes })
    await put(id, { upstream })
    serve(card)
  }
  const forbidden = (reason: string) => ({ status: 403, body: { detail: expect.stringContaining(reason) } })

  it('cannot have a secret sent to a new address, not even to fetch the card', async () => {
    const response = await putAs('rc-guarded', { secret: 'OTHER_TOKEN' })
    expect([response.status, called.agent.requests]).toEqual([403, []])
  })

  it('cannot change an upstream with a secret', async () => {
    await putSecured('rc-unpinned', withSecret)
    for (const change of [{ pin: false }, { agentName: 'Other' }, { ttl: 86_400 }])
      expect(await putAs('rc-unpinned', { ...withSecret, ...change })).toMatchObject(
        forbidden('is not what is registered now'),
      )
    expect((await putAs('rc-unpinned', withSecret)).status).toBe(200)
  })

  it('cannot open a secret by a fetched card without security: the served card counts', async () => {
    const unpinned = { ...withSecret, pin: false }
    await putSecured('rc-opened', unpinned)
    expect(await putAs('rc-opened', unpinned)).toMatchObject(forbidden('card.securitySchemes has changed'))
    expect((await putAs('rc-opened', unpinned, { card: { security } })).status).toBe(403)
  })

  it('cannot change an agent with a secret whose card was never fetched, so that nothing can be compared', async () => {
    fail()
    await put('rc-never-fetched', { upstream: withSecret })
    expect(await putAs('rc-never-fetched', withSecret, { visibility: 'internal' })).toMatchObject(
      forbidden('belongs to an agent whose card was never fetched'),
    )
    expect((await putAs('rc-never-fetched', withSecret)).status).toBe(200)
  })

  it('cannot accept a pending card of an agent with a secret', async () => {
    await putSecured('rc-pending', withSecret)
    const { pending } = (await refresh('rc-pending')).body
    expect(await refresh('rc-pending', { accept: pending.etag }, writer)).toMatchObject(
      forbidden('accepting its pending card requires a token with the scope `admin`'),
    )
    expect((await get('rc-pending')).text).toContain('X-Key')
    expect((await refresh('rc-pending', { accept: pending.etag })).body).toMatchObject({ outcome: 'refreshed' })
  })
})

describe('POST /agents/{id}/rollback to a remote card', () => {
  const rollback = (id: string, seq: number) => called.send(`/agents/${id}/rollback`, { token, body: { seq } })

  it('registers an upstream that is gone, and serves no card until it answers', async () => {
    await put('rc-lost')
    await called.send('/agents/rc-lost', { method: 'PUT', token, body: { card } })
    fail(503)
    expect(await rollback('rc-lost', 1)).toMatchObject({ status: 200, body: { seq: 3, source: { state: 'no-card' } } })
    expect((await get('rc-lost')).status).toBeGreaterThanOrEqual(502)
    expect((await rollback('rc-lost', 2)).status).toBe(200)
    expect((await get('rc-lost')).status).toBe(200)
  })
})
