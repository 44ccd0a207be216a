import { describe, expect, it } from 'vitest'
import {
  addCall,
  addMediaTypes,
  createObservations,
  mergeObservations,
  type Observations,
  type ObservedCall,
} from '../../../src/card/model/observed-calls.ts'
import { MAX_OBSERVED_MEDIA_TYPES } from '../../../src/limits.ts'

const answered: ObservedCall = {
  operation: 'send',
  protocol: 'JSONRPC 1.0',
  outcome: 'answered',
  protocolOutcome: 'answered',
}

const observe = (calls: Partial<ObservedCall>[], mediaTypes: string[][] = []): Observations => {
  const observations = createObservations(100)
  for (const [index, call] of calls.entries()) addCall(observations, { ...answered, ...call }, 100 + index)
  for (const types of mediaTypes) addMediaTypes(observations, types)
  return observations
}

describe('observations', () => {
  it('count calls by operation, protocol, capability and failure', () => {
    const observed = observe([
      {},
      { operation: 'stream', streaming: 'answered' },
      { operation: 'stream', streaming: 'refused', outcome: 'refused', failure: '-32004' },
      { pushNotifications: 'answered' },
      { protocol: 'JSONRPC 0.3', outcome: 'failed', protocolOutcome: 'failed', failure: 'timeout' },
    ])
    expect(observed).toEqual({
      first: 100,
      last: 104,
      calls: 5,
      failures: { '-32004': 1, timeout: 1 },
      operations: { send: { answered: 2, refused: 0, failed: 1 }, stream: { answered: 1, refused: 1, failed: 0 } },
      protocols: {
        'JSONRPC 1.0': { answered: 4, refused: 0, failed: 0 },
        'JSONRPC 0.3': { answered: 0, refused: 0, failed: 1 },
      },
      streaming: { answered: 1, refused: 1, failed: 0 },
      pushNotifications: { answered: 1, refused: 0, failed: 0 },
      mediaTypes: {},
    })
  })

  it('merge to what one isolate would have counted', () => {
    const calls: Partial<ObservedCall>[] = [
      {},
      { operation: 'stream', streaming: 'failed' },
      { outcome: 'failed', failure: 'timeout', protocol: 'HTTP+JSON 1.0' },
      { pushNotifications: 'refused' },
    ]
    const types = [['text/plain'], ['text/plain', 'image/png']]
    const whole = observe(calls, types)
    const merged = observe(calls.slice(0, 1), types.slice(0, 1))
    const rest = { ...observe(calls.slice(1), types.slice(1)), first: 110, last: 103 }
    mergeObservations(merged, rest)
    expect(merged).toEqual(whole)
  })

  it('count a media type once for each result, in lower case and without parameters', () => {
    const observed = observe([], [['Text/Plain; charset=utf-8', 'text/plain'], ['text/plain']])
    expect(observed.mediaTypes).toEqual({ 'text/plain': 2 })
  })

  it('count what is no registered kind of media type as `other`, because it could be the text of a caller', () => {
    const subtype = 'x'.repeat(64)
    const known = ['application', 'audio', 'font', 'image', 'message', 'model', 'multipart', 'text', 'video']
    for (const type of known)
      expect(addMediaTypes(createObservations(0), [`${type}/${subtype}`])).toEqual([`${type}/${subtype}`])
    const unknown = ['', 'text', 'a/b/c', '__proto__', 'text/*', 'my-secret/x', 'text/a_b', `text/${subtype}x`]
    for (const type of unknown) expect([type, addMediaTypes(createObservations(0), [type])]).toEqual([type, ['other']])
    const observed = observe([], [[...unknown, 'text/plain']])
    expect(observed.mediaTypes).toEqual({ other: 1, 'text/plain': 1 })
  })

  it(`count media types beyond ${MAX_OBSERVED_MEDIA_TYPES} as \`other\`, also when they merge`, () => {
    const types = (prefix: string) => Array.from({ length: 80 }, (_, index) => `${prefix}/t${index}`)
    const kept = [...types('audio').slice(0, MAX_OBSERVED_MEDIA_TYPES), 'other']
    const observed = observe([], [types('audio'), types('audio')])
    expect(Object.keys(observed.mediaTypes)).toEqual(kept)
    expect(observed.mediaTypes.other).toBe(2)
    mergeObservations(observed, observe([], [types('video'), types('audio')]))
    expect(Object.keys(observed.mediaTypes)).toEqual(kept)
    expect(observed.mediaTypes['audio/t0']).toBe(2)
  })

  it('count failures beyond 50 kinds as `other`, so that their sum stays true', () => {
    const observed = observe(Array.from({ length: 80 }, (_, index) => ({ outcome: 'failed', failure: `-${index}` })))
    mergeObservations(observed, observe([{ outcome: 'failed', failure: 'timeout' }]))
    expect(Object.keys(observed.failures)).toHaveLength(51)
    expect(observed.failures.other).toBe(31)
  })

  it('never count beyond the largest safe integer', () => {
    const full = createObservations(0)
    full.calls = full.streaming.answered = Number.MAX_SAFE_INTEGER
    full.mediaTypes['text/plain'] = full.failures.timeout = Number.MAX_SAFE_INTEGER
    const more = observe([{ streaming: 'answered', failure: 'timeout' }], [['text/plain']])
    mergeObservations(full, more)
    addCall(full, { ...answered, streaming: 'answered', failure: 'timeout' }, 1)
    expect([full.calls, full.streaming.answered, full.mediaTypes['text/plain'], full.failures.timeout]).toEqual(
      Array(4).fill(Number.MAX_SAFE_INTEGER),
    )
  })
})
