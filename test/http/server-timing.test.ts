import { beforeEach, describe, expect, it, vi } from 'vitest'
import { isCardHost, userAgent } from '../../src/http/headers.ts'
import { ServerTiming } from '../../src/http/server-timing.ts'

beforeEach(() => void vi.useFakeTimers())

const preferring = (preference: string) => ServerTiming.start(new Headers({ Prefer: preference }))

describe('the preference server-timing', () => {
  it('is recognized as RFC 7240 writes it, and not read into other preferences', () => {
    const preferences = [
      ...['server-timing', 'Server-Timing', 'return=minimal, server-timing', 'respond-async,server-timing ,wait=10'],
      ...['server-timing; detail=high', 'foo="a\\", b", server-timing'],
    ]
    const others = [
      ...['', 'return=minimal', 'server-timings', 'x-server-timing', 'server-timing=off', 'foo="a, server-timing"'],
    ]
    expect([...preferences, ...others].filter(preferring)).toEqual(preferences)
  })
})

describe('Server-Timing', () => {
  const report = (timing: ServerTiming | undefined, response = new Response()) => {
    timing?.addTo(response)
    return response.headers
  }

  it('has the sum of what was measured of each metric, in one order, and the total', () => {
    const timing = preferring('server-timing')
    for (const metric of ['kv', 'auth', 'kv'] as const) {
      vi.advanceTimersByTime(metric === 'kv' ? 3 : 0)
      timing?.lap(metric)
    }
    vi.advanceTimersByTime(40)
    timing?.lap('upstream')
    vi.advanceTimersByTime(1)
    expect(report(timing).get('Server-Timing')).toBe('auth;dur=0, kv;dur=6, upstream;dur=40, total;dur=47')
  })

  it('can be read by pages of any origin, in addition to what they can read', () => {
    const headers = { Vary: 'A2A-Version' }
    expect(Object.fromEntries(report(preferring('server-timing'), new Response(null, { headers })))).toEqual({
      vary: 'A2A-Version, Prefer',
      ...{ 'preference-applied': 'server-timing', 'server-timing': 'total;dur=0', 'timing-allow-origin': '*' },
    })
  })
})

describe('isCardHost', () => {
  it('recognizes the User-Agent of a host of this project', () => {
    const isHost = (agent: string) => isCardHost(new Headers({ 'User-Agent': agent }))
    expect([userAgent(), userAgent('https://cards.example.com')].map(isHost)).toEqual([true, true])
    expect([isHost('Mozilla/5.0 (compatible; CallingCard)'), isCardHost(new Headers())]).toEqual([false, false])
  })
})
