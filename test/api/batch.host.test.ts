import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { postBatch } from '../../src/api/agents/batch.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_LINES, MAX_BODY_BYTES } from '../../src/limits.ts'
import type { Registry } from '../../src/registry/store/registry.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { namesOf, readEvents } from '../support/event-stream.ts'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'
import { startRegistry } from '../support/registry.ts'
import { startUpstream, type UpstreamServer } from '../support/upstream.ts'

let host: OwnHost
let upstream: UpstreamServer
beforeAll(async () => {
  upstream = await startUpstream()
  host = await startHost({ PUBLIC_URL: 'https://cards.example.com', ALLOWED_ORIGINS: upstream.origin })
})
afterAll(async () => {
  await host.close()
  await upstream.close()
})

type Line = { line: number; id?: string; status: number; agent?: { id: string; seq: number }; error?: { code: string } }
const send = async (body: string, { token = adminToken, query = '', type = 'application/x-ndjson' } = {}) => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': type }
  const response = await host.fetch(`/agents:batch${query}`, { method: 'POST', headers, body })
  return { response, text: await response.text() }
}
const batch = async (lines: unknown[], options?: Parameters<typeof send>[1]) => {
  const body = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const { response, text } = await send(body, options)
  const results = text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
  return { status: response.status, results, outcomes: results.map(({ status, error }) => error?.code ?? status) }
}
const exists = async (id: string) => (await host.fetch(`/agents/${id}/.well-known/agent-card.json`)).status === 200
const card = (name: string) => ({ ...minimalCard, name })
const etagOf = async (id: string): Promise<string> => {
  const response = await host.fetch(`/agents/${id}/manifest`, { headers: { Authorization: `Bearer ${adminToken}` } })
  await response.text()
  return response.headers.get('etag') ?? ''
}

describe('POST /agents:batch', () => {
  it('registers an agent for each line, with the receipt of a registration', async () => {
    const { response, text } = await send(
      `${JSON.stringify({ id: 'one', manifest: card('One') })}\r\n\n${JSON.stringify({ id: 'two', manifest: card('Two') })}\n`,
    )
    expect([response.status, response.headers.get('content-type'), response.headers.get('cache-control')]).toEqual([
      200,
      'application/x-ndjson',
      'private, no-store',
    ])
    const [first, second] = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Line)
    expect([first, second]).toMatchObject([
      { line: 1, id: 'one', status: 201, agent: { id: 'one', seq: 1, root: true, published: true } },
      { line: 3, id: 'two', status: 201, agent: { id: 'two', seq: 1, root: false } },
    ])
    const put = (await (await host.put('one', card('One'))).json()) as Record<string, unknown>
    expect({ ...first?.agent, changed: false, report: null }).toEqual({ ...put, report: null })
    expect([await exists('one'), await exists('two')]).toEqual([true, true])
    expect(await (await host.fetch('/agents?q=two')).json()).toMatchObject({ agents: [{ id: 'two' }] })
  })

  it('refuses lines as a registration would be refused, and registers the others', async () => {
    const { status, results, outcomes } = await batch([
      { id: 'good', manifest: card('Good') },
      '{"id": "broken',
      { id: 'bad', manifest: { name: 'No address' } },
      { id: 'Bad Id', manifest: card('Bad') },
      { id: 'secret', manifest: { ...card('Secret'), description: `Key sk-proj-${'a1B2'.repeat(12)}` } },
      { id: 'more', manifest: card('More'), color: 'red' },
      { id: 'good', manifest: card('Again') },
      '{"id": "twice", "id": "twice", "manifest": {}}',
      { id: 'there', manifest: card('There'), ifMatch: '"other"' },
      { id: 'one', manifest: card('One'), ifNoneMatch: '*' },
      { id: 'one', manifest: card('One'), ifNoneMatch: '"a"' },
      { id: 'long', manifest: { ...card('Long'), description: 'x'.repeat(MAX_BODY_BYTES) } },
      { id: 'last', manifest: card('Last') },
    ])
    expect(status).toBe(200)
    expect(outcomes).toEqual([
      201,
      'not-json',
      'invalid-card',
      'bad-agent-id',
      'secret-in-card',
      'bad-line',
      'bad-line',
      'duplicate-name',
      'precondition-failed',
      'precondition-failed',
      'bad-line',
      'too-large',
      201,
    ])
    expect(results.map(({ line }) => line)).toEqual(results.map((_, index) => index + 1))
    expect(await Promise.all(['good', 'bad', 'there', 'last'].map(exists))).toEqual([true, false, false, true])
  })

  it('replaces an agent whose entity tag is named', async () => {
    await host.put('tagged', card('Before'))
    const { outcomes } = await batch([{ id: 'tagged', manifest: card('After'), ifMatch: await etagOf('tagged') }])
    expect(outcomes).toEqual([200])
  })

  it('checks the permission for each line, and what only an admin may do', async () => {
    const { token } = await host.issue({ scopes: ['write'], agents: ['team-*'] })
    const { outcomes } = await batch(
      [
        { id: 'team-a', manifest: card('A') },
        { id: 'other-b', manifest: card('B') },
        { id: 'team-c', manifest: { card: card('C'), hosts: ['c.example.com'] } },
        { id: 'team-d', manifest: { card: card('D'), route: 'gateway', upstream: { secret: 'A_SECRET' } } },
      ],
      { token },
    )
    expect(outcomes).toEqual([201, 'forbidden', 'forbidden', 'forbidden'])
    const reader = await host.issue({ scopes: ['read'] })
    expect((await send('{}', { token: reader.token })).response.status).toBe(403)
    expect((await send('{}', { token: 'wrong' })).response.status).toBe(401)
  })

  it('writes what it has prepared before it prepares more, so that a batch of large cards fits in memory', async () => {
    let isFirstWritten: boolean | undefined
    upstream.serve(async () => {
      isFirstWritten = await exists('early-0')
      return Response.json(card('Fetched'))
    })
    const early = Array.from({ length: 60 }, (_, index) => ({ id: `early-${index}`, manifest: card(`E ${index}`) }))
    const { outcomes } = await batch([...early, { id: 'late', manifest: { upstream: { card: upstream.origin } } }])
    expect([new Set(outcomes), isFirstWritten]).toEqual([new Set([201]), true])
  })

  it('reads a file of Windows, with a byte order mark, and ends at no other line separator', async () => {
    const manifest = card('One\u2028line')
    const { response, text } = await send(`\ufeff${JSON.stringify({ id: 'bom', manifest })}\r\n\r\n`)
    expect([response.status, text.split('\n').map(line => line && (JSON.parse(line) as Line).status)]).toEqual([
      200,
      [201, ''],
    ])
  })

  it('gives a host name to the first of two lines that claim it', async () => {
    const hosts = ['twice.example.com']
    const { outcomes } = await batch(['host-a', 'host-b'].map(id => ({ id, manifest: { card: card(id), hosts } })))
    expect(outcomes).toEqual([201, 'host-taken'])
  })

  it('registers a removed agent again, whose history goes on', async () => {
    await host.put('again', card('Before'))
    await host.fetch('/agents/again', { method: 'DELETE', headers: { Authorization: `Bearer ${adminToken}` } })
    const { results } = await batch([{ id: 'again', manifest: card('After'), ifNoneMatch: '*' }])
    expect(results).toMatchObject([{ status: 201, agent: { seq: 3 } }])
  })

  it('limits a line in bytes, as a body', async () => {
    const description = '漢'.repeat(15_000)
    const wide = { ...card('Wide'), more: Array.from({ length: 6 }, () => description) }
    expect(JSON.stringify(wide).length).toBeLessThan(MAX_BODY_BYTES)
    const { outcomes } = await batch([{ id: 'wide', manifest: wide }])
    expect([outcomes, (await host.put('wide', wide)).status]).toEqual([['too-large'], 413])
  })

  it('announces every agent that it registers, and no other', async () => {
    const events = readEvents(await host.fetch('/events'), ['event-a', 'event-b', 'event-c', 'event-d'])
    await batch([
      { id: 'event-a', manifest: card('A') },
      { id: 'event-b', manifest: { name: 'No address' } },
      { id: 'event-c', manifest: card('C') },
    ])
    await batch(
      [
        { id: 'event-a', manifest: card('A2') },
        { id: 'event-d', manifest: card('D') },
      ],
      {
        query: '?atomic=true',
      },
    )
    const received = namesOf(await events.take(4))
    await events.close()
    expect(received.toSorted()).toEqual([
      'changed event-a 2',
      'registered event-a 1',
      'registered event-c 1',
      'registered event-d 1',
    ])
  })

  it.each(['', '?atomic=true'])('enforces compatibility: agents:batch%s', async query => {
    const id = query === '' ? 'compatible' : 'compatible-all'
    const manifest = (skill: string) => ({
      card: { ...card('Strict'), skills: [{ id: skill, name: skill, description: 'Does it', tags: ['a'] }] },
      compatibility: 'enforce',
    })
    await host.put(id, manifest('one'))
    const lines = [
      { id, manifest: manifest('two') },
      { id: `${id}-other`, manifest: card('Other') },
    ]
    const { outcomes } = await batch(lines, { query })
    expect(outcomes).toEqual(['incompatible-version', query === '' ? 201 : 'batch-refused'])
    expect(await exists(`${id}-other`)).toBe(query === '')
  })

  it('records the refusal of a line in the audit', async () => {
    const { token, id } = await host.issue({ scopes: ['write'], agents: ['team-*'] })
    await batch([{ id: 'audited', manifest: card('A') }], { token })
    const headers = { Authorization: `Bearer ${adminToken}` }
    const { entries } = (await (await host.fetch('/audit?limit=5', { headers })).json()) as { entries: object[] }
    expect(entries).toContainEqual(expect.objectContaining({ actor: id, agent: 'audited' }))
  })
})

describe('POST /agents:batch?atomic=true', () => {
  const query = '?atomic=true'

  it('registers all', async () => {
    const lines = ['all-a', 'all-b'].map(id => ({ id, manifest: card(id) }))
    const { status, outcomes } = await batch(lines, { query })
    expect([status, outcomes, await exists('all-a'), await exists('all-b')]).toEqual([200, [201, 201], true, true])
  })

  it.each([
    ['is invalid', { id: 'none-b', manifest: { name: 'No address' } }, 'invalid-card'],
    ['is rejected by the Registry', { id: 'none-b', manifest: card('B'), ifMatch: '"other"' }, 'precondition-failed'],
    [
      'claims a host name of an earlier line',
      { id: 'none-b', manifest: { card: card('B'), hosts: ['none.example.com'] } },
      'host-taken',
    ],
  ])('registers none if a line %s', async (_, line, code) => {
    const lines = [
      { id: 'none-a', manifest: { card: card('A'), hosts: ['none.example.com'] } },
      line,
      { id: 'none-c', manifest: card('C') },
    ]
    const { status, outcomes } = await batch(lines, { query })
    expect([status, outcomes]).toEqual([422, ['batch-refused', code, 'batch-refused']])
    expect(await Promise.all(['none-a', 'none-b', 'none-c'].map(exists))).toEqual([false, false, false])
    expect(await (await host.fetch('/agents?q=none')).json()).toEqual({ agents: [] })
    const revisions = await host.fetch('/agents/none-a/revisions', {
      headers: { Authorization: `Bearer ${adminToken}` },
    })
    expect(revisions.status).toBe(404)
  })
})

describe('a line whose agent is being changed', () => {
  it('is registered before the next one, which gets no host name that it claims', async () => {
    const clear = vi.fn(async () => undefined).mockRejectedValueOnce(new Error('down'))
    const limit = { limit: async () => ({ success: true }) }
    const env = {
      ...{ ADMIN_TOKEN: adminToken, PUBLIC_URL: 'https://cards.example.com', CALL_LIMIT: limit, WRITE_LIMIT: limit },
      CARDS: { put: async () => undefined },
      REGISTRY: { getByName: () => registry },
      TASK_OWNERS: { getByName: () => ({ clear }) },
    } as unknown as Env
    const registry: Registry = await startRegistry(env)
    const ctx = { waitUntil: () => undefined, exports: { Catalog: () => ({ purge: async () => undefined }) } }
    vi.spyOn(console, 'error').mockReturnValue()
    const post = async (...lines: object[]) => {
      const response = await postBatch(
        new Request('https://cards.example.com/agents:batch', {
          method: 'POST',
          headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/x-ndjson' },
          body: lines.map(line => JSON.stringify(line)).join('\n'),
        }),
        ...[env, ctx as unknown as ExecutionContext, {}],
      )
      return (await response.text()).split('\n').flatMap(line => (line ? [(JSON.parse(line) as Line).status] : []))
    }
    expect(await post({ id: 'changing', manifest: card('Before') })).toEqual([201])
    // The owners of its tasks are not cleared yet, nor at the first attempt of the batch.
    await registry.remove('changing', {}, 'admin')
    clear.mockRejectedValueOnce(new Error('down'))
    const lines = ['changing', 'next'].map(id => ({ id, manifest: { card: card(id), hosts: ['one.example.com'] } }))
    expect(await post(...lines, { id: 'last', manifest: card('Last') })).toEqual([201, 409, 201])
  })
})

describe('a batch that is refused as a whole', () => {
  const line = JSON.stringify({ id: 'whole', manifest: card('Whole') })
  it.each([
    ['of another media type', line, { type: 'application/json' }, 415, 'unsupported-media-type'],
    ['without lines', '\n\n', {}, 400, 'empty-batch'],
    ['with too many lines', `${line}\n`.repeat(MAX_BATCH_LINES + 1), {}, 413, 'too-large'],
    ['that is too long', `${line}\n${'x'.repeat(MAX_BATCH_BYTES)}`, {}, 413, 'too-large'],
    ['with an unknown parameter', line, { query: '?atom=true' }, 400, 'unknown-query'],
    ['with another value of atomic', line, { query: '?atomic=1' }, 400, 'unknown-query'],
  ])('%s registers nothing', async (_, body, options, status, code) => {
    const { response, text } = await send(body, options)
    expect([response.status, (JSON.parse(text) as { code: string }).code]).toEqual([status, code])
    expect(await exists('whole')).toBe(false)
  })

  it('needs POST', async () => {
    const response = await host.fetch('/agents:batch')
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
    expect((await host.fetch('/agentsbatch', { method: 'POST' })).status).toBe(404)
  })
})
