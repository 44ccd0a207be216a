import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ServerTiming } from '../../src/http/server-timing.ts'

beforeEach(() => void vi.useFakeTimers())

const preferring = (preference: string) => ServerTiming.start(new Headers({ Prefer: preference }))

describe('the preference server-timing', () => {
  it.each([
    'server-timing',
    'Server-Timing',
    'return=minimal, server-timing',
    'respond-async,server-timing ,wait=10',
    'server-timing; detail=high',
    'foo="a\\", b", server-timing',
  ])('is recognized as RFC 7240 writes it: %s', preference => {
    expect(preferring(preference)).toBeInstanceOf(ServerTiming)
  })

  it.each(['', 'return=minimal', 'server-timings', 'x-server-timing', 'server-timing=off', 'foo="a, server-timing"'])(
    'is not read into other preferences: %s',
    preference => {
      expect(preferring(preference)).toBeUndefined()
    },
  )
})

describe('Server-Timing', () => {
  const report = (timing: ServerTiming | undefined, response = new Response()) => {
    timing?.addTo(response)
    return response.headers
  }

  it('has what was measured, in one order, and the total', () => {
    const timing = preferring('server-timing')
    vi.advanceTimersByTime(3)
    timing?.lap('kv')
    timing?.lap('auth')
    vi.advanceTimersByTime(40)
    timing?.lap('upstream')
    vi.advanceTimersByTime(1)
    expect(report(timing).get('Server-Timing')).toBe('auth;dur=0, kv;dur=3, upstream;dur=40, total;dur=44')
  })

  it('adds up several laps of one metric', () => {
    const timing = preferring('server-timing')
    for (let time = 0; time < 3; time++) {
      vi.advanceTimersByTime(5)
      timing?.lap('kv')
    }
    expect(report(timing).get('Server-Timing')).toBe('kv;dur=15, total;dur=15')
  })

  it('can be read by pages of any origin, in addition to what they can read', () => {
    const response = new Response(null, {
      headers: { 'Access-Control-Expose-Headers': 'ETag', Vary: 'A2A-Version' },
    })
    expect(Object.fromEntries(report(preferring('server-timing'), response))).toEqual({
      'access-control-expose-headers': 'ETag, Server-Timing, Preference-Applied',
      'preference-applied': 'server-timing',
      'server-timing': 'total;dur=0',
      'timing-allow-origin': '*',
      vary: 'A2A-Version, Prefer',
    })
  })
})
