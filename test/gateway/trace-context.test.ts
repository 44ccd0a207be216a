import { describe, expect, it } from 'vitest'
import { continueTrace } from '../../src/gateway/upstream/trace-context.ts'

const env = { ADMIN_TOKEN: 'the-long-admin-token' }
const traceId = '12345678901234567890123456789012'
const parentSpanId = '1234567890123456'
const valid = `00-${traceId}-${parentSpanId}-01`

const continued = (traceparent: string, headers: Record<string, string> = {}) =>
  continueTrace(new Headers({ traceparent, ...headers }), env)

// The vectors are those of the test suite of W3C Trace Context.
describe('W3C Trace Context, traceparent', () => {
  it('continues the trace with a span of its own', () => {
    const future = `cc-${traceId}-${parentSpanId}-01`
    for (const traceparent of [valid, future, `${future}-what-the-future-will-be-like`, `\t ${valid} \t`])
      expect(continued(traceparent), traceparent).toEqual({
        traceId,
        parentSpanId,
        spanId: expect.stringMatching(/^(?!1234567890123456)(?!0{16})[0-9a-f]{16}$/),
        flags: '01',
        state: '',
      })
  })

  it('ignores an invalid header', () => {
    const rest = `${traceId}-${parentSpanId}-01`
    for (const traceparent of [
      // Twice, in version 00 and in one of the future.
      ...[`${valid}, 00-${rest}`, `cc-${rest}, cc-${rest}`],
      // More characters and fields in version 00, another separator in one of the future.
      ...[`${valid}.`, `${valid}-what-the-future-will-be-like`, `cc-${rest}.what`],
      ...['ff', '.0', '000', '0'].map(version => `${version}-${rest}`),
      ...['0'.repeat(32), 'A'.repeat(32), `${traceId}3`, traceId.slice(1)].map(id => `00-${id}-${parentSpanId}-01`),
      ...['0'.repeat(16), '123456789012345.', '12345678901234567'].map(id => `00-${traceId}-${id}-01`),
      ...['.0', '001', '1'].map(flags => `00-${traceId}-${parentSpanId}-${flags}`),
      '',
    ])
      expect(continued(traceparent, { tracestate: 'a=1' }), traceparent).toBeUndefined()
  })

  it('keeps the flags sampled and random, and sets all others to zero', () => {
    const flagsOf = (flags: string) => continued(`00-${traceId}-${parentSpanId}-${flags}`)?.flags
    expect(['00', '01', '02', '03', '09', 'ff', 'fc'].map(flagsOf)).toEqual(['00', '01', '02', '03', '01', '03', '00'])
  })

  it('is for one hop only if Connection names it', () => {
    expect(continued(valid, { Connection: 'close, Traceparent' })).toBeUndefined()
    expect(continued(valid, { Connection: 'tracestate', tracestate: 'a=1' })?.state).toBe('')
  })

  it('is ignored if it contains the ADMIN_TOKEN', () => {
    expect(continueTrace(new Headers({ traceparent: valid }), { ADMIN_TOKEN: traceId })).toBeUndefined()
  })
})

it('passes tracestate as it is, because this host has no entry of its own', () => {
  expect(continued(valid, { tracestate: 'foo@=1 \t , \t FOO=2,' })?.state).toBe('foo@=1 \t , \t FOO=2,')
})
