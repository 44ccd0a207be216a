import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { handleRequest } from '../../src/app.ts'
import type { WebhookHealth } from '../../src/registry/events/webhook-queue.ts'
import type { RegistryHealth } from '../../src/registry/store/store.ts'
import { VERSION } from '../../src/version.ts'
import { executionContext as ctx } from '../support/kv.ts'
import { token } from '../support/runtime.ts'

// The state of the host is kept in memory, which other files share.
vi.hoisted(() => vi.resetModules())
afterAll(() => vi.resetModules())

const healthy: RegistryHealth = { unpublished: 0, oldestStaleCard: null }
const ok = {
  ...{ service: 'calling-card', version: VERSION, status: 'ok', registry: 'reachable' },
  ...{ unpublished: 0, oldestStaleCard: null, webhook: null, missing: [], misconfigured: [] },
}

describe('the health of a host', () => {
  let health: () => Promise<RegistryHealth>
  let requests: number
  let errors: string[]
  let hours = 0
  beforeEach(() => {
    // What a test has read is not fresh in the next one.
    vi.useFakeTimers({ now: Date.UTC(2026, 0, 1, hours++) })
    health = async () => healthy
    requests = 0
    errors = []
    vi.spyOn(console, 'error').mockImplementation(line => errors.push(JSON.parse(line)))
  })

  const registry = {
    health: () => {
      requests++
      return health()
    },
    upstreamBindings: async () => [
      { secret: 'SET_TOKEN' },
      { secret: 'MISSING_TOKEN', service: 'MISSING' },
      { service: 'AGENT' },
      { secret: 'MISSING_TOKEN' },
    ],
  }
  const read = async (variables: Partial<Env> = {}, headers: Record<string, string> = {}) => {
    const env = { ADMIN_TOKEN: token, REGISTRY: { getByName: () => registry }, ...variables } as unknown as Env
    const response = await handleRequest(new Request('https://host.example/health', { headers }), env, ctx)
    return { status: response.status, body: await response.json(), retryAfter: response.headers.get('Retry-After') }
  }
  const fail = () => Promise.reject(Object.assign(new Error('Network connection lost.'), { retryable: true }))
  const unreachable = { ...ok, status: 'degraded', registry: 'unreachable', unpublished: null }

  it('is ok with nothing unpublished, stale or missing', async () => {
    expect(await read()).toEqual({ status: 200, body: ok, retryAfter: null })
  })

  it.each<[title: string, found: RegistryHealth, expected: object]>([
    ['what is not published', { ...healthy, unpublished: 3 }, { unpublished: 3 }],
    ['a stale card', { ...healthy, oldestStaleCard: 0 }, { oldestStaleCard: '1970-01-01T00:00:00.000Z' }],
  ])('is degraded, with status 200, by %s', async (_, found, expected) => {
    health = async () => found
    expect(await read()).toEqual({ status: 200, body: { ...ok, status: 'degraded', ...expected }, retryAfter: null })
  })

  describe('with a webhook', () => {
    const key = `whsec_${btoa('k'.repeat(24))}`
    const readWith = (state: () => Promise<WebhookHealth | null>, variables: Partial<Env> = {}) => {
      const EVENTS = { getByName: () => ({ health: state }) } as unknown as Env['EVENTS']
      return read({ EVENTS, WEBHOOK_URL: 'https://hooks.example.com/', WEBHOOK_SECRET: key, ...variables })
    }

    it('is ok while its receiver accepts what it is sent, and degraded while it fails', async () => {
      const { body } = await readWith(async () => ({ pending: 2, failingSince: null }))
      expect(body).toEqual({ ...ok, webhook: { pending: 2, failingSince: null } })
      vi.advanceTimersByTime(60_000)
      const failing = await readWith(async () => ({ pending: 5, failingSince: 0 }))
      const webhook = { pending: 5, failingSince: '1970-01-01T00:00:00.000Z' }
      expect(failing.body).toEqual({ ...ok, status: 'degraded', webhook })
    })

    it('is degraded while the state of the webhook is unknown, and the Registry reachable', async () => {
      const { status, body } = await readWith(() => Promise.reject(new Error('down')))
      expect({ status, body }).toEqual({
        status: 200,
        body: { ...ok, status: 'degraded', webhook: { pending: null, failingSince: null } },
      })
    })

    it.each(['', 'whsec_c2hvcnQ='])('is degraded without a valid key: %j', async secret => {
      const { body } = await readWith(async () => null, { WEBHOOK_SECRET: secret })
      expect(body).toEqual({ ...ok, status: 'degraded', missing: ['WEBHOOK_SECRET'] })
    })
  })

  it.each(['', 'too-short'])('is degraded without an ADMIN_TOKEN that is long enough: %j', async ADMIN_TOKEN => {
    const { status, body } = await read({ ADMIN_TOKEN })
    expect({ status, body }).toMatchObject({ status: 200, body: { status: 'degraded', missing: ['ADMIN_TOKEN'] } })
  })

  it('is degraded with a variable that is wrong, whose name anyone may read', async () => {
    const misconfigured = [
      { name: 'ROLE', message: 'must be public or internal' },
      { name: 'UPSTREAM_TIMEOUT', message: 'must be more than 0 and at most 86400 seconds' },
    ]
    const body = { ...ok, status: 'degraded', misconfigured }
    expect(await read({ ROLE: 'my-role', UPSTREAM_TIMEOUT: '1m' })).toEqual({ status: 200, body, retryAfter: null })
  })

  it('names the secrets and bindings that manifests lack to administrators only', async () => {
    const bindings = { SET_TOKEN: 'secret', AGENT: { fetch: () => undefined } } as unknown as Partial<Env>
    const missing = ['MISSING_TOKEN', 'MISSING']
    const { body } = await read(bindings, { Authorization: `Bearer ${token}` })
    expect(body).toEqual({ ...ok, status: 'degraded', missing })
    expect((await read(bindings)).body).toEqual(ok)
    expect((await read(bindings, { Authorization: 'Bearer wrong' })).body).toEqual(ok)
  })

  it('names none while they are unknown, and asks for them once in 20 seconds', async () => {
    const upstreamBindings = vi.spyOn(registry, 'upstreamBindings').mockImplementation(fail)
    const headers = { Authorization: `Bearer ${token}` }
    for (let reads = 0; reads < 3; reads++) expect((await read({}, headers)).body).toEqual(ok)
    expect(upstreamBindings).toHaveBeenCalledTimes(1)
  })

  it('is 503 while the Registry is unreachable, for a reason that only the log has', async () => {
    health = fail
    expect(await read()).toEqual({ status: 503, body: unreachable, retryAfter: '10' })
    expect(errors).toEqual([{ event: 'registry-unavailable', 'exception.message': 'Error: Network connection lost.' }])
  })

  it('is 503 if the Registry does not respond within 4 seconds', async () => {
    health = () => new Promise(() => undefined)
    const settled = vi.fn()
    void read().then(settled)
    await vi.advanceTimersByTimeAsync(3999)
    expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(settled).toHaveBeenCalledWith({ status: 503, body: unreachable, retryAfter: '10' })
  })

  it.each([
    ['reachable', async () => healthy],
    ['unreachable', fail],
  ])('costs one request to the Registry in 20 seconds, however often it is read: %s', async (_, answer) => {
    health = answer
    const concurrent = Array.from({ length: 50 }, () => read())
    await vi.advanceTimersByTimeAsync(100)
    const first = await Promise.all(concurrent)
    await vi.advanceTimersByTimeAsync(19_000)
    const later = await read()
    expect(requests).toBe(1)
    expect(new Set([...first, later].map(({ status }) => status)).size).toBe(1)
    health = fail
    await vi.advanceTimersByTimeAsync(30_001)
    expect([(await read()).status, requests]).toEqual([503, 2])
  })
})
