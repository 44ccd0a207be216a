import { beforeEach, describe, expect, it, vi } from 'vitest'
import { Catalog } from '../../src/api/catalogs/start.ts'
import { createOpenApiDocument } from '../../src/api/openapi/index.ts'
import { handleRequest, routes } from '../../src/app.ts'
import { Contract } from '../support/schemas/openapi.ts'

const contract = new Contract(await createOpenApiDocument(routes))

const token = 'the-long-admin-token'
const card = { name: 'Agent', description: 'Does things', url: 'https://agent.example.com/a2a' }

/** The error of the runtime while a Durable Object cannot be reached. */
let error: Error
beforeEach(() => {
  error = Object.assign(new Error('Network connection lost.'), { retryable: true, remote: false })
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'info').mockImplementation(() => undefined)
})

const registry = new Proxy({}, { get: () => () => Promise.reject(error) })
const limit = { limit: async () => ({ success: true }) }
const env = {
  ADMIN_TOKEN: token,
  PUBLIC_URL: '',
  CARDS: { getWithMetadata: async () => ({ value: null, metadata: null }) },
  REGISTRY: { getByName: () => registry },
  ...{ CALL_LIMIT: limit, WRITE_LIMIT: limit },
} as unknown as Env
const ctx = {
  waitUntil: () => undefined,
  exports: {
    Catalog: () => {
      const catalog = Object.assign(new Catalog(ctx, env), { env })
      return { fetch: (request: Request) => catalog.fetch(request) }
    },
  },
} as unknown as ExecutionContext

const send = async (method: string, path: string, body?: object | undefined, headers: Record<string, string> = {}) => {
  const request = new Request(`https://host.example${path}`, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  const response = await handleRequest(request, env, ctx)
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) }
}
const admin = { Authorization: `Bearer ${token}` }

describe('while the Registry is unavailable', () => {
  it('every endpoint returns 503 with Retry-After, as the OpenAPI document describes it', async () => {
    const rows: [method: string, path: string, body?: object | undefined, headers?: Record<string, string>][] = [
      ['GET', '/agents'],
      ['GET', '/agents', undefined, admin],
      ['GET', '/.well-known/ai-catalog.json'],
      ['GET', '/llms.txt', undefined, { 'If-None-Match': '*' }],
      ['PUT', '/agents/a', card, admin],
      ['GET', '/tokens', undefined, admin],
    ]
    for (const [method, path, ...rest] of rows) {
      const { status, headers, body } = await send(method, path, ...rest)
      const answer = { status, headers, text: JSON.stringify(body) }
      expect(contract.findResponseErrors(method, path, answer), `${method} ${path}`).toEqual([])
      expect([status, headers.get('Retry-After'), headers.get('Cache-Control'), body.code]).toEqual([
        ...[503, '10', 'no-store', 'unavailable'],
      ])
    }
  })

  it('POST /agents:batch returns 503 for each line, as others may have been registered', async () => {
    let calls = 0
    const answers = {
      latestRevision: async () => null,
      registerAll: async (registrations: readonly { id: string }[]) => {
        if (calls++ > 0) throw error
        return registrations.map(() => ({ ...registered, published: true, hosts: [], changed: [], removedTiers: [] }))
      },
    }
    const registered = { outcome: 'registered', seq: 1, publishedSeq: 1, modified: 0, created: true, revised: true }
    const lines = Array.from({ length: 60 }, (_, index) => JSON.stringify({ id: `b-${index}`, manifest: card }))
    const request = new Request('https://host.example/agents:batch', {
      method: 'POST',
      headers: { ...admin, 'Content-Type': 'application/x-ndjson' },
      body: lines.join('\n'),
    })
    const purging = { ...ctx, exports: { Catalog: () => ({ purge: async () => undefined }) } } as unknown as typeof ctx
    const response = await handleRequest(request, { ...env, REGISTRY: { getByName: () => answers } } as never, purging)
    const results = (await response.text()).trimEnd().split('\n')
    const statuses = results.map(line => (JSON.parse(line) as { status: number }).status)
    expect([response.status, statuses.filter(status => status === 201).length]).toEqual([200, 50])
    expect(statuses.filter(status => status === 503)).toHaveLength(10)
  })

  it('GET /agents returns 500 for an unexpected error', async () => {
    error = Object.assign(new Error('no such column'), { remote: true })
    const { status, headers, body } = await send('GET', '/agents')
    expect([status, body]).toEqual([500, ''])
    expect(contract.findResponseErrors('GET', '/agents', { status, headers, text: '' })).toEqual([])
  })

  it('the methods of SuperX return 503 with a JSON-RPC error', async () => {
    for (const [method, params, headers] of [
      ['agents/list', {}, undefined],
      ['agents/refreshCard', { id: 'unreachable' }, admin],
    ] as const) {
      const call = { jsonrpc: '2.0', id: 1, method, params }
      const { status, headers: received, body } = await send('POST', '/rpc', call, headers)
      const answer = { status, headers: received, text: JSON.stringify(body) }
      expect(contract.findResponseErrors('POST', '/rpc', answer)).toEqual([])
      expect([status, received.get('Retry-After'), body]).toMatchObject([503, '10', { id: 1, error: { code: -32000 } }])
    }
  })
})
