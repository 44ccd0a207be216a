import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { readEvents } from '../support/event-stream.ts'
import { token as admin, sharedHost } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'

const host = sharedHost()
const send = senderTo(host)
type Body = JsonObject & { changes: { message: string; class: string; tier?: string }[]; revisions: JsonObject[] }

const get = async (path: string, token: string | undefined = admin, headers: Record<string, string> = {}) => {
  const response = await send(path, { method: 'GET', token, headers })
  return { ...response, body: response.body as Body }
}
const getRevision = (id: string, path: string, token?: string) => get(`/agents/${id}/revisions/${path}`, token)
const listRevisions = async (id: string) => (await get(`/agents/${id}/revisions`)).body.revisions
const rollback = async (
  id: string,
  body: Json,
  headers: Record<string, string> = {},
  token: string | undefined = admin,
) => {
  const response = await send(`/agents/${id}/rollback`, { token, headers, body })
  return { ...response, body: response.body as Body }
}
const put = async (id: string, document: Json, headers: Record<string, string> = {}, token = admin) => {
  const response = await send(`/agents/${id}`, { method: 'PUT', token, headers, body: document })
  return { ...response, body: response.body as Body }
}
const putAll = async (id: string, ...documents: JsonObject[]) => {
  for (const document of documents) expect((await put(id, document)).status).toBeLessThan(300)
}
const remove = (id: string) => send(`/agents/${id}`, { method: 'DELETE', token: admin })

/** Returns a function that sends requests about an agent to a host of its own, under any name of that host. */
const startSender = async (id: string) => {
  const sendToOwn = senderTo(await startNodeHost())
  return async (method: string, origin: string, path: string, body: Json) => {
    const response = await sendToOwn(`${origin}/agents/${id}${path}`, { method, token: admin, body })
    return { ...response, body: response.body as Body }
  }
}

const skill = (id: string, more: JsonObject = {}) => ({ id, name: id, description: 'D', tags: ['t'], ...more })
const one = {
  ...{ ...minimalCard, name: 'One', version: '1.0.0' },
  skills: [skill('forecast', { inputModes: ['image/png', 'text/plain'] })],
}
const two = { ...one, name: 'Two', skills: [skill('forecast', { inputModes: ['text/plain'] })] }
const three = { ...two, skills: [...two.skills, skill('history')] }

describe('GET /agents/{id}/revisions', () => {
  it('has the author and the class of every revision', async () => {
    await putAll('rev-list', one, two)
    const { id: author, token } = await host.issue({ scopes: ['write'], agents: ['rev-list'] })
    await put('rev-list', three, {}, token)
    await remove('rev-list')
    await putAll('rev-list', one)
    const created = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
    expect(await listRevisions('rev-list')).toStrictEqual([
      { seq: 5, by: 'manifest', author: 'admin', created },
      { seq: 4, by: 'removal', author: 'admin', created },
      { seq: 3, by: 'manifest', author, class: 'additive', created },
      { seq: 2, by: 'manifest', author: 'admin', class: 'breaking', created },
      { seq: 1, by: 'manifest', author: 'admin', created },
    ])
  })
})

describe('GET /agents/{id}/revisions/{seq}', () => {
  it('returns the manifest and the cards of that time, also of a removed agent', async () => {
    const extended = { extended: { description: 'More' }, tiers: { partner: { name: 'P' } } }
    await putAll('rev-one', one, { card: two, visibility: 'internal', ...extended })
    await remove('rev-one')
    const [first, second, third] = await Promise.all(['1', '2', '3'].map(seq => getRevision('rev-one', seq)))
    expect(first?.body).toMatchObject({
      ...{ id: 'rev-one', seq: 1, by: 'manifest', author: 'admin', origin: host.url.origin, manifest: one },
      card: { name: 'One', supportedInterfaces: [{ protocolBinding: 'JSONRPC' }] },
    })
    expect(second?.body).toMatchObject({
      ...{ seq: 2, manifest: { visibility: 'internal' }, card: { name: 'Two' } },
      tiers: { base: { name: 'Two', description: 'More' }, partner: { name: 'P', description: 'More' } },
    })
    expect([third?.status, third?.body]).toEqual([
      200,
      { id: 'rev-one', seq: 3, by: 'removal', author: 'admin', created: expect.any(String) },
    ])
  })

  it('returns 404 for a revision or an agent that never existed', async () => {
    await putAll('rev-unknown', one)
    for (const seq of ['7', '0', 'x', '9'.repeat(30)]) {
      const { status, body } = await getRevision('rev-unknown', seq)
      expect([status, body.code]).toEqual([404, 'revision-not-found'])
      expect(body.detail).toContain('The newest is 1, and only the newest 200 are stored')
    }
    expect((await getRevision('rev-never', '1')).body.code).toBe('agent-not-found')
    const unknown = await getRevision('rev-unknown', '1?dialect=1.0')
    expect([unknown.status, unknown.body.detail]).toEqual([400, expect.stringContaining('It accepts none.')])
  })

  it('returns 403 without write permission for the agent', async () => {
    await putAll('rev-private', one)
    const { token } = await host.issue({ scopes: ['read', 'write'], agents: ['other'] })
    for (const path of ['1', '1/diff']) expect((await getRevision('rev-private', path, token)).status).toBe(403)
  })
})

describe('GET /agents/{id}/revisions/{seq}/diff', () => {
  it('compares with the revision before, or with any other, in prose and as a structural difference', async () => {
    await putAll('rev-diff', one, two, three)
    const { body } = await getRevision('rev-diff', '2/diff')
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
    const back = (await getRevision('rev-diff', '1/diff?from=3')).body
    expect(back).toMatchObject({ from: 3, to: 1, class: 'breaking' })
    expect(back.changes).toContainEqual(
      expect.objectContaining({ class: 'breaking', message: 'skill `history` is removed' }),
    )
    expect((await getRevision('rev-diff', '2/diff?from=2')).body).toMatchObject({ class: 'cosmetic', changes: [] })
  })

  it('compares extended cards, and what the manifest lets clients do', async () => {
    const tiers = (...skills: JsonObject[]) => ({ card: one, tiers: { partner: { skills } } })
    await putAll('rev-more', tiers(skill('secret')), { ...tiers(), visibility: 'internal' })
    const { body } = await getRevision('rev-more', '2/diff')
    expect(body.changes.map(change => [change.class, change.message, change.tier])).toEqual([
      ['breaking', 'the agent is no longer public: clients need a token of this host for it', undefined],
      ['breaking', 'in the extended card of the tier `partner`, skill `secret` is removed', 'partner'],
    ])
  })

  it('is in the receipt of a registration that makes a revision', async () => {
    await putAll('rev-receipt', one)
    const changes = [{ rule: 'mode-removed' }, {}]
    expect((await put('rev-receipt', two)).body).toMatchObject({ seq: 2, class: 'breaking', changes })
    const { body } = await put('rev-receipt', two)
    expect([body.changed, body.class]).toEqual([false, undefined])
  })

  it('needs two cards to compare', async () => {
    await putAll('rev-bare', one)
    await remove('rev-bare')
    for (const [path, code] of [
      ['1/diff', 'revision-not-found'],
      ['2/diff', 'revision-without-card'],
      ['1/diff?from=9', 'revision-not-found'],
      ['1/diff?from=', 'bad-revision'],
      ['1/diff?from=0', 'bad-revision'],
      ['1/diff?to=1', 'unknown-query'],
    ] as const)
      expect((await getRevision('rev-bare', path)).body.code, path).toBe(code)
  })
})

it('stores all of many registrations of one agent at once, each with a class', async () => {
  await putAll('rev-busy', one)
  const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`)
  const responses = await Promise.all(names.map(name => put('rev-busy', { ...one, name })))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]))
  const classes = (await listRevisions('rev-busy')).map(revision => revision.class)
  expect(classes).toEqual([...Array(20).fill('cosmetic'), undefined])
})

describe('POST /agents/{id}/rollback', () => {
  it('registers an earlier manifest as a new revision, which serves the same bytes', async () => {
    const etags = (await put('rev-back', one)).body.etags as Record<string, string>
    await putAll('rev-back', two)
    const { status, body, headers } = await rollback('rev-back', { seq: 1 })
    expect([status, body]).toMatchObject([200, { seq: 3, changed: true, class: 'additive', etags }])
    expect(headers.get('etag')).toBe(etags.manifest)
    const card = await send('/agents/rev-back/.well-known/agent-card.json', { method: 'GET' })
    expect([card.headers.get('etag'), card.body]).toMatchObject([etags['agent-card.json'], { name: 'One' }])
    expect((await getRevision('rev-back', '3')).body).toMatchObject({ manifest: one, by: 'manifest' })
  })

  it('is audited as a rollback, and a change with its class for subscribers', async () => {
    await putAll('rev-audited', two, one)
    const stream = readEvents(await host.fetch('/agents/rev-audited/events'), ['rev-audited'])
    await rollback('rev-audited', { seq: 1 })
    expect((await get('/audit?agent=rev-audited&limit=1')).body.entries).toMatchObject([
      { actor: 'admin', what: 'agent-rolled-back', agent: 'rev-audited', seq: 3, details: { restored: 1 } },
    ])
    expect(await stream.take(1)).toMatchObject([{ event: 'changed', data: { seq: 3, class: 'breaking' } }])
    await stream.close()
  })

  it('takes If-Match: of two at once, one is rejected and nothing is lost', async () => {
    await putAll('rev-race', one, two)
    const headers = { 'If-Match': (await get('/agents/rev-race/manifest')).headers.get('etag') ?? '' }
    const responses = [rollback('rev-race', { seq: 1 }, headers), put('rev-race', three, headers)]
    expect((await Promise.all(responses)).map(({ status }) => status).toSorted()).toEqual([200, 412])
    expect(await listRevisions('rev-race')).toHaveLength(3)
    const other = await rollback('rev-race', { seq: 1 }, { 'If-Match': '"other"' })
    expect(other.body.code).toBe('precondition-failed')
  })

  it('restores a removed agent, without a host name that another agent has meanwhile', async () => {
    await putAll('rev-gone', { card: one, hosts: ['rev-gone.example'] })
    await remove('rev-gone')
    expect((await rollback('rev-gone', { seq: 2 })).body).toMatchObject({ status: 422, code: 'not-restorable' })
    await putAll('rev-heir', { card: one, hosts: ['rev-gone.example'] })
    expect((await rollback('rev-gone', { seq: 1 })).body).toMatchObject({ status: 409, code: 'host-taken' })
    expect((await get('/agents/rev-gone')).status).toBe(404)
    await remove('rev-heir')
    expect(await rollback('rev-gone', { seq: 1 })).toMatchObject({ status: 201, body: { seq: 3 } })
  })

  it('gives a token no host name that is not the agent’s own, and no secret that it does not use', async () => {
    const secretive = { card: one, route: 'gateway', upstream: { url: 'https://a.example/', secret: 'A_TOKEN' } }
    await putAll('rev-rights', { card: one, hosts: ['rev-rights.example'] }, secretive, two)
    const { token } = await host.issue({ scopes: ['write'], agents: ['rev-rights'] })
    for (const seq of [1, 2])
      expect((await rollback('rev-rights', { seq }, {}, token)).body).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await rollback('rev-rights', { seq: 2 })).status).toBe(200)
  })

  it('rejects an invalid body', async () => {
    await putAll('rev-invalid', one)
    for (const body of [{ seq: 1.5 }, { seq: 1, force: true }])
      expect((await rollback('rev-invalid', body)).body).toMatchObject({ status: 422, code: 'invalid-rollback' })
  })

  it('asks for a corrected manifest where the rules of today reject that of the revision', async () => {
    const sendToOwn = await startSender('rev-rules')
    // A host name of this machine is valid only where this machine is the host.
    await sendToOwn('PUT', 'http://localhost:8787', '', { card: one, hosts: ['agent.localhost'] })
    await sendToOwn('PUT', 'http://localhost:8787', '', two)
    const { body } = await sendToOwn('POST', 'https://host.example', '/rollback', { seq: 1 })
    const detail = /Nothing was registered.*revision 1 was valid.*GET \/agents\/rev-rules\/revisions\/1 /
    expect(body).toMatchObject({ status: 422, code: 'invalid-card', errors: [{ pointer: '/hosts' }] })
    expect(body.detail).toMatch(detail)
  })

  it('returns 404 for a revision or an agent that never existed', async () => {
    await putAll('rev-404', one)
    expect((await rollback('rev-404', { seq: 2 })).body).toMatchObject({ status: 404, code: 'revision-not-found' })
    expect((await rollback('rev-404-never', { seq: 1 })).body).toMatchObject({ status: 404, code: 'agent-not-found' })
  })
})

describe('compatibility', () => {
  const manifest = (card: JsonObject, compatibility?: string) => ({ card, ...(compatibility && { compatibility }) })
  const putEnforced = (id: string, card: JsonObject) => put(id, manifest(card, 'enforce'))
  const findings = ({ report }: Body) =>
    (report as { issues: { rule: string }[] }).issues.filter(({ rule }) => rule === 'incompatible-version')
  const message =
    'must be 2.0.0 or higher, because the change is breaking: skill `forecast` no longer accepts `image/png`'

  it('refuses an unannounced breaking change under enforce', async () => {
    await put('rev-compat-enforce', manifest(one))
    const { status, body } = await putEnforced('rev-compat-enforce', two)
    const errors = [{ pointer: '/card/version', message }]
    expect([status, body]).toMatchObject([409, { code: 'incompatible-version', errors }])
    expect(body.detail).toContain('Use 2.0.0')
    expect(await listRevisions('rev-compat-enforce')).toHaveLength(1)
  })

  it('warns of it by default, and not with off', async () => {
    const warning = { rule: 'incompatible-version', severity: 'warning', pointer: '/version', message }
    for (const [level, expected] of [
      ['off', []],
      [undefined, [warning]],
    ] as const) {
      const id = `rev-compat-${level ?? 'default'}`
      await put(id, manifest(one))
      const { status, body } = await put(id, manifest(two, level))
      expect([level, status, body.class, findings(body)]).toEqual([level, 200, 'breaking', expected])
    }
  })

  it('enforces what the owner changes, not what clients see under another name of the host', async () => {
    const sendToOwn = await startSender('rev-host')
    const owned = (fields: JsonObject) => ({ ...manifest({ ...one, ...fields }, 'enforce'), route: 'gateway' })
    await sendToOwn('PUT', 'https://host.example', '', owned({}))
    const { status, body } = await sendToOwn('PUT', 'https://other.example', '', owned({ name: 'Other' }))
    expect([status, body.class, findings(body)]).toEqual([200, 'breaking', []])
    const breaking = owned({ skills: [skill('x')] })
    expect((await sendToOwn('PUT', 'https://host.example', '', breaking)).status).toBe(409)
  })

  it('accepts announced changes, cosmetic ones and a removal under enforce', async () => {
    await putEnforced('rev-compat', one)
    expect((await putEnforced('rev-compat', { ...one, name: 'Other' })).status).toBe(200)
    expect((await putEnforced('rev-compat', { ...two, version: '2.0.0' })).status).toBe(200)
    const { status, body } = await putEnforced('rev-compat', { ...three, version: '2.1.0' })
    expect([status, findings(body)]).toEqual([200, []])
    expect((await remove('rev-compat')).status).toBe(204)
    expect((await putEnforced('rev-compat', one)).status).toBe(201)
  })

  it('never refuses a rollback, and reports its version', async () => {
    await putEnforced('rev-compat-back', { ...one, version: '2.0.0' })
    await putEnforced('rev-compat-back', { ...three, version: '3.0.0' })
    const { status, body } = await rollback('rev-compat-back', { seq: 1 })
    expect([status, body.class, findings(body).length]).toEqual([200, 'breaking', 1])
  })
})
