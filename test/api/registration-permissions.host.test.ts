import { beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, sharedHost } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'

const host = sharedHost()
const send = senderTo(host)
let writer: string
beforeAll(async () => {
  writer = (await host.issue({ scopes: ['read', 'write'] })).token
})

/** Registers an agent with a token that has the scope `write`. */
const put = async (id: string, body: Json, headers: Record<string, string> = {}) => {
  const response = await send(`/agents/${id}`, { method: 'PUT', token: writer, headers, body })
  const { detail } = response.body as { detail?: string }
  return { status: response.status, detail, challenge: response.headers.get('www-authenticate') ?? undefined }
}
const accepted = { status: 200, detail: undefined }
const forbidden = (detail: string) => ({ status: 403, detail: expect.stringContaining(detail) })

describe('upstream.secret and upstream.service', () => {
  const url = 'https://mine.example.com/a2a'
  const manifest = (upstream: Record<string, Json>, card: object = {}) => ({
    card: { ...minimalCard, url, ...card } as JsonObject,
    upstream,
  })
  type Registered = { report: { issues: JsonObject[] } }
  const secret = { url: 'https://agent.example.com/a2a', secret: 'AGENT_TOKEN' }

  it('can only be set by an administrator', async () => {
    for (const upstream of [secret, { secret: 'AGENT_TOKEN' }, { service: 'AGENT' }])
      expect(await put('secret-new', manifest(upstream))).toMatchObject(forbidden('scope `admin`'))
    expect((await host.put('secret-new', manifest(secret))).status).toBe(201)
  })

  it('do not prevent other changes with the scope write', async () => {
    await host.put('secret-unchanged', manifest(secret))
    const described = manifest(secret, { description: 'Another description of the agent' })
    expect(await put('secret-unchanged', described)).toMatchObject(accepted)
    expect(await put('secret-unchanged', manifest({ url: secret.url }))).toMatchObject(accepted)
  })

  it('cannot be redirected with the scope write', async () => {
    await host.put('secret-redirected', manifest(secret))
    for (const upstream of [
      { ...secret, url: 'https://evil.example.com/a2a' },
      { ...secret, secret: 'OTHER_TOKEN' },
      { ...secret, service: 'OTHER' },
      { ...secret, card: 'https://evil.example.com/card.json' },
      // The URL of the card in place of `upstream.url`.
      { secret: 'AGENT_TOKEN' },
      { ...secret, agentName: 'Other' },
    ])
      expect(await put('secret-redirected', manifest(upstream)), JSON.stringify(upstream)).toMatchObject(
        forbidden('is not what is registered now'),
      )
  })

  it('cannot be redirected with the scope write, to another URL or tenant of the card', async () => {
    const withCard = (card: object) => manifest({ secret: 'AGENT_TOKEN' }, card)
    const withTenant = (tenant: string) =>
      withCard({ supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant }] })
    await host.put('secret-card-url', withCard({}))
    const redirected = withCard({ url: 'https://evil.example.com/a2a' })
    expect(await put('secret-card-url', redirected)).toMatchObject(forbidden('a different address'))
    expect(await put('secret-card-url', withCard({ version: '2.0.0' }))).toMatchObject(accepted)
    await host.put('secret-tenanted', withTenant('one'))
    expect(await put('secret-tenanted', withTenant('two'))).toMatchObject(forbidden('a different address'))
  })

  it('cannot be opened to other callers with the scope write', async () => {
    const schemes = {
      login: { type: 'openIdConnect', openIdConnectUrl: 'https://login.example.com/.well-known/openid-configuration' },
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    }
    const closed = manifest(secret, { securitySchemes: schemes, security: [{ key: [] }] })
    const withSchemes = (changes: object) => ({
      card: { ...closed.card, securitySchemes: { ...schemes, ...changes } } as JsonObject,
    })
    const evil = 'https://evil.example.com'
    const rows: [field: string, change: JsonObject][] = [
      ['card.securitySchemes', withSchemes({ key: { ...schemes.key, name: 'Y' } })],
      ['card.securitySchemes', withSchemes({ login: { ...schemes.login, openIdConnectUrl: evil } })],
      ['jwt', { jwt: { audience: evil } }],
      ['visibility', { visibility: 'internal' }],
      ['route', { route: 'closed' }],
      ['gate', { gate: { modes: 'off' } }],
    ]
    await host.put('secret-guarded', closed)
    for (const [field, change] of rows) {
      const reason = `upstream.secret would be available to other callers: ${field} has changed`
      const { status, detail } = await put('secret-guarded', { ...closed, ...change })
      expect([status, detail]).toEqual([403, expect.stringMatching(`^${reason}.*scope \`admin\``)])
    }
    const described = { ...closed, card: { ...closed.card, description: 'Another description' } }
    expect(await put('secret-guarded', described)).toMatchObject(accepted)
  })

  it('are reported where the host does not have them', async () => {
    const upstream = { secret: 'NO_SUCH_TOKEN', service: 'NO_SUCH_SERVICE' }
    const { report } = (await (await host.put('secret-missing', manifest(upstream))).json()) as Registered
    const warning = { rule: 'missing-binding', severity: 'warning' }
    const [noSecret, noService] = [
      'cannot be sent. This Worker has no secret "NO_SUCH_TOKEN". Run `npx wrangler secret put NO_SUCH_TOKEN`.',
      'names a service binding that this host does not have: add NO_SUCH_SERVICE to wrangler.toml, then deploy, or restart `npm start`',
    ]
    expect(report.issues.filter(({ rule }) => rule === 'missing-binding')).toEqual([
      { ...warning, pointer: '/upstream/secret', message: noSecret },
      { ...warning, pointer: '/upstream/service', message: noService },
    ])
  })

  it('are reported with the file of npm start under npm start', async () => {
    const response = await sharedHost('local').put('secret-missing-here', manifest({ secret: 'NO_SUCH_TOKEN' }))
    const { report } = (await response.json()) as Registered
    const message =
      'cannot be sent. This Worker has no secret "NO_SUCH_TOKEN". Write NO_SUCH_TOKEN=… into .dev.vars, and restart `npm start`.'
    expect(report.issues[0]).toMatchObject({ rule: 'missing-binding', message })
  })

  it('cannot be opened to anyone with the scope write, but to fewer callers', async () => {
    const guarded = manifest(secret, { security: [] })
    await host.put('secret-callers', guarded)
    const opened = 'upstream.secret would be available to other callers: callers would be anyone.'
    expect(await put('secret-callers', { ...guarded, callers: 'anyone' })).toMatchObject(forbidden(opened))
    expect((await host.put('secret-callers', { ...guarded, callers: 'anyone' })).status).toBe(200)
    expect(await put('secret-callers', { ...guarded, callers: 'tokens' })).toMatchObject(accepted)
    expect(await put('secret-callers', { ...guarded, callers: 'anyone' })).toMatchObject(forbidden(opened))
  })

  it('cannot be used for other calls with the scope write', async () => {
    const form = (protocolBinding: string, protocolVersion: string) => ({ url, protocolBinding, protocolVersion })
    const current = form('JSONRPC', '1.0')
    const declared = { streaming: false, pushNotifications: false, extensions: [{ uri: 'urn:a', required: true }] }
    const rows: [reason: string, interfaces: object[], capabilities: object][] = [
      ['the interface HTTP+JSON 1.0 is new', [current, form('HTTP+JSON', '1.0')], {}],
      ['the interface JSONRPC 0.3 is new', [current, form('JSONRPC', '0.3')], {}],
      ['card.capabilities.streaming is new', [current], { streaming: true }],
      ['card.capabilities.pushNotifications is new', [current], { pushNotifications: true }],
      [
        'an extension of card.capabilities.extensions is no longer required',
        [current],
        { extensions: [{ uri: 'urn:a', required: false }] },
      ],
    ]
    for (const [index, [reason, supportedInterfaces, changes]] of rows.entries()) {
      const manifestOf = (supportedInterfaces: object[], capabilities: object) =>
        manifest({ secret: 'AGENT_TOKEN' }, { url: undefined, supportedInterfaces, capabilities })
      const id = `secret-other-calls-${index}`
      await host.put(id, manifestOf([current], declared))
      const changed = manifestOf(supportedInterfaces, { ...declared, ...changes })
      expect(await put(id, changed)).toMatchObject(
        forbidden(`upstream.secret would be used for other calls: ${reason}`),
      )
      expect((await host.put(id, changed)).status).toBe(200)
      expect(await put(id, changed)).toMatchObject(accepted)
    }
  })

  it('do not hide that a precondition failed: 412', async () => {
    await host.put('secret-conditional', manifest(secret))
    expect((await put('secret-conditional', manifest(secret), { 'If-Match': '"old"' })).status).toBe(412)
  })
})

describe('a write whose permission depends on the registered manifest', () => {
  const url = 'https://mine.example.com/a2a'
  const withSecret = { card: { ...minimalCard, url }, upstream: { secret: 'AGENT_TOKEN' } }
  const withoutSecret = { card: { ...minimalCard, url } }
  const readTag = async (fetch: (path: string) => Promise<Response>) =>
    (await fetch('/agents/raced')).headers.get('ETag') ?? ''

  type Write = [method: string, path: string, body: Json, headers: Record<string, string>]
  const batch = (ifMatch: string) => ({ id: 'raced', manifest: withSecret, ifMatch })
  const writes: [string, (tag: string) => Write][] = [
    ['PUT', () => ['PUT', '/agents/raced', withSecret, {}]],
    ['PUT with the entity tag of the card', tag => ['PUT', '/agents/raced', withSecret, { 'If-Match': tag }]],
    ['PUT with any entity tag', () => ['PUT', '/agents/raced', withSecret, { 'If-Match': '*' }]],
    ['a rollback', tag => ['POST', '/agents/raced/rollback', { seq: 1 }, { 'If-Match': tag }]],
    ['a batch', tag => ['POST', '/agents:batch', batch(tag), { 'Content-Type': 'application/x-ndjson' }]],
  ]

  it.each(writes)('does not restore a secret that an administrator has just removed: by %s', async (_, write) => {
    const racing = await startNodeHost()
    const sendToRacing = senderTo(racing)
    await racing.put('raced', withSecret)
    const tag = await readTag(racing.fetch)
    const issued = await sendToRacing('/tokens', { token: adminToken, body: { scopes: ['write'], agents: ['raced'] } })
    const { token } = issued.body as { token: string }
    // The administrator's write is committed after the writer's permission was checked.
    let isRaced = false
    const registry = new Proxy(racing.registry, {
      get:
        (target, name) =>
        async (...values: unknown[]) => {
          const result = await Reflect.get(target, name).apply(target, values)
          if (name === 'manifest' && !isRaced) {
            isRaced = true
            await racing.put('raced', withoutSecret)
          }
          return result
        },
    })
    Object.assign(racing.env, { REGISTRY: { getByName: () => registry } })
    const [method, path, body, headers] = write(tag)
    const { text } = await sendToRacing(path, { method, token, headers, body })
    expect([isRaced, JSON.parse(text).status]).toEqual([true, 403])
    expect(await racing.registry.manifest('raced')).toMatchObject({ manifest: JSON.stringify(withoutSecret) })
    expect(await readTag(racing.fetch)).toBe(tag)
  })
})

describe('the host names of an agent', () => {
  const manifestWith = (...hosts: string[]) => ({ card: minimalCard, hosts })
  const refused = (name: string, id: string) => ({
    status: 403,
    challenge: 'Bearer realm="calling-card", error="insufficient_scope", scope="admin"',
    detail: `Assigning the hostname "${name}" to agent "${id}" requires a token with the scope \`admin\`.`,
  })

  it('can only be added by an administrator, whether free or taken', async () => {
    const [taken, secret] = ['taken.hosted.example.com', 'secret.hosted.example.com']
    await host.put('hosted-internal', { ...manifestWith(secret), visibility: 'internal' })
    await host.put('hosted-public', manifestWith(taken))
    for (const name of ['free.hosted.example.com', taken, secret, '127.0.0.1', '*'])
      expect(await put('hosted-new', manifestWith(name))).toEqual(refused(name, 'hosted-new'))
    expect((await host.fetch('/agents/hosted-new')).status).toBe(404)
  })

  it('can be kept and dropped with the scope write, but not taken back', async () => {
    const [one, two] = ['one.hosted.example.com', 'two.hosted.example.com']
    expect((await host.put('hosted-existing', manifestWith(one, two))).status).toBe(201)
    expect(await put('hosted-existing', manifestWith(one, two))).toMatchObject(accepted)
    expect(await put('hosted-existing', manifestWith(two))).toMatchObject(accepted)
    expect(await put('hosted-existing', manifestWith(one, two))).toEqual(refused(one, 'hosted-existing'))
  })
})
