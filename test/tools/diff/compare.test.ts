import { describe, expect, it } from 'vitest'
import { compare, describeDifference, Normalizer, toComparable } from '../../../tools/diff/compare.ts'

const side = (name: string, port: number) => ({
  values: new Map([
    ['token:caller', `cc_${name}`],
    ['id:caller', name],
  ]),
  agent: { origin: `http://127.0.0.1:${port}` },
})
const [one, other] = [side('onetoken', 40001), side('twotoken', 40002)]

const outcome = (body: string, headers: [string, string][] = []) => ({
  responses: [{ status: 200, headers, body, isCut: false }],
  exchanges: [],
})

/** What the two sides did, each with its own values. */
const comparedTexts = (write: (own: { token: string; port: number; uuid: string }) => string): string[] => {
  const write1 = write({ token: 'cc_onetoken', port: 40001, uuid: 'aaaaaaaa-0000-4000-8000-000000000001' })
  const write2 = write({ token: 'cc_twotoken', port: 40002, uuid: 'bbbbbbbb-0000-4000-8000-000000000002' })
  return [new Normalizer(one).text(write1), new Normalizer(other).text(write2)]
}

describe('normalization', () => {
  it('makes what is random or of one host the same', () => {
    const [before, after] = comparedTexts(
      ({ token, port, uuid }) => `${token} http://127.0.0.1:${port}/a ${uuid} ${uuid} ${new Date().toISOString()}`,
    )
    expect(before).toBe('<token:caller> http://<agent>/a <uuid 1> <uuid 1> <now>')
    expect(after).toBe(before)
  })

  it('keeps which of several random values is which', () => {
    const uuids = ['aaaaaaaa-0000-4000-8000-000000000001', 'aaaaaaaa-0000-4000-8000-000000000002']
    const [first = '', second = ''] = uuids
    expect(new Normalizer(one).text(`${first} ${second} ${first}`)).toBe('<uuid 1> <uuid 2> <uuid 1>')
  })

  it('keeps times that are not those of the run, and page tokens of agents', () => {
    const text = '2026-11-22T10:00:00Z 2020-01-01T00:00:00.000Z {"nextPageToken":"next"}'
    expect(new Normalizer(one).text(text)).toBe(text)
    expect(new Normalizer(one).text(`{"nextPageToken":"${'x'.repeat(60)}"}`)).toBe('{"nextPageToken":"<encrypted>"}')
  })

  it('drops durations and spans from log lines and headers', () => {
    const line = { event: 'call', 'calling_card.duration_ms': 7, span_id: 'abc', trace_id: 'def' }
    expect(new Normalizer(one).log(JSON.stringify(line))).toBe('{"event":"call","trace_id":"def","span_id":"<span>"}')
    const headers: [string, string][] = [
      ['Server-Timing', 'auth;dur=1, total;dur=20'],
      ['Date', 'now'],
      ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
    ]
    expect(new Normalizer(one).headers(headers)).toBe(
      'server-timing: auth;dur=<ms>, total;dur=<ms>\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-<span>-01',
    )
  })
})

describe('a comparison', () => {
  const comparable = (body: string, logs: string[] = [], headers: [string, string][] = []) =>
    toComparable(outcome(body, headers), logs, one)

  it('finds nothing where both did the same', () => {
    const headers: [string, string][] = [
      ['B', '1'],
      ['A', '2'],
    ]
    expect(compare(comparable('a', ['{}'], headers), comparable('a', ['{}'], headers.toReversed()))).toEqual([])
  })

  it('finds another byte, another header, and a log line that is missing', () => {
    const before = comparable('{"a":1}', ['{"event":"call"}'], [['Vary', 'Accept']])
    const found = (...changed: Parameters<typeof comparable>) =>
      compare(before, comparable(...changed)).map(({ part, index }) => `${part} ${index}`)
    expect(found('{"a": 1}', ['{"event":"call"}'], [['Vary', 'Accept']])).toEqual(['responses 0'])
    expect(found('{"a":1}', ['{"event":"call"}'])).toEqual(['responses 0'])
    expect(found('{"a":1}', [], [['Vary', 'Accept']])).toEqual(['logs 0'])
  })

  it('shows the first lines that differ', () => {
    const [difference] = compare(comparable('same\nbefore'), comparable('same\nafter'))
    expect(difference && describeDifference(difference)).toBe('  responses[0] 200, line 5:\n  - before\n  + after')
  })

  it('does not depend on how many empty lines are between the events of a stream', () => {
    const type: [string, string][] = [['Content-Type', 'text/event-stream']]
    expect(
      compare(comparable('data: 1\n\n\n\ndata: 2\n\n', [], type), comparable('data: 1\n\ndata: 2\n\n', [], type)),
    ).toEqual([])
  })
})
