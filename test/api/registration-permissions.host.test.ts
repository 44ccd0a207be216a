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
    // Without `upstream.url`, it is the URL of the card.
    for (const upstream of [{ ...secret, url: 'https://evil.example.com/a2a' }, { secret: 'AGENT_TOKEN' }])
      expect(await put('secret-redirected', manifest(upstream)), JSON.stringify(upstream)).toMatchObject(
        forbidden('is not what is registered now'),
      )
  })

  it('cannot be redirected with the scope write, to another URL of the card', async () => {
    const withCard = (card: object) => manifest({ secret: 'AGENT_TOKEN' }, card)
    await host.put('secret-card-url', withCard({}))
    const redirected = withCard({ url: 'https://evil.example.com/a2a' })
    expect(await put('secret-card-url', redirected)).toMatchObject(forbidden('a different address'))
    expect(await put('secret-card-url', withCard({ version: '2.0.0' }))).toMatchObject(accepted)
  })

  it('cannot be opened to other callers with the scope write', async () => {
    const closed = manifest(secret, { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Key' } } })
    await host.put('secret-guarded', closed)
    const { status, detail } = await put('secret-guarded', { ...closed, gate: { modes: 'off' } })
    const reason = 'upstream.secret would be available to other callers: gate has changed'
    expect([status, detail]).toEqual([403, expect.stringMatching(`^${reason}.*scope \`admin\``)])
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
    const taken = 'taken.hosted.example.com'
    await host.put('hosted-internal', { ...manifestWith(taken), visibility: 'internal' })
    for (const name of ['free.hosted.example.com', taken, '*'])
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
