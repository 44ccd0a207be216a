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

describe('a card that is requested several times in a row', () => {
  const headersOf = async (headers: Record<string, string> = {}) => {
    const response = await handle(request(headers), env, ctx)
    const found = [response.status, Object.fromEntries(response.headers)]
    // As the handler of a remote card does.
    response.headers.set('Age', '1')
    return found
  }
  const modified = 'Sun, 06 Nov 1994 08:49:37 GMT'
  const validated = {
    ...{ 'access-control-allow-origin': '*', vary: 'A2A-Version, Authorization', etag: '"a"' },
    'cache-control': 'public, max-age=60, stale-while-revalidate=86400',
    'strict-transport-security': 'max-age=31536000',
  }
  const content = {
    ...{ 'access-control-expose-headers': '*', 'x-content-type-options': 'nosniff' },
    ...{ 'content-type': 'application/json', 'last-modified': modified },
  }

  it('is sent with the same headers each time, and so is each 304', async () => {
    const conditional = { 'If-None-Match': '"a"' }
    for (let time = 0; time < 4; time++) {
      expect(await headersOf()).toEqual([200, { ...validated, ...content }])
      expect(await headersOf(conditional)).toEqual([304, validated])
    }
  })

  it('is sent with the entity tag and date of a new revision at once', async () => {
    for (let time = 0; time < 4; time++) await headersOf()
    const { cacheEnvelope } = await import('../../src/registry/edge/document-cache.ts')
    const changed = 'Mon, 07 Nov 1994 08:49:37 GMT'
    cacheEnvelope('a', { seq: 2, modified: changed, representations: { 'agent-card.json': representation('b') } })
    for (let time = 0; time < 4; time++)
      expect(await headersOf()).toEqual([200, { ...validated, ...content, etag: '"b"', 'last-modified': changed }])
  })
})

it('may be cached as long as the configuration says', async () => {
  const configured = { ...env, CACHE_MAX_AGE: '5', CACHE_STALE_WHILE_REVALIDATE: '7' }
  const { headers } = await handle(request(), configured, ctx)
  expect(headers.get('Cache-Control')).toBe('public, max-age=5, stale-while-revalidate=7')
})
