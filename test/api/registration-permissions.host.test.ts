import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { nextAddress } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { sharedHost } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'

const host = sharedHost()

const issue = async (scopes: string[], agents = ['*']): Promise<string> => (await host.issue({ scopes, agents })).token

/** Registers an agent with a token that has the scope `write`. */
const putAsWriter = async (id: string, document: Json, headers: Record<string, string> = {}) => {
  const response = await host.fetch(`/agents/${id}`, {
    method: 'PUT',
    headers: {
      Authorization: `Bearer ${await issue(['read', 'write'])}`,
      'Content-Type': 'application/json',
      'CF-Connecting-IP': nextAddress(),
      ...headers,
    },
    body: JSON.stringify(document),
  })
  const { detail = '' } = (await response.json()) as { detail?: string }
  return { status: response.status, detail, challenge: response.headers.get('www-authenticate') }
}

describe('upstream.secret and upstream.service', () => {
  const manifest = (upstream: Record<string, Json>, card: object = {}): Json => ({
    card: { ...minimalCard, url: 'https://mine.example.com/a2a', ...card } as Json,
    upstream,
  })
  const put = async (id: string, document: Json) => {
    const { status, detail } = await putAsWriter(id, document)
    return [status, detail]
  }
  const secret = { url: 'https://agent.example.com/a2a', secret: 'AGENT_TOKEN' }

  it('can only be set by an administrator', async () => {
    for (const upstream of [secret, { secret: 'AGENT_TOKEN' }, { service: 'AGENT' }])
      expect(await put('secret-named', manifest(upstream))).toEqual([403, expect.stringContaining('scope `admin`')])
    expect((await host.put('secret-named', manifest(secret))).status).toBe(201)
  })

  it('do not prevent other changes with the scope write', async () => {
    await host.put('secret-unchanged', manifest(secret))
    expect(
      await put('secret-unchanged', manifest(secret, { description: 'Another description of the agent' })),
    ).toEqual([200, ''])
    expect(await put('secret-unchanged', manifest({ url: 'https://agent.example.com/a2a' }))).toEqual([200, ''])
  })

  it.each<[string, Record<string, Json>]>([
    ['another URL', { ...secret, url: 'https://evil.example.com/a2a' }],
    ['the secret of another agent', { ...secret, secret: 'OTHER_TOKEN' }],
    ['a service binding', { ...secret, service: 'OTHER' }],
    ['another URL for the card', { ...secret, card: 'https://evil.example.com/card.json' }],
    ['the URL of the card in place of upstream.url', { secret: 'AGENT_TOKEN' }],
  ])('cannot be redirected with the scope write, to %s', async (name, upstream) => {
    const id = `secret-${name.toLowerCase().replace(/[^a-z]+/g, '-')}`
    await host.put(id, manifest(secret))
    expect(await put(id, manifest(upstream))).toEqual([403, expect.stringContaining('is not what is registered now')])
  })

  it('cannot be redirected with the scope write, to another URL of the card', async () => {
    await host.put('secret-card-url', manifest({ secret: 'AGENT_TOKEN' }))
    expect(
      await put('secret-card-url', manifest({ secret: 'AGENT_TOKEN' }, { url: 'https://evil.example.com/a2a' })),
    ).toEqual([403, expect.stringContaining('a different address')])
    expect(await put('secret-card-url', manifest({ secret: 'AGENT_TOKEN' }, { version: '2.0.0' }))).toEqual([200, ''])
  })

  const schemes = {
    login: { type: 'openIdConnect', openIdConnectUrl: 'https://login.example.com/.well-known/openid-configuration' },
    key: { type: 'apiKey', in: 'header', name: 'X-Key' },
  }
  const closed = { ...(manifest(secret, { securitySchemes: schemes, security: [{ key: [] }] }) as JsonObject) }
  const card = closed.card as JsonObject
  it.each<[string, JsonObject]>([
    [
      'card.securitySchemes',
      { card: { ...card, securitySchemes: { ...schemes, key: { ...schemes.key, name: 'Y' } } } },
    ],
    [
      'card.securitySchemes',
      {
        card: {
          ...card,
          securitySchemes: { ...schemes, login: { ...schemes.login, openIdConnectUrl: 'https://evil.example.com' } },
        },
      },
    ],
    ['jwt', { jwt: { audience: 'https://evil.example.com' } }],
    ['visibility', { visibility: 'internal' }],
    ['route', { route: 'closed' }],
    ['gate', { gate: { modes: 'off' } }],
  ])('cannot be opened to other callers with the scope write: %s with %j', async (field, change) => {
    await host.put('secret-guarded', closed)
    expect(await put('secret-guarded', { ...closed, ...change })).toEqual([
      403,
      expect.stringMatching(
        `^upstream.secret would be available to other callers: ${field} has changed.*scope \`admin\``,
      ),
    ])
    expect(await put('secret-guarded', { ...closed, card: { ...card, description: 'Another description' } })).toEqual([
      200,
      '',
    ])
  })

  it('are reported where the host does not have them', async () => {
    const upstream = { secret: 'NO_SUCH_TOKEN', service: 'NO_SUCH_SERVICE' }
    const response = await host.put('secret-missing', manifest(upstream))
    const { report } = (await response.json()) as { report: { issues: JsonObject[] } }
    expect(report.issues.filter(({ rule }) => rule === 'missing-binding')).toEqual([
      {
        rule: 'missing-binding',
        severity: 'warning',
        pointer: '/upstream/secret',
        message:
          'cannot be sent. This Worker has no secret "NO_SUCH_TOKEN". Run `npx wrangler secret put NO_SUCH_TOKEN`.',
      },
      {
        rule: 'missing-binding',
        severity: 'warning',
        pointer: '/upstream/service',
        message:
          'names a service binding that this host does not have: add NO_SUCH_SERVICE to wrangler.toml, then deploy, or restart `npm start`',
      },
    ])
  })

  it('are reported with the file of npm start under npm start', async () => {
    const response = await sharedHost('local').put('secret-missing-here', manifest({ secret: 'NO_SUCH_TOKEN' }))
    const { report } = (await response.json()) as { report: { issues: JsonObject[] } }
    expect(report.issues[0]).toMatchObject({
      rule: 'missing-binding',
      message:
        'cannot be sent. This Worker has no secret "NO_SUCH_TOKEN". Write NO_SUCH_TOKEN=… into .dev.vars, and restart `npm start`.',
    })
  })

  it('cannot be opened to anyone with the scope write, but to fewer callers', async () => {
    const guarded = manifest(secret, { security: [] }) as JsonObject
    await host.put('secret-callers', guarded)
    expect(await put('secret-callers', { ...guarded, callers: 'anyone' })).toEqual([
      403,
      expect.stringContaining('upstream.secret would be available to other callers: callers would be anyone.'),
    ])
    expect((await host.put('secret-callers', { ...guarded, callers: 'anyone' })).status).toBe(200)
    expect(await put('secret-callers', { ...guarded, callers: 'tokens' })).toEqual([200, ''])
    expect(await put('secret-callers', { ...guarded, callers: 'anyone' })).toEqual([403, expect.any(String)])
  })

  it.each<[string, JsonObject]>([
    [
      'the interface HTTP+JSON 1.0 is new',
      {
        supportedInterfaces: ['JSONRPC', 'HTTP+JSON'].map(protocolBinding => ({
          protocolBinding,
          protocolVersion: '1.0',
        })),
      },
    ],
    [
      'the interface JSONRPC 0.3 is new',
      { supportedInterfaces: ['1.0', '0.3'].map(protocolVersion => ({ protocolBinding: 'JSONRPC', protocolVersion })) },
    ],
    ['card.capabilities.streaming is new', { capabilities: { streaming: true } }],
    ['card.capabilities.pushNotifications is new', { capabilities: { pushNotifications: true } }],
    [
      'an extension of card.capabilities.extensions is no longer required',
      { capabilities: { extensions: [{ uri: 'urn:a', required: false }] } },
    ],
  ])('cannot be used for other calls with the scope write: %s', async (reason, change) => {
    const url = 'https://mine.example.com/a2a'
    const interfaces = (change.supportedInterfaces ?? [
      { protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ]) as JsonObject[]
    const declared = { streaming: false, pushNotifications: false, extensions: [{ uri: 'urn:a', required: true }] }
    const manifestOf = (supportedInterfaces: JsonObject[], capabilities = {}) =>
      manifest(
        { secret: 'AGENT_TOKEN' },
        {
          url: undefined,
          supportedInterfaces: supportedInterfaces.map(each => ({ url, ...each })),
          capabilities: { ...declared, ...capabilities },
        },
      )
    const id = `secret-${reason.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`.slice(0, 60)
    await host.put(id, manifestOf(interfaces.slice(0, 1)))
    const changed = manifestOf(interfaces, change.capabilities as JsonObject)
    expect(await put(id, changed)).toEqual([
      403,
      expect.stringMatching(
        new RegExp(`^upstream.secret would be used for other calls: ${reason.replace('+', '.')}.*admin`),
      ),
    ])
    expect((await host.put(id, changed)).status).toBe(200)
    expect(await put(id, changed)).toEqual([200, ''])
  })

  it('cannot be used for another agent at the same URL', async () => {
    const manifestFor = (agentName: string) => ({
      card: { ...minimalCard, url: 'https://mine.example.com' },
      upstream: { secret: 'MINE_TOKEN', agentName },
    })
    await host.put('secret-named', manifestFor('One'))
    expect(await put('secret-named', manifestFor('Two'))).toEqual([
      403,
      expect.stringContaining('is not what is registered now'),
    ])
  })

  it('cannot be used for another tenant', async () => {
    const manifestOf = (tenant: string) =>
      manifest(
        { secret: 'AGENT_TOKEN' },
        {
          supportedInterfaces: [
            { url: 'https://mine.example.com', protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant },
          ],
        },
      )
    await host.put('secret-tenanted', manifestOf('one'))
    expect(await put('secret-tenanted', manifestOf('two'))).toEqual([
      403,
      expect.stringContaining('a different address'),
    ])
  })

  it('do not hide that a precondition failed: 412', async () => {
    await host.put('secret-conditional', manifest(secret))
    expect((await putAsWriter('secret-conditional', manifest(secret), { 'If-Match': '"old"' })).status).toBe(412)
  })
})

describe('a write whose permission depends on the registered manifest', () => {
  const url = 'https://mine.example.com/a2a'
  const withSecret = { card: { ...minimalCard, url }, upstream: { secret: 'AGENT_TOKEN' } }
  const withoutSecret = { card: { ...minimalCard, url } }
  const readTag = async (fetch: (path: string) => Promise<Response>) =>
    (await fetch('/agents/raced')).headers.get('ETag') ?? ''

  type Write = (tag: string) => [method: string, path: string, body: Json, headers?: Record<string, string>]
  const batch: Write = tag => [
    ...(['POST', '/agents:batch', { id: 'raced', manifest: withSecret, ifMatch: tag }] as const),
    { 'Content-Type': 'application/x-ndjson' },
  ]
  it.each<[string, Write]>([
    ['by PUT', () => ['PUT', '/agents/raced', withSecret]],
    ['by PUT with the entity tag of the card', tag => ['PUT', '/agents/raced', withSecret, { 'If-Match': tag }]],
    ['by PUT with any entity tag', () => ['PUT', '/agents/raced', withSecret, { 'If-Match': '*' }]],
    ['by a rollback', tag => ['POST', '/agents/raced/rollback', { seq: 1 }, { 'If-Match': tag }]],
    ['by a batch', batch],
  ])('does not restore a secret that an administrator has just removed: %s', async (_, write) => {
    const racing = await startNodeHost()
    await racing.put('raced', withSecret)
    const tag = await readTag(racing.fetch)
    const issued = await racing.fetch('/tokens', {
      method: 'POST',
      headers: { Authorization: `Bearer ${racing.env.ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ scopes: ['write'], agents: ['raced'], note: '', tiers: [], expires: null }),
    })
    const { token } = (await issued.json()) as { token: string }
    // The administrator's write is committed after the writer's permission was checked.
    let isRaced = false
    const registry = new Proxy(racing.registry, {
      get:
        (target, name) =>
        async (id: string, ...rest: never[]) => {
          const result = await (target as unknown as Record<string | symbol, (...values: unknown[]) => unknown>)[
            name
          ]?.(id, ...rest)
          if (name === 'manifest' && !isRaced) {
            isRaced = true
            await racing.put('raced', withoutSecret)
          }
          return result
        },
    })
    Object.assign(racing.env, { REGISTRY: { getByName: () => registry } })
    const [method, path, body, headers] = write(tag)
    const response = await racing.fetch(path, {
      method,
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    expect([isRaced, ((await response.json()) as { status: number }).status]).toEqual([true, 403])
    expect(await racing.registry.manifest('raced')).toMatchObject({ manifest: JSON.stringify(withoutSecret) })
    expect(await readTag(racing.fetch)).toBe(tag)
  })
})

describe('the host names of an agent', () => {
  const manifestWith = (...hosts: string[]): Json => ({ card: minimalCard, hosts })
  const put = async (id: string, document: Json) => {
    const { status, challenge, detail } = await putAsWriter(id, document)
    return [status, challenge, detail]
  }
  const forbidden = (name: string, id: string) => [
    403,
    'Bearer realm="calling-card", error="insufficient_scope", scope="admin"',
    `Assigning the hostname "${name}" to agent "${id}" requires a token with the scope \`admin\`.`,
  ]

  it.each([
    ['free.hosted.example.com'],
    ['taken.hosted.example.com'],
    ['secret.hosted.example.com'],
    ['127.0.0.1'],
    ['*'],
  ])('can only be added by an administrator, whether free or taken: %s', async name => {
    await host.put('hosted-internal', {
      card: minimalCard,
      visibility: 'internal',
      hosts: ['secret.hosted.example.com'],
    })
    await host.put('hosted-public', manifestWith('taken.hosted.example.com'))
    expect(await put('hosted-new', manifestWith(name))).toEqual(forbidden(name, 'hosted-new'))
    expect((await host.fetch('/agents/hosted-new')).status).toBe(404)
  })

  it('can be kept and dropped with the scope write, but not taken back', async () => {
    const [one, two] = ['one.hosted.example.com', 'two.hosted.example.com']
    expect((await host.put('hosted-existing', manifestWith(one, two))).status).toBe(201)
    expect(await put('hosted-existing', manifestWith(one, two))).toEqual([200, null, ''])
    expect(await put('hosted-existing', manifestWith(two))).toEqual([200, null, ''])
    expect(await put('hosted-existing', manifestWith(one, two))).toEqual(forbidden(one, 'hosted-existing'))
  })
})
