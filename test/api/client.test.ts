import { describe, expect, it } from 'vitest'
import { ApiError, type Connection, createClient, isProblem } from '../../src/api/client/index.ts'
import { isExpected } from '../../src/api/client/shared.ts'

type Answer = { status?: number; body?: unknown; headers?: Record<string, string> } | 'none'

/** Creates a client of a host that responds in this way, one response after the other. */
const connect = (answers: Answer[], more: Partial<Connection> = {}) => {
  const sent: { path: string; init: RequestInit }[] = []
  const send: Connection['send'] = async (path, init) => {
    sent.push({ path, init })
    const answer = answers.shift() ?? {}
    if (answer === 'none') throw new ApiError({}, 'failed')
    const { status = 200, body = {}, headers } = answer
    return { status, headers: new Headers(headers), body }
  }
  const clock = { now: Date.now, sleep: async () => {} }
  const client = createClient({ token: 'secret', retries: 2, send, clock, ...more })
  return { ...client, sent, requests: () => sent.map(({ path, init }) => `${init.method} ${path}`) }
}

const problem = (status: number, code: string): Answer => ({ status, body: { status, code, detail: `${code}.` } })

describe('a client of the API', () => {
  it('makes a request from the row of its endpoint', async () => {
    const { call, sent } = connect([])
    const query = { limit: 2, cursor: undefined, id: ['a', 'b c'] }
    await call('GET /agents', { query })
    await call('PUT /agents/:id', { params: { id: 'a/b' }, body: { name: 'A' }, etag: '"1"' })
    await call('POST /agents/:id/rollback', { params: { id: 'a' }, body: { seq: 7 }, etag: null })
    await call('POST /agents:batch', {
      lines: [
        { id: 'a', manifest: {} },
        { id: 'b', manifest: {} },
      ],
      anonymous: true,
    })
    const [token, type] = [{ Authorization: 'Bearer secret' }, 'application/json']
    const rows = sent.map(({ path, init: { headers, body } }) => [path, headers, body])
    expect(rows).toEqual([
      ['/agents?limit=2&id=a&id=b+c', { Accept: type, ...token }, undefined],
      ['/agents/a%2Fb', { Accept: type, 'Content-Type': type, 'If-Match': '"1"', ...token }, '{"name":"A"}'],
      ['/agents/a/rollback', { Accept: type, 'Content-Type': type, 'If-None-Match': '*', ...token }, '{"seq":7}'],
      [
        '/agents:batch',
        { Accept: 'application/x-ndjson', 'Content-Type': 'application/x-ndjson' },
        '{"id":"a","manifest":{}}\n{"id":"b","manifest":{}}',
      ],
    ])
  })

  it('does not compile with names that the endpoint does not have', () => {
    const { call, pages } = connect([])
    const params = { id: 'a' }
    // @ts-expect-error: the path has a parameter
    const calls = [() => call('GET /agents/:id/source')]
    // @ts-expect-error: it has no such problem
    calls.push(() => call('GET /agents/:id/source', { params, ignore: 'no-sources' }))
    // @ts-expect-error: it is not conditional
    calls.push(() => call('GET /agents/:id/source', { params, etag: null }))
    // @ts-expect-error: its query has no such parameter
    calls.push(() => call('GET /audit', { query: { agents: 'a' } }))
    // @ts-expect-error: it is no list
    calls.push(() => pages('GET /tokens/self').next())
    expect(calls).toHaveLength(5)
  })

  it('has no result for an error that is to be ignored, and rejects every other', async () => {
    const { call } = connect([problem(409, 'no-source'), problem(404, 'agent-not-found')])
    const read = () => call('GET /agents/:id/source', { params: { id: 'a' }, ignore: 'no-source' })
    expect(await read()).toBe(undefined)
    const error = await read().catch((error: unknown) => error)
    expect(error).toMatchObject({ status: 404, message: 'agent-not-found.' })
    expect([isProblem(error, 'agent-not-found'), isProblem(error, 'no-source')]).toEqual([true, false])
  })

  it('repeats requests, but one that must not be made twice only after 429', async () => {
    const failing = (): Answer[] => [problem(429, 'too-many-requests'), 'none', { body: { id: 'a' } }]
    const { call, requests } = connect(failing())
    expect(await call('GET /tokens/self')).toEqual({ id: 'a' })
    expect(requests()).toHaveLength(3)
    const once = connect(failing())
    const body = { scopes: ['read' as const] }
    const error = await once.call('POST /tokens', { body, once: true }).catch((error: unknown) => error)
    expect([error, once.requests()]).toMatchObject([{ status: 0, retry: 'failed' }, ['POST /tokens', 'POST /tokens']])
    const reads = connect(failing(), { canRetry: method => method === 'GET' })
    await expect(reads.call('POST /tokens', { body })).rejects.toMatchObject({ status: 429 })
  })

  it('tells of a rejected attempt whether an earlier one may have reached the host', async () => {
    const params = { id: 'a' }
    for (const [earlier, isRepeated] of [
      ['none', true] as const,
      [problem(429, 'too-many-requests'), false] as const,
    ]) {
      const { call } = connect([earlier, problem(404, 'token-not-found')])
      await expect(call('DELETE /tokens/:id', { params })).rejects.toMatchObject({ status: 404, isRepeated })
    }
  })

  it('reads a list page by page, and a page that failed again', async () => {
    const page = (cursor?: string): Answer => ({ body: { tokens: [], ...(cursor && { cursor }) } })
    const { pages, requests } = connect([page('a'), problem(403, 'forbidden'), page()])
    const list = pages('GET /tokens', { query: { limit: 5 } })
    expect(await list.next()).toMatchObject({ done: false, value: { cursor: 'a' } })
    await expect(list.next()).rejects.toMatchObject({ code: 'forbidden' })
    expect(await Array.fromAsync(list)).toEqual([{ tokens: [] }])
    expect(requests().slice(1)).toEqual(Array(2).fill('GET /tokens?limit=5&cursor=a'))
  })
})

describe('isExpected', () => {
  const token = { id: 'a', note: '', scopes: ['read'], agents: ['*'], tiers: [], created: '2026-11-27T12:00:00.000Z' }
  const reply = (tokens: unknown, status = 200) => ({ status, headers: new Headers(), body: { tokens } })
  const isList = (...tokens: unknown[]) => isExpected('GET /tokens', reply(tokens))

  it('accepts further members and values of enumerations, as of a later version, and nothing else', () => {
    expect(isList({ ...token, expires: null }, { ...token, expires: null, more: 1 })).toBe(true)
    expect(isList({ ...token, expires: null, scopes: ['read', 'observe'] })).toBe(true)
    const scoped = (scope: unknown) => ({ ...token, expires: null, scopes: [scope] })
    const invalid = [token, { ...token, expires: 7 }, scoped(7), scoped('constructor'), scoped('__proto__')]
    expect(invalid.filter(each => isList(each))).toEqual([])
  })

  it('accepts no status that the endpoint does not have', () => {
    expect(isExpected('GET /tokens', reply([], 201))).toBe(false)
    expect(isExpected('DELETE /tokens/:id', { status: 204, headers: new Headers(), body: undefined })).toBe(true)
    expect(
      isExpected('POST /agents:batch', { status: 200, headers: new Headers(), body: [{ line: 1, status: 500 }] }),
    ).toBe(true)
  })
})
