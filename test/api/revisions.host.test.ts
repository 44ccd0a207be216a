import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { readEvents } from '../support/event-stream.ts'
import { sharedHost, token } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'

const host = sharedHost()
const bearer = { Authorization: `Bearer ${token}` }
type Body = JsonObject & { changes: { message: string; class: string; tier?: string }[]; revisions: JsonObject[] }

const get = async (path: string, headers: Record<string, string> = bearer) => {
  const response = await host.fetch(path, { headers })
  return { status: response.status, body: (await response.json()) as Body }
}
const rollback = async (id: string, body: Json, headers: Record<string, string> = bearer) => {
  const response = await host.fetch(`/agents/${id}/rollback`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Body, etag: response.headers.get('etag') ?? '' }
}
const remove = (id: string) => host.fetch(`/agents/${id}`, { method: 'DELETE', headers: bearer })

/** Returns a function that sends requests about an agent to a host of its own, under any name of that host. */
const startSender = async (id: string) => {
  const host = await startNodeHost({})
  const headers = { ...bearer, 'Content-Type': 'application/json' }
  return async (method: string, origin: string, path: string, document: Json) => {
    const body = JSON.stringify(document)
    const response = await host.fetch(new Request(`${origin}/agents/${id}${path}`, { method, headers, body }))
    return { status: response.status, body: (await response.json()) as Body }
  }
}

const skill = (id: string, more: JsonObject = {}) => ({ id, name: id, description: 'D', tags: ['t'], ...more })
const one = {
  ...minimalCard,
  name: 'One',
  version: '1.0.0',
  skills: [skill('forecast', { inputModes: ['image/png', 'text/plain'] })],
}
const two = { ...one, name: 'Two', skills: [skill('forecast', { inputModes: ['text/plain'] })] }
const three = { ...two, skills: [...two.skills, skill('history')] }
const putAll = async (id: string, ...documents: JsonObject[]) => {
  for (const document of documents) expect((await host.put(id, document)).status).toBeLessThan(300)
}

describe('GET /agents/{id}/revisions', () => {
  it('has the author and the class of every revision', async () => {
    await putAll('rev-list', one, two)
    const issued = await host.issue({ scopes: ['write'], agents: ['rev-list'] })
    await host.put('rev-list', three, { Authorization: `Bearer ${issued.token}` })
    await remove('rev-list')
    await putAll('rev-list', one)
    const created = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    expect((await get('/agents/rev-list/revisions')).body.revisions).toStrictEqual([
      { seq: 5, by: 'manifest', author: 'admin', created },
      { seq: 4, by: 'removal', author: 'admin', created },
      { seq: 3, by: 'manifest', author: issued.id, class: 'additive', created },
      { seq: 2, by: 'manifest', author: 'admin', class: 'breaking', created },
      { seq: 1, by: 'manifest', author: 'admin', created },
    ])
  })
})

describe('GET /agents/{id}/revisions/{seq}', () => {
  it('returns the manifest and the card of that time, also of a removed agent', async () => {
    await putAll('rev-one', one, { card: two, visibility: 'internal' })
    await remove('rev-one')
    const [first, second, third] = await Promise.all([1, 2, 3].map(seq => get(`/agents/rev-one/revisions/${seq}`)))
    expect(first?.body).toMatchObject({ id: 'rev-one', seq: 1, by: 'manifest', author: 'admin', manifest: one })
    expect(first?.body.card).toMatchObject({ name: 'One', supportedInterfaces: [{ protocolBinding: 'JSONRPC' }] })
    expect(second?.body).toMatchObject({ seq: 2, manifest: { visibility: 'internal' }, card: { name: 'Two' } })
    expect([third?.status, third?.body]).toMatchObject([200, { seq: 3, by: 'removal' }])
    expect(third?.body).not.toHaveProperty('manifest')
    expect(third?.body).not.toHaveProperty('card')
  })

  it.each(['7', '0', '-1', '1.5', 'x', '1e3', '9'.repeat(30)])('returns 404 for the revision %s', async seq => {
    await putAll('rev-unknown', one)
    const { status, body } = await get(`/agents/rev-unknown/revisions/${seq}`)
    expect([status, body.code]).toEqual([404, 'revision-not-found'])
    expect(body.detail).toContain('The newest is 1, and only the newest 200 are stored')
  })

  it('returns 404 for an agent that never existed, and 403 without write permission for the agent', async () => {
    expect((await get('/agents/rev-never/revisions/1')).body.code).toBe('agent-not-found')
    const reader = await host.issue({ scopes: ['read', 'write'], agents: ['other'] })
    for (const path of ['revisions/1', 'revisions/1/diff']) {
      expect((await get(`/agents/rev-one/${path}`, { Authorization: `Bearer ${reader.token}` })).status).toBe(403)
      expect((await get(`/agents/rev-one/${path}`, {})).status).toBe(401)
    }
  })

  it('never changes, and has an entity tag by which a client can tell', async () => {
    await putAll('rev-etag', one)
    const path = '/agents/rev-etag/revisions/1'
    const first = await host.fetch(path, { headers: bearer })
    const etag = first.headers.get('ETag') ?? ''
    expect([etag, first.headers.get('Cache-Control')]).toEqual([
      expect.stringMatching(/^"[0-9a-f]{64}"$/),
      'private, no-store',
    ])
    await putAll('rev-etag', two)
    expect((await host.fetch(path, { headers: { ...bearer, 'If-None-Match': etag } })).status).toBe(304)
    expect((await host.fetch(path, { headers: { 'If-None-Match': etag } })).status).toBe(401)
  })

  it('returns the extended card of each tier', async () => {
    await putAll('rev-tiers', { card: one, extended: { description: 'More' }, tiers: { partner: { name: 'P' } } })
    expect((await get('/agents/rev-tiers/revisions/1')).body).toMatchObject({
      card: { name: 'One' },
      tiers: { base: { name: 'One', description: 'More' }, partner: { name: 'P', description: 'More' } },
    })
  })

  it('rejects unknown parameters', async () => {
    const { status, body } = await get('/agents/rev-unknown/revisions/1?dialect=1.0')
    expect([status, body.detail]).toEqual([400, expect.stringContaining('It accepts none.')])
  })
})

describe('GET /agents/{id}/revisions/{seq}/diff', () => {
  it('compares with the revision before, or with any other, in prose and as a structural difference', async () => {
    await putAll('rev-diff', one, two, three)
    const { body } = await get('/agents/rev-diff/revisions/2/diff')
    expect(body).toMatchObject({ id: 'rev-diff', from: 1, to: 2, class: 'breaking' })
    expect(body.changes.map(change => change.message)).toEqual([
      'skill `forecast` no longer accepts `image/png`',
      'the agent changes its `name` from `One` to `Two`',
    ])
    expect(body.manifest).toEqual([
      { op: 'replace', pointer: '/skills/0/inputModes/0', before: 'image/png', after: 'text/plain' },
      { op: 'remove', pointer: '/skills/0/inputModes/1', before: 'text/plain' },
      { op: 'replace', pointer: '/name', before: 'One', after: 'Two' },
    ])
    const back = await get('/agents/rev-diff/revisions/1/diff?from=3')
    expect([back.body.from, back.body.to, back.body.class]).toEqual([3, 1, 'breaking'])
    expect(back.body.changes.map(change => `${change.class}: ${change.message}`)).toContain(
      'breaking: skill `history` is removed',
    )
    expect((await get('/agents/rev-diff/revisions/2/diff?from=2')).body).toMatchObject({
      class: 'cosmetic',
      changes: [],
    })
  })

  it('compares extended cards, and what the manifest lets clients do', async () => {
    const tiers = (...skills: JsonObject[]) => ({ tiers: { partner: { skills } } })
    await putAll(
      'rev-more',
      { card: one, ...tiers(skill('secret')) },
      { card: one, ...tiers(), visibility: 'internal' },
    )
    const { body } = await get('/agents/rev-more/revisions/2/diff')
    expect(body.changes.map(change => [change.class, change.message, change.tier])).toEqual([
      ['breaking', 'the agent is no longer public: clients need a token of this host for it', undefined],
      ['breaking', 'in the extended card of the tier `partner`, skill `secret` is removed', 'partner'],
    ])
  })

  it('is in the receipt of a registration that makes a revision', async () => {
    await putAll('rev-receipt', one)
    const receipt = (await (await host.put('rev-receipt', two)).json()) as Body
    expect(receipt).toMatchObject({ seq: 2, class: 'breaking', changes: [{ rule: 'mode-removed' }, {}] })
    const same = (await (await host.put('rev-receipt', two)).json()) as Body
    expect(same.changed).toBe(false)
    expect(same).not.toHaveProperty('class')
  })

  it('needs two cards to compare', async () => {
    await putAll('rev-bare', one)
    await remove('rev-bare')
    const codes = await Promise.all(
      ['1/diff', '2/diff', '1/diff?from=9', '1/diff?from=', '1/diff?from=0', '1/diff?to=1'].map(
        async path => (await get(`/agents/rev-bare/revisions/${path}`)).body.code,
      ),
    )
    expect(codes).toEqual([
      'revision-not-found',
      'revision-without-card',
      'revision-not-found',
      'bad-revision',
      'bad-revision',
      'unknown-query',
    ])
  })
})

describe('many registrations of one agent at once', () => {
  it('are all stored, each with a class', async () => {
    await putAll('rev-busy', one)
    const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`)
    const responses = await Promise.all(names.map(name => host.put('rev-busy', { ...one, name })))
    expect(responses.map(({ status }) => status)).toEqual(names.map(() => 200))
    const { revisions } = (await get('/agents/rev-busy/revisions')).body
    expect(revisions.map(revision => revision.class)).toEqual([...names.map(() => 'cosmetic'), undefined])
  })
})

describe('POST /agents/{id}/rollback', () => {
  it('registers an earlier manifest as a new revision, which serves the same bytes', async () => {
    const first = (await (await host.put('rev-back', one)).json()) as Body
    await putAll('rev-back', two)
    const { status, body, etag } = await rollback('rev-back', { seq: 1 })
    expect([status, body]).toMatchObject([
      200,
      { seq: 3, changed: true, class: 'additive', etags: first.etags as object },
    ])
    expect(etag).toBe((first.etags as JsonObject).manifest)
    const card = await host.fetch('/agents/rev-back/.well-known/agent-card.json')
    expect([card.headers.get('etag'), await card.json()]).toMatchObject([
      (first.etags as JsonObject)['agent-card.json'],
      { name: 'One' },
    ])
    expect((await get('/agents/rev-back/revisions/3')).body).toMatchObject({ manifest: one, by: 'manifest' })
  })

  it('is audited as a rollback, and a change with its class for subscribers', async () => {
    await putAll('rev-audited', two, one)
    const stream = readEvents(await host.fetch('/agents/rev-audited/events'), ['rev-audited'])
    await rollback('rev-audited', { seq: 1 })
    const { body } = await get('/audit?agent=rev-audited&limit=1')
    expect(body.entries).toMatchObject([
      { actor: 'admin', what: 'agent-rolled-back', agent: 'rev-audited', seq: 3, details: { restored: 1 } },
    ])
    expect(await stream.take(1)).toMatchObject([{ event: 'changed', data: { seq: 3, class: 'breaking' } }])
    await stream.close()
  })

  it('makes no new revision where nothing changes', async () => {
    await putAll('rev-same', one)
    expect((await rollback('rev-same', { seq: 1 })).body).toMatchObject({ seq: 1, changed: false })
  })

  it('takes If-Match: of two at once, one is rejected and nothing is lost', async () => {
    await putAll('rev-race', one, two)
    const etag = (await host.fetch('/agents/rev-race/manifest', { headers: bearer })).headers.get('etag') ?? ''
    const headers = { ...bearer, 'If-Match': etag }
    const [left, right] = await Promise.all([
      rollback('rev-race', { seq: 1 }, headers),
      host.put('rev-race', three, { 'If-Match': etag }),
    ])
    expect([left.status, right.status].toSorted()).toEqual([200, 412])
    expect((await get('/agents/rev-race/revisions')).body.revisions).toHaveLength(3)
    expect((await rollback('rev-race', { seq: 1 }, { ...bearer, 'If-Match': '"other"' })).body.code).toBe(
      'precondition-failed',
    )
  })

  it('accepts two at once without If-Match, and repeats neither', async () => {
    await putAll('rev-twice', one, two)
    const results = await Promise.all([rollback('rev-twice', { seq: 1 }), rollback('rev-twice', { seq: 1 })])
    expect(results.map(({ status, body }) => [status, body.seq])).toEqual([
      [200, 3],
      [200, 3],
    ])
    expect(results.map(({ body }) => body.changed).toSorted()).toEqual([false, true])
  })

  it('restores a removed agent, without a host name that another agent has meanwhile', async () => {
    await putAll('rev-gone', { card: one, hosts: ['rev-gone.example'] })
    await remove('rev-gone')
    expect((await rollback('rev-gone', { seq: 2 })).body).toMatchObject({ status: 422, code: 'not-restorable' })
    await putAll('rev-heir', { card: one, hosts: ['rev-gone.example'] })
    expect((await rollback('rev-gone', { seq: 1 })).body).toMatchObject({ status: 409, code: 'host-taken' })
    expect((await host.fetch('/agents/rev-gone')).status).toBe(404)
    await remove('rev-heir')
    expect(await rollback('rev-gone', { seq: 1 })).toMatchObject({ status: 201, body: { seq: 3 } })
  })

  it('gives a token no host name that is not the agent’s own, and no secret that it does not use', async () => {
    const secretive = { card: one, route: 'gateway', upstream: { url: 'https://a.example/', secret: 'A_TOKEN' } }
    await putAll('rev-rights', { card: one, hosts: ['rev-rights.example'] }, secretive, two)
    const writer = await host.issue({ scopes: ['write'], agents: ['rev-rights'] })
    const headers = { Authorization: `Bearer ${writer.token}` }
    for (const seq of [1, 2])
      expect((await rollback('rev-rights', { seq }, headers)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await rollback('rev-rights', { seq: 2 })).status).toBe(200)
  })

  it.each<[title: string, body: Json]>([
    ['no seq', {}],
    ['another type', { seq: '1' }],
    ['zero', { seq: 0 }],
    ['a fraction', { seq: 1.5 }],
    ['a huge number', { seq: 1e300 }],
    ['another member', { seq: 1, force: true }],
    ['a list', [1]],
  ])('rejects a body with %s', async (_, body) => {
    await putAll('rev-invalid', one)
    expect((await rollback('rev-invalid', body)).body).toMatchObject({ status: 422, code: 'invalid-rollback' })
  })

  it('asks for a corrected manifest where the rules of today reject that of the revision', async () => {
    const send = await startSender('rev-rules')
    // A host name of this machine is valid only where this machine is the host.
    await send('PUT', 'http://localhost:8787', '', { card: one, hosts: ['agent.localhost'] })
    await send('PUT', 'http://localhost:8787', '', two)
    const { body } = await send('POST', 'https://host.example', '/rollback', { seq: 1 })
    expect(body).toMatchObject({
      ...{ status: 422, code: 'invalid-card', errors: [{ pointer: '/hosts' }] },
      detail: expect.stringMatching(
        /Nothing was registered.*revision 1 was valid.*GET \/agents\/rev-rules\/revisions\/1 /,
      ),
    })
  })

  it('returns 403 to a token that does not cover the agent, and 401 without one', async () => {
    await putAll('rev-foreign', one, two)
    const other = await host.issue({ scopes: ['write'], agents: ['other'] })
    const reader = await host.issue({ scopes: ['read'], agents: ['*'] })
    for (const { token } of [other, reader])
      expect((await rollback('rev-foreign', { seq: 1 }, { Authorization: `Bearer ${token}` })).status).toBe(403)
    expect((await rollback('rev-foreign', { seq: 1 }, {})).status).toBe(401)
    expect((await get('/agents/rev-foreign/revisions')).body.revisions).toHaveLength(2)
  })

  it('returns 404 for a revision or an agent that never existed', async () => {
    await putAll('rev-404', one)
    expect((await rollback('rev-404', { seq: 2 })).body).toMatchObject({ status: 404, code: 'revision-not-found' })
    expect((await rollback('rev-404-never', { seq: 1 })).body).toMatchObject({ status: 404, code: 'agent-not-found' })
  })
})

describe('compatibility', () => {
  const manifest = (card: JsonObject, compatibility?: string) => ({ card, ...(compatibility && { compatibility }) })
  const put = async (id: string, document: JsonObject, headers: Record<string, string> = {}) => {
    const response = await host.put(id, document, headers)
    return { status: response.status, body: (await response.json()) as Body }
  }
  const findings = ({ report }: Body) =>
    (report as { issues: { rule: string }[] }).issues.filter(({ rule }) => rule === 'incompatible-version')

  it.each(['enforce', 'warn', 'off', undefined])('%s: an unannounced breaking change', async level => {
    const id = `rev-compat-${level ?? 'default'}`
    await put(id, manifest(one))
    const { status, body } = await put(id, manifest(two, level))
    const message =
      'must be 2.0.0 or higher, because the change is breaking: skill `forecast` no longer accepts `image/png`'
    if (level === 'enforce') {
      expect([status, body]).toMatchObject([
        409,
        { code: 'incompatible-version', errors: [{ pointer: '/card/version', message }] },
      ])
      expect(body.detail).toContain('Use 2.0.0')
      expect((await get(`/agents/${id}/revisions`)).body.revisions).toHaveLength(1)
    } else {
      expect([status, body.class]).toEqual([200, 'breaking'])
      expect(findings(body)).toEqual(
        level === 'off' ? [] : [{ rule: 'incompatible-version', severity: 'warning', pointer: '/version', message }],
      )
    }
  })

  it('enforces what the owner changes, not what clients see under another name of the host', async () => {
    const send = await startSender('rev-host')
    const owned = (fields: JsonObject) => ({ ...manifest({ ...one, ...fields }, 'enforce'), route: 'gateway' })
    await send('PUT', 'https://host.example', '', owned({}))
    const { status, body } = await send('PUT', 'https://other.example', '', owned({ name: 'Other' }))
    expect([status, body.class, findings(body)]).toEqual([200, 'breaking', []])
    expect(await send('PUT', 'https://host.example', '', owned({ skills: [skill('x')] }))).toMatchObject({
      status: 409,
    })
  })

  it('accepts announced changes, cosmetic ones and a removal under enforce', async () => {
    await put('rev-compat', manifest(one, 'enforce'))
    expect((await put('rev-compat', manifest({ ...one, name: 'Other' }, 'enforce'))).status).toBe(200)
    expect((await put('rev-compat', manifest({ ...two, version: '1.1.0' }, 'enforce'))).status).toBe(409)
    expect((await put('rev-compat', manifest({ ...two, version: '2.0.0' }, 'enforce'))).status).toBe(200)
    expect((await put('rev-compat', manifest({ ...three, version: '2.0.1' }, 'enforce'))).body.detail).toContain(
      'Use 2.1.0',
    )
    const { status, body } = await put('rev-compat', manifest({ ...three, version: '2.1.0' }, 'enforce'))
    expect([status, findings(body)]).toEqual([200, []])
    expect((await remove('rev-compat')).status).toBe(204)
    expect((await put('rev-compat', manifest(one, 'enforce'))).status).toBe(201)
  })

  it('never refuses a rollback, and reports its version', async () => {
    await put('rev-compat-back', manifest({ ...one, version: '2.0.0' }, 'enforce'))
    await put('rev-compat-back', manifest({ ...three, version: '3.0.0' }, 'enforce'))
    const { status, body } = await rollback('rev-compat-back', { seq: 1 })
    expect([status, body.class, findings(body).length]).toEqual([200, 'breaking', 1])
  })

  it('refuses one of two writers at once whose changes are announced against another version', async () => {
    await put('rev-compat-race', manifest(one, 'enforce'))
    const [left, right] = await Promise.all([
      put('rev-compat-race', manifest({ ...two, version: '2.0.0' }, 'enforce')),
      put('rev-compat-race', manifest({ ...one, version: '2.0.0', skills: [skill('other')] }, 'enforce')),
    ])
    expect([left.status, right.status].toSorted()).toEqual([200, 409])
  })

  it('has three levels', async () => {
    const { status, body } = await put('rev-compat-level', manifest(one, 'strict'))
    expect([status, body.errors]).toEqual([
      422,
      [{ pointer: '/compatibility', message: 'must be off, warn or enforce' }],
    ])
  })
})
