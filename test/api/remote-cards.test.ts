import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { compile } from '../../src/card/compile/index.ts'
import { getSource, type Source } from '../../src/card/manifest/upstream.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { prepareRemote } from '../../src/sources/reconcile.ts'
import { type CalledHost, type Received, startCalledHost } from '../support/called-host.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'

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

/** Has the agent's host answer every request with a card. */
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
const members = ({ body }: Received) => body as JsonObject

describe('a manifest with upstream.card', () => {
  it('registers the card that is fetched, in whatever dialect it is', async () => {
    serve({ name: 'Tides', description: 'Tells the tides of any coast', url: 'https://tides.example.com/a2a' })
    expect((await put('tides')).status).toBe(201)
    expect(members(await get('tides', '?dialect=0.3'))).toMatchObject({
      name: 'Tides',
      url: 'https://tides.example.com/a2a',
    })
  })

  it('says where the card is from, and that it is fresh', async () => {
    const { body } = await put('fresh')
    expect(body).toMatchObject({ source: { kind: 'card', url: source, state: 'fresh' } })
  })

  it('lays what the owner says over it, skills by their ids', async () => {
    await put('overlaid', { card: { description: 'Better words', skills: [{ id: 'now', tags: ['rain'] }] } })
    expect(members(await get('overlaid', '?dialect=1.0'))).toMatchObject({
      name: 'Weather',
      description: 'Better words',
      skills: [{ id: 'now', name: 'Now', tags: ['rain'] }],
    })
  })

  it('hides where the agent is, behind the gateway', async () => {
    await put('hidden', { route: 'gateway' })
    const texts = await Promise.all(
      ['', '?dialect=1.0', '?dialect=0.3', '?dialect=gopherhole', '?dialect=superx', '?dialect=shaman'].map(
        async query => (await get('hidden', query)).text,
      ),
    )
    for (const text of texts) expect(text).not.toContain(called.agent.origin.slice('http://'.length))
    expect(texts[0]).toContain('/agents/hidden/a2a')
  })

  it('answers calls as any agent does', async () => {
    await put('callable', { route: 'gateway' })
    called.agent.respond(response =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"jsonrpc":"2.0","id":1,"result":{}}'),
    )
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    expect((await called.send('/agents/callable', { body: call })).body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  })

  it('never lays the card that was had over one that came meanwhile', async () => {
    await put('overtaken')
    const asked = Promise.withResolvers<ServerResponse>()
    called.agent.respond(asked.resolve)
    const writing = put('overtaken', { card: { version: '2.0.0' } })
    const unanswered = await asked.promise
    serve({ ...card, description: 'Tells newer weather' })
    expect((await refresh('overtaken')).body).toMatchObject({ outcome: 'refreshed' })
    const asksAgain: number[] = []
    called.agent.respond(response => {
      asksAgain.push(1)
      response.writeHead(500).end()
    })
    unanswered.writeHead(500).end()
    expect([(await writing).status, asksAgain]).toEqual([200, []])
    expect(members(await get('overtaken', '?dialect=1.0'))).toMatchObject({
      description: 'Tells newer weather',
      version: '2.0.0',
    })
  })

  it('makes no new revision of what is the same', async () => {
    await put('same')
    expect((await put('same')).body).toMatchObject({ changed: false })
    expect(await revisions('same')).toHaveLength(1)
  })

  it.each([
    ['http://169.254.169.254/latest/meta-data'],
    ['https://10.0.0.1/card.json'],
    ['https://card.internal/'],
    ['http://cards.example.com/'],
  ])('refuses an address that this host does not call, in the same words for each: %s', async url => {
    const came = await put('blocked', { upstream: { card: url } })
    expect([came.status, came.body]).toEqual([
      422,
      expect.objectContaining({
        errors: [
          {
            pointer: '/upstream/card',
            message: 'is not an address that this host calls: it calls public host names over https (docs/security.md)',
          },
        ],
      }),
    ])
  })

  it('refuses what is wrong in the manifest itself, and not in the card that came', async () => {
    const came = await put('own-fault', { card: { skills: [{ id: 'now', name: 7 }] } })
    expect(came.status).toBe(422)
  })
})

describe('a card that did not come', () => {
  const answers: [what: string, status: number, code: string, answer: Parameters<CalledHost['agent']['respond']>[0]][] =
    [
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

  it.each(answers)('is told to its owner, and to clients with %s as %i', async (what, status, code, answer) => {
    const id = what
      .replace(/[\W_]+/g, '-')
      .toLowerCase()
      .replace(/^-+/, '')
    called.agent.respond(answer)
    expect((await put(id)).body).toMatchObject({ source: { state: 'no-card', failure: { code } } })
    const came = await get(id)
    expect([came.status, came.headers.get('Content-Type'), came.headers.get('Cache-Control')]).toEqual([
      status,
      'application/problem+json',
      'no-store',
    ])
    expect(came.text).not.toContain(called.agent.origin.slice('http://'.length))
  })

  it('does not keep other agents from being served', async () => {
    await put('well')
    called.agent.respond(response => response.writeHead(500).end())
    await put('ill')
    expect([(await get('well')).status, (await get('ill')).status]).toEqual([200, 502])
  })

  it('lets no call pass', async () => {
    called.agent.respond(response => response.writeHead(500).end())
    await put('uncalled')
    const message = { messageId: '1', role: 'ROLE_USER', parts: [{ text: 'hello' }] }
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }
    const came = await called.send('/agents/uncalled', { body: call })
    expect([came.status, came.body]).toEqual([
      502,
      { jsonrpc: '2.0', id: 1, error: expect.objectContaining({ code: -32603 }) },
    ])
  })

  it('heals when it is asked for again', async () => {
    called.agent.respond(response => response.writeHead(500).end())
    await put('healing')
    serve(card)
    expect((await refresh('healing')).body).toMatchObject({ outcome: 'refreshed', source: { state: 'fresh' } })
    expect((await get('healing')).status).toBe(200)
  })

  it('leaves the card that came before in its place', async () => {
    await put('lasting')
    called.agent.respond(response => response.writeHead(500).end())
    expect((await put('lasting')).body).toMatchObject({ source: { state: 'stale', failure: { code: 'unreachable' } } })
    expect((await get('lasting')).status).toBe(200)
  })
})

describe('POST /agents/{id}/refresh', () => {
  it('registers what the source says now, and keeps how it has drifted', async () => {
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
    expect(members(await get('drifting')).description).toBe('Tells the weather of tomorrow')
    expect(await revisions('drifting')).toMatchObject([{ by: 'fetch', drift }, { by: 'manifest' }])
  })

  it('asks with the entity tag that came, and takes 304 for an answer', async () => {
    serve(card, { ETag: '"one"' })
    await put('tagged')
    called.agent.respond((response, { headers }) =>
      response.writeHead(headers['if-none-match'] === '"one"' ? 304 : 500).end(),
    )
    expect((await refresh('tagged')).body).toMatchObject({ outcome: 'unchanged' })
  })

  it.each([
    [
      '502 where the source cannot be reached',
      502,
      'upstream-unreachable',
      (r: { destroy: () => void }) => r.destroy(),
    ],
  ])('answers %s, and serves what came before', async (_, status, code, answer) => {
    await put('failing')
    called.agent.respond(answer as never)
    const came = await refresh('failing')
    expect([came.status, members(came).code]).toEqual([status, code])
    expect((await get('failing')).status).toBe(200)
  })

  it('bears a source that has another card each time', async () => {
    let count = 0
    called.agent.respond(response => json(response, JSON.stringify({ ...card, version: `1.0.${++count}` })))
    await put('restless')
    for (let time = 0; time < 5; time++) await refresh('restless')
    expect(members(await get('restless')).version).toBe(`1.0.${count}`)
  })

  it.each([
    ['no agent', 'nobody', undefined, 404, 'agent-not-found'],
    ['an agent whose card is in its manifest', 'written', undefined, 409, 'no-source'],
    ['a card that is not held', 'fresh', { accept: '"x"' }, 412, 'not-held'],
    ['a body that says something else', 'fresh', { take: true }, 422, 'invalid-refresh'],
  ])('of %s is refused', async (_, id, body, status, code) => {
    await called.register('written', card)
    await put('fresh')
    const came = await refresh(id, body)
    expect([came.status, members(came).code]).toEqual([status, code])
  })

  it('needs the scope write for the agent', async () => {
    const { token: reader } = await called.issue({ scopes: ['read'] })
    expect((await called.send('/agents/fresh/refresh', { token: reader })).status).toBe(403)
  })
})

describe('a card that is older than its ttl', () => {
  /** Registers an agent as it is an hour after its card was fetched. */
  const anHourAgo = async (id: string) => {
    const document = { upstream: { card: source } }
    const origins = { requestOrigin: called.host.url.origin }
    const made = compile(document, { id, ...origins, fetched: card })
    if ('errors' in made) throw new Error(JSON.stringify(made.errors))
    const { compiled } = made
    const known = {
      source: getSource(compiled.manifest.upstream) as Source,
      card: JSON.stringify(card),
      by: 'manifest',
    } as const
    const record = { ...known, checked: Date.now() - 3_600_000 }
    const registry = (await called.host.env()).REGISTRY.getByName('default')
    const agent = { id, document, manifest: compiled.manifest, origins }
    await registry.register(await prepareRemote(agent, { record, compiled }, {}), true)
    serve({ ...card, version: '3.0.0' })
  }

  const version = async (id: string) => members(await get(id)).version

  it('is fetched again when its alarm rings, without anybody asking for it', async () => {
    await anHourAgo('alarmed')
    await vi.waitFor(() => expect(called.agent.requests).toHaveLength(1), { timeout: 10_000 })
    await expect.poll(() => version('alarmed')).toBe('3.0.0')
  })

  it('is served while it is fetched again', async () => {
    const asked = Promise.withResolvers<ServerResponse>()
    await anHourAgo('asked-for')
    called.agent.respond(asked.resolve)
    expect(await version('asked-for')).toBe('2.0.0')
    const response = await asked.promise
    expect(await version('asked-for')).toBe('2.0.0')
    json(response, JSON.stringify({ ...card, version: '3.0.0' }))
    await expect.poll(() => version('asked-for')).toBe('3.0.0')
  })

  it('is fetched again though another one cannot be', async () => {
    await anHourAgo('failing-due')
    await anHourAgo('healthy-due')
    called.agent.respond((response, { url }) =>
      called.agent.requests.length === 1
        ? response.writeHead(503).end()
        : json(response, JSON.stringify({ ...card, version: url })),
    )
    await expect
      .poll(async () => (await Promise.all(['failing-due', 'healthy-due'].map(version))).toSorted(), {
        timeout: 10_000,
      })
      .toEqual(['/.well-known/agent-card.json', '2.0.0'])
  })
})

describe('pin: true', () => {
  const manifest = { upstream: { pin: true } }
  const wider = () => agentCard('https://elsewhere.example.com')

  it('holds a card back that names another host, until its owner accepts it', async () => {
    await put('pinned', manifest)
    serve(wider())
    const { held } = (await refresh('pinned')).body as { held: { etag: string; widens: JsonObject[] } }
    expect(held.widens).not.toEqual([])
    expect((await get('pinned')).text).toContain(called.agent.origin)
    expect((await refresh('pinned', { accept: held.etag })).body).toMatchObject({ outcome: 'refreshed' })
    expect((await get('pinned')).text).toContain('elsewhere.example.com')
  })

  it('holds it back from a registration of the same manifest too', async () => {
    await put('pinned-again', manifest)
    serve(wider())
    expect((await put('pinned-again', manifest)).body).toMatchObject({ source: { state: 'held' } })
    expect((await get('pinned-again')).text).toContain(called.agent.origin)
  })

  it('goes on holding it while the source cannot be read', async () => {
    await put('pinned-away', manifest)
    serve(wider())
    await refresh('pinned-away')
    called.agent.respond(response => response.writeHead(500).end())
    expect((await put('pinned-away', manifest)).body).toMatchObject({ source: { state: 'stale', held: {} } })
  })

  it('lets a card through that widens nothing', async () => {
    await put('pinned-narrow', manifest)
    serve({ ...card, description: 'Tells the weather of tomorrow' })
    expect((await refresh('pinned-narrow')).body).toMatchObject({ outcome: 'refreshed' })
  })

  it('is what there is where a secret is sent along', async () => {
    const upstream = { secret: 'WEATHER_TOKEN' }
    await put('pinned-by-secret', { upstream })
    serve({ ...card, supportedInterfaces: agentCard(`${called.agent.origin}/other`).supportedInterfaces as Json })
    expect((await refresh('pinned-by-secret')).body).toMatchObject({ outcome: 'held' })
    await put('pinned-by-secret', { upstream: { ...upstream, pin: false } })
    expect((await refresh('pinned-by-secret')).body).toMatchObject({ outcome: 'unchanged' })
  })

  it('holds nothing back without it', async () => {
    await put('loose')
    serve(wider())
    expect((await refresh('loose')).body).toMatchObject({ outcome: 'refreshed' })
  })
})

describe('a writer who is no admin', () => {
  const asked = { security: [{ key: [] }], securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } }
  const used = { secret: 'WEATHER_TOKEN', pin: true }
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
  const secured = (upstream: JsonObject) => {
    serve({ ...card, ...asked })
    return upstream
  }
  const refused = (said: string) => [403, expect.stringContaining(said)]
  const answerOf = ({ status, body }: Received) => [status, (body as JsonObject).detail]

  it('has no secret sent to where it has not gone before: not even for the card', async () => {
    const came = await putAs('guarded', { secret: 'OTHER_TOKEN' })
    expect([came.status, called.agent.requests]).toEqual([403, []])
  })

  it.each<[string, JsonObject]>([
    ['not held back any more', { pin: false }],
    ['held back by default alone', { pin: undefined as never }],
    ['called by another name', { agentName: 'Other' }],
    ['to show its hosts', { mayShow: ['a.example.com'] }],
    ['to be read less often', { ttl: 86_400 }],
  ])('does not have what uses a secret %s', async (_, change) => {
    await put('unpinned', { upstream: secured(used) })
    serve(card)
    expect(answerOf(await putAs('unpinned', { ...used, ...change }))).toEqual(refused('is not what is registered now'))
    expect(answerOf(await putAs('unpinned', used))).toEqual([200, undefined])
  })

  it('opens a secret to nobody by a card that asks for nothing any more: what is served counts', async () => {
    const loose = { ...used, pin: false }
    await put('opened', { upstream: secured(loose) })
    serve(card)
    expect(answerOf(await putAs('opened', loose))).toEqual(refused('card.security has changed'))
    expect(answerOf(await putAs('opened', loose, { card: { security: asked.security } }))[0]).toBe(403)
  })

  it('accepts no card that was held back, of an agent that uses a secret', async () => {
    await put('held', { upstream: secured(used) })
    serve(card)
    const { held } = (await refresh('held')).body as { held: { etag: string } }
    const accepting = { token: writer, body: { accept: held.etag } }
    expect(answerOf(await called.send('/agents/held/refresh', accepting))).toEqual(refused('scope `admin`'))
    expect((await get('held')).text).toContain('X-Key')
    expect((await refresh('held', { accept: held.etag })).body).toMatchObject({ outcome: 'refreshed' })
  })

  it('accepts one of any other agent', async () => {
    await put('held-bare', { upstream: secured({ pin: true }) })
    serve(card)
    const { held } = (await refresh('held-bare')).body as { held: { etag: string } }
    const came = await called.send('/agents/held-bare/refresh', { token: writer, body: { accept: held.etag } })
    expect(came.body).toMatchObject({ outcome: 'refreshed' })
  })
})
