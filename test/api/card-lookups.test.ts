import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { executionContext as ctx, kvWith } from '../support/kv.ts'
import { representation } from '../support/registrations.ts'

let handle: typeof import('../../src/app.ts').handleRequest
let isTimingLoaded: boolean
beforeEach(async () => {
  vi.resetModules()
  isTimingLoaded = false
  vi.doMock('../../src/http/server-timing.ts', async importOriginal => {
    isTimingLoaded = true
    return importOriginal()
  })
  handle = (await import('../../src/app.ts')).handleRequest
})

afterAll(() => {
  vi.doUnmock('../../src/http/server-timing.ts')
  vi.resetModules()
})

const { env } = kvWith({
  'card:a': {
    seq: 1,
    modified: 'Sun, 06 Nov 1994 08:49:37 GMT',
    representations: { 'agent-card.json': representation('a') },
  } as never,
})
const request = (headers: Record<string, string> = {}) =>
  new Request('https://host.example/agents/a/.well-known/agent-card.json', { headers })

describe('a card from memory', () => {
  it('costs five look-ups of headers, one of them for the preference server-timing, and no promise', async () => {
    expect((await handle(request(), env, ctx)).status).toBe(200)
    const warm = request()
    const lookUps: string[] = []
    for (const method of ['has', 'get'] as const) {
      const original = warm.headers[method].bind(warm.headers)
      vi.spyOn(warm.headers, method).mockImplementation(((name: string) => {
        lookUps.push(name)
        return original(name)
      }) as never)
    }
    expect(handle(warm, env, ctx)).toBeInstanceOf(Response)
    expect(lookUps).toEqual(['Authorization', 'Prefer', 'A2A-Version', 'If-None-Match', 'If-Modified-Since'])
    expect(isTimingLoaded).toBe(false)
  })

  it('is measured by code that is loaded for the first client that prefers it', async () => {
    const response = await handle(request({ Prefer: 'server-timing' }), env, ctx)
    expect([response.headers.get('Preference-Applied'), isTimingLoaded]).toEqual(['server-timing', true])
  })
})

it('may be cached as long as the configuration says', async () => {
  const configured = { ...env, CACHE_MAX_AGE: '5', CACHE_STALE_WHILE_REVALIDATE: '7' }
  const { headers } = await handle(request(), configured, ctx)
  expect(headers.get('Cache-Control')).toBe('public, max-age=5, stale-while-revalidate=7')
})
