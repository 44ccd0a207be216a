import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MAX_BATCH_BYTES, MAX_BATCH_LINES, MAX_BODY_BYTES } from '../../src/limits.ts'
import { senderTo } from '../support/called-host.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { token as adminToken, emptyHost, type Host, sharedHost, startSharedUpstream } from '../support/host.ts'
import { startNodeHost } from '../support/node-host.ts'
import type { UpstreamServer } from '../support/upstream.ts'

let host: Host
let upstream: UpstreamServer
const request = senderTo(sharedHost('empty'))
beforeAll(async () => {
  upstream = await startSharedUpstream()
  host = await emptyHost()
})
afterAll(() => upstream.close())

type Line = { line: number; id?: string; status: number; agent?: { id: string; seq: number }; error?: { code: string } }
const parseLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Line)
const send = (body: string, { token = adminToken, query = '', type = 'application/x-ndjson' } = {}) =>
  request(`/agents:batch${query}`, { token, headers: { 'Content-Type': type }, body })
const batch = async (lines: unknown[], options?: Parameters<typeof send>[1]) => {
  const body = lines.map(line => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')
  const { status, text } = await send(body, options)
  const results = parseLines(text)
  return { status, results, outcomes: results.map(({ status, error }) => error?.code ?? status) }
}
const exists = async (id: string) => (await host.fetch(`/agents/${id}/.well-known/agent-card.json`)).status === 200
const card = (name: string) => ({ ...minimalCard, name })

describe('POST /agents:batch', () => {
  it('registers an agent for each line, with the receipt of a registration', async () => {
    await emptyHost()
    const [one, two] = ['one', 'two'].map(id => JSON.stringify({ id: `batch-${id}`, manifest: card(id) }))
    const { status, headers, text } = await send(`${one}\r\n\n${two}\n`)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      ...[200, 'application/x-ndjson', 'private, no-store'],
    ])
    const [first, second] = parseLines(text)
    expect([first, second]).toMatchObject([
      { line: 1, id: 'batch-one', status: 201, agent: { id: 'batch-one', seq: 1, root: true, published: true } },
      { line: 3, id: 'batch-two', status: 201, agent: { id: 'batch-two', seq: 1, root: false } },
    ])
    const put = (await (await host.put('batch-one', card('one'))).json()) as Record<string, unknown>
    expect({ ...first?.agent, changed: false, report: null }).toEqual({ ...put, report: null })
    expect([await exists('batch-one'), await exists('batch-two')]).toEqual([true, true])
    expect(await (await host.fetch('/agents?q=two')).json()).toMatchObject({ agents: [{ id: 'batch-two' }] })
  })

  it('refuses lines as a registration would be refused, and registers the others', async () => {
    await host.put('batch-taken', card('Taken'))
    const rows: [line: unknown, outcome: string | number][] = [
      [{ id: 'good', manifest: card('Good') }, 201],
      ['{"id": "broken', 'not-json'],
      [{ id: 'bad', manifest: { name: 'No address' } }, 'invalid-card'],
      [{ id: 'Bad Id', manifest: card('Bad') }, 'bad-agent-id'],
      [{ id: 'more', manifest: card('More'), color: 'red' }, 'bad-line'],
      [{ id: 'good', manifest: card('Again') }, 'bad-line'],
      ['{"id": "twice", "id": "twice", "manifest": {}}', 'duplicate-name'],
      [{ id: 'there', manifest: card('There'), ifMatch: '"other"' }, 'precondition-failed'],
      [{ id: 'batch-taken', manifest: card('Taken'), ifNoneMatch: '*' }, 'precondition-failed'],
      [{ id: 'one', manifest: card('One'), ifNoneMatch: '"a"' }, 'bad-condition'],
      [{ id: 'long', manifest: { ...card('Long'), description: 'x'.repeat(MAX_BODY_BYTES) } }, 'too-large'],
      [{ id: 'last', manifest: card('Last') }, 201],
    ]
    const { status, results, outcomes } = await batch(rows.map(([line]) => line))
    expect([status, outcomes]).toEqual([200, rows.map(([, outcome]) => outcome)])
    expect(results.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(await Promise.all(['good', 'bad', 'there', 'last'].map(exists))).toEqual([true, false, false, true])
  })

  it('checks the permission for each line, and what only an admin may do, and records a refusal in the audit', async () => {
    const { token, id } = await host.issue({ scopes: ['write'], agents: ['team-*'] })
    const lines = [
      { id: 'team-a', manifest: card('A') },
      { id: 'other-b', manifest: card('B') },
      { id: 'team-c', manifest: { card: card('C'), hosts: ['c.example.com'] } },
      { id: 'team-d', manifest: { card: card('D'), route: 'gateway', upstream: { secret: 'A_SECRET' } } },
    ]
    expect((await batch(lines, { token })).outcomes).toEqual([201, 'forbidden', 'forbidden', 'forbidden'])
    const { body } = await request('/audit?limit=5', { method: 'GET', token: adminToken })
    expect((body as { entries: object[] }).entries).toContainEqual(
      expect.objectContaining({ what: 'write-refused', actor: id, agent: 'other-b' }),
    )
    const reader = await host.issue({ scopes: ['read'] })
    expect((await send('{}', { token: reader.token })).status).toBe(403)
    expect((await send('{}', { token: 'wrong' })).status).toBe(401)
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

  it('reads a file of Windows with a byte order mark, and ends lines at no other separator', async () => {
    const line = JSON.stringify({ id: 'bom', manifest: card('One\u2028line') })
    for (const type of ['application/ndjson', 'application/jsonl; charset=utf-8']) {
      const { status, text } = await send(`\ufeff${line}\r\n\r\n`, { type })
      expect([status, parseLines(text).length], type).toEqual([200, 1])
    }
  })
})

describe('POST /agents:batch?atomic=true', () => {
  const query = '?atomic=true'

  it('registers all', async () => {
    const lines = ['all-a', 'all-b'].map(id => ({ id, manifest: card(id) }))
    const { status, outcomes } = await batch(lines, { query })
    expect([status, outcomes, await exists('all-a'), await exists('all-b')]).toEqual([200, [201, 201], true, true])
  })

  it('registers none if a line is invalid, is rejected by the Registry, or claims a host name of an earlier line', async () => {
    const hosts = ['none.example.com']
    for (const [line, code] of [
      [{ id: 'none-b', manifest: { name: 'No address' } }, 'invalid-card'],
      [{ id: 'none-b', manifest: card('B'), ifMatch: '"other"' }, 'precondition-failed'],
      [{ id: 'none-b', manifest: { card: card('B'), hosts } }, 'host-taken'],
    ] as const) {
      const lines = [
        { id: 'none-a', manifest: { card: card('A'), hosts } },
        line,
        { id: 'none-c', manifest: card('C') },
      ]
      const { status, outcomes } = await batch(lines, { query })
      expect([status, outcomes]).toEqual([422, ['batch-refused', code, 'batch-refused']])
    }
    expect(await Promise.all(['none-a', 'none-b', 'none-c'].map(exists))).toEqual([false, false, false])
    expect(await (await host.fetch('/agents?q=none')).json()).toEqual({ agents: [] })
    expect((await request('/agents/none-a/revisions', { method: 'GET', token: adminToken })).status).toBe(404)
  })

  it('registers none of many lines if those that are prepared last are all invalid', async () => {
    // 55 lines are prepared before the others.
    const lines = Array.from({ length: 55 }, (_, index) => ({ id: `most-${index}`, manifest: card(`M ${index}`) }))
    const { status, outcomes } = await batch([...lines, { id: 'least', manifest: {} }], { query })
    expect([status, outcomes]).toEqual([422, [...Array(55).fill('batch-refused'), 'invalid-card']])
    expect(await exists('most-0')).toBe(false)
  })
})

it('a line whose agent is being changed is registered before the next one, which gets no host name of it', async () => {
  vi.spyOn(console, 'error').mockReturnValue()
  const clear = vi.fn(async () => undefined)
  const node = await startNodeHost()
  Object.assign(node.env, { TASK_OWNERS: { getByName: () => ({ clear }) } })
  const post = async (...lines: object[]) => {
    const body = lines.map(line => JSON.stringify(line)).join('\n')
    const headers = { 'Content-Type': 'application/x-ndjson' }
    const { text } = await senderTo(node)('/agents:batch', { token: adminToken, headers, body })
    return parseLines(text).map(({ status }) => status)
  }
  await node.put('changing', card('Before'))
  // The owners of its tasks are not cleared yet, nor at the first attempt of the batch.
  clear.mockRejectedValueOnce(new Error('down')).mockRejectedValueOnce(new Error('down'))
  await node.registry.remove('changing', {}, 'admin')
  const lines = ['changing', 'next'].map(id => ({ id, manifest: { card: card(id), hosts: ['one.example.com'] } }))
  expect(await post(...lines, { id: 'last', manifest: card('Last') })).toEqual([201, 409, 201])
})

it('a batch that is refused as a whole registers nothing', async () => {
  const line = JSON.stringify({ id: 'whole', manifest: card('Whole') })
  for (const [body, options, status, code] of [
    [line, { type: 'application/json' }, 415, 'unsupported-media-type'],
    ['\n\n', {}, 400, 'empty-batch'],
    [`${line}\n`.repeat(MAX_BATCH_LINES + 1), {}, 413, 'too-large'],
    [`${line}\n${'x'.repeat(MAX_BATCH_BYTES)}`, {}, 413, 'too-large'],
    [line, { query: '?atom=true' }, 400, 'unknown-query'],
  ] as const)
    expect(await send(body, options)).toMatchObject({ status, body: { code } })
  expect(await exists('whole')).toBe(false)
})
