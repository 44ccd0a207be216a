import { describe, expect, it } from 'vitest'
import { VERSION } from '../../src/version.ts'
import { sharedHost } from '../support/host.ts'

describe('GET /health', () => {
  const host = sharedHost()

  it('describes the host to anyone, and is never cached', async () => {
    const response = await host.fetch('/health')
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toBe('application/json')
    expect(response.headers.get('Cache-Control')).toBe('no-store')
    // Other tests on this host have remote cards whose upstreams fail.
    expect(await response.json()).toEqual({
      ...{ service: 'calling-card', version: VERSION, registry: 'reachable', webhook: null, missing: [] },
      status: expect.stringMatching(/^(ok|degraded)$/),
      unpublished: expect.any(Number),
      oldestStaleCard: expect.toSatisfy(time => time === null || !Number.isNaN(Date.parse(time))),
    })
  })
})
