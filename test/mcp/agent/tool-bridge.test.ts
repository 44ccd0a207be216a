import { describe, expect, it, vi } from 'vitest'
import { createCallerIdentifier, throttle } from '../../../src/mcp/agent/tool-bridge.ts'

describe('createCallerIdentifier', () => {
  const identifyAddress = (address: string, identifyCaller = createCallerIdentifier()) =>
    identifyCaller({ caller: '', address })

  it('names an authenticated caller by its subject', async () => {
    const identity = await createCallerIdentifier()({ caller: 'token:a', address: '' })
    expect(identity).toEqual({ authenticated: true, name: 'token:a' })
  })

  it('names an anonymous caller by a hash of its address', async () => {
    const identifyCaller = createCallerIdentifier()
    const identity = await identifyAddress('203.0.113.7', identifyCaller)
    expect(identity).toEqual({ authenticated: false, name: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(await identifyAddress('203.0.113.7', identifyCaller)).toEqual(identity)
    expect((await identifyAddress('203.0.113.8', identifyCaller)).name).not.toBe(identity.name)
  })

  // Otherwise anybody who reads the storage could find the address by hashing all addresses.
  it('hashes an address with a secret of its own', async () => {
    expect(await identifyAddress('203.0.113.7')).not.toEqual(await identifyAddress('203.0.113.7'))
  })
})

describe('throttle', () => {
  it('runs the work at once, and once more after the interval for all requests in between', async () => {
    vi.useFakeTimers()
    const work = vi.fn(async () => undefined)
    const request = throttle(work, 1_000)
    const requests = [request(), request(), request()]
    await vi.advanceTimersByTimeAsync(999)
    expect(work).toHaveBeenCalledTimes(1)
    request()
    await vi.advanceTimersByTimeAsync(1_001)
    expect(work).toHaveBeenCalledTimes(2)
    await Promise.all(requests)
    await vi.advanceTimersByTimeAsync(10_000)
    expect(work).toHaveBeenCalledTimes(2)
    void request()
    expect(work).toHaveBeenCalledTimes(3)
  })
})
