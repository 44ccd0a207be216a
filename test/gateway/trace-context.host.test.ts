import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { continueTrace } from '../../src/gateway/upstream/trace-context.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, startCalledHost } from '../support/called-host.ts'
import { call, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'

const env = { ADMIN_TOKEN: 'the-long-admin-token' }
const traceId = '12345678901234567890123456789012'
const parentSpanId = '1234567890123456'
const valid = `00-${traceId}-${parentSpanId}-01`

const continued = (traceparent: string, headers: Record<string, string> = {}) =>
  continueTrace(new Headers({ traceparent, ...headers }), env)

// The vectors are those of the test suite of W3C Trace Context.
describe('W3C Trace Context, traceparent', () => {
  it.each([
    ['in version 00', valid],
    ['with a version of the future', `cc-${traceId}-${parentSpanId}-01`],
    ['with fields of the future', `cc-${traceId}-${parentSpanId}-01-what-the-future-will-be-like`],
    ['with white space around it', `\t ${valid} \t`],
  ])('continues the trace with a span of its own: %s', (_, traceparent) => {
    expect(continued(traceparent)).toEqual({
      traceId,
      parentSpanId,
      spanId: expect.stringMatching(/^(?!1234567890123456)(?!0{16})[0-9a-f]{16}$/),
      flags: '01',
      state: '',
    })
  })

  it.each([
    ['twice', `${valid}, 00-${traceId}-${parentSpanId}-01`],
    ['twice in a version of the future', `cc-${traceId}-${parentSpanId}-01, cc-${traceId}-${parentSpanId}-01`],
    ['with more characters in version 00', `${valid}.`],
    ['with more fields in version 00', `${valid}-what-the-future-will-be-like`],
    ['with another separator in a version of the future', `cc-${traceId}-${parentSpanId}-01.what`],
    ['in version ff', `ff-${traceId}-${parentSpanId}-01`],
    ['with a version that is not hexadecimal', `.0-${traceId}-${parentSpanId}-01`],
    ['with a version that is not hexadecimal', `0.-${traceId}-${parentSpanId}-01`],
    ['with a version that is too long', `000-${traceId}-${parentSpanId}-01`],
    ['with a version that is too short', `0-${traceId}-${parentSpanId}-01`],
    ['with a trace id of zeros', `00-${'0'.repeat(32)}-${parentSpanId}-01`],
    ['with a trace id that is not hexadecimal', `00-.2345678901234567890123456789012-${parentSpanId}-01`],
    ['with a trace id in upper case', `00-${'A'.repeat(32)}-${parentSpanId}-01`],
    ['with a trace id that is too long', `00-${traceId}3-${parentSpanId}-01`],
    ['with a trace id that is too short', `00-1234567890123456789012345678901-${parentSpanId}-01`],
    ['with a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['with a span id that is not hexadecimal', `00-${traceId}-123456789012345.-01`],
    ['with a span id that is too long', `00-${traceId}-12345678901234567-01`],
    ['with a span id that is too short', `00-${traceId}-123456789012345-01`],
    ['with flags that are not hexadecimal', `00-${traceId}-${parentSpanId}-.0`],
    ['with flags that are too long', `00-${traceId}-${parentSpanId}-001`],
    ['with flags that are too short', `00-${traceId}-${parentSpanId}-1`],
    ['that is empty', ''],
  ])('ignores a header %s', (_, traceparent) => {
    expect(continued(traceparent, { tracestate: 'a=1' })).toBeUndefined()
  })

  it.each([
    ['00', '00'],
    ['01', '01'],
    ['02', '02'],
    ['03', '03'],
    ['09', '01'],
    ['ff', '03'],
    ['fc', '00'],
  ])('keeps the flags sampled and random, and sets all others to zero: %s', (flags, expected) => {
    expect(continued(`00-${traceId}-${parentSpanId}-${flags}`)?.flags).toBe(expected)
  })

  it('starts no trace without the header, even with tracestate', () => {
    expect(continueTrace(new Headers({ tracestate: 'foo=1' }), env)).toBeUndefined()
  })

  it('is for one hop only if Connection names it', () => {
    expect(continued(valid, { Connection: 'close, Traceparent' })).toBeUndefined()
    expect(continued(valid, { Connection: 'tracestate', tracestate: 'a=1' })?.state).toBe('')
  })

  it('is ignored if it contains the ADMIN_TOKEN', () => {
    expect(continueTrace(new Headers({ traceparent: valid }), { ADMIN_TOKEN: traceId })).toBeUndefined()
  })

  it('has another span in each call', () => {
    expect(new Set(Array.from({ length: 100 }, () => continued(valid)?.spanId)).size).toBe(100)
  })
})

describe('W3C Trace Context, tracestate', () => {
  it.each(['foo=1,bar=2', 'foo=1 \t , \t bar=2', 'foo@=1,FOO=2,foo=3,', `a=${'x'.repeat(2000)}`])(
    'passes as it is, because this host has no entry of its own: %s',
    tracestate => {
      expect(continued(valid, { tracestate })?.state).toBe(tracestate)
    },
  )
})

describe('the trace of a call', () => {
  let called: CalledHost
  beforeAll(async () => {
    called = await startCalledHost()
    const card = agentCard(called.agent.origin, { capabilities: { streaming: true } })
    await called.register('traced', { card, gate: { capabilities: 'warn' } })
  })
  afterAll(() => called.close())
  beforeEach(() => called.agent.respond(answerCalls))

  const traceHeaders = ({ traceparent, tracestate }: NodeJS.Dict<string | string[]>) => ({ traceparent, tracestate })
  const send = async (path: string, body: object, headers: Record<string, string>) => {
    const before = called.host.logged().length
    await called.send(`/agents/traced/a2a${path}`, { body: body as never, headers })
    await expect.poll(() => called.host.logged().length).toBeGreaterThan(before)
    const [line = '{}'] = called.host.logged().slice(before)
    return { sent: traceHeaders(called.agent.requests.at(-1)?.headers ?? {}), line: JSON.parse(line) }
  }

  it.each([
    ['over JSON-RPC', '', call()],
    ['over HTTP+JSON', '/message:send', message()],
    ['that is a stream', '', call('SendStreamingMessage')],
  ])('is the same at the agent and in the log: %s', async (_, path, body) => {
    const { sent, line } = await send(path, body, { traceparent: valid, tracestate: 'congo=t61rcWkgMzE' })
    expect(line).toMatchObject({
      event: 'call',
      trace_id: traceId,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      parent_span_id: parentSpanId,
      trace_flags: '01',
    })
    expect(sent).toEqual({
      traceparent: `00-${traceId}-${line.span_id}-01`,
      tracestate: 'congo=t61rcWkgMzE',
    })
  })

  it.each<[string, Record<string, string>]>([
    ['without traceparent', { tracestate: 'a=1' }],
    ['with an invalid traceparent', { traceparent: 'zz', tracestate: 'a=1' }],
  ])('is neither sent nor logged %s', async (_, headers) => {
    const { sent, line } = await send('', call(), headers)
    expect(sent).toEqual({})
    expect(Object.keys(line).filter(name => /trace|span/.test(name))).toEqual([])
  })
})
