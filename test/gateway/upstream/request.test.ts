import { describe, expect, it } from 'vitest'
import type { CallTarget } from '../../../src/card/model/calls.ts'
import type { HeaderSource } from '../../../src/gateway/upstream/index.ts'
import { rewriteRoutingParams, sentType, upstreamHeaders } from '../../../src/gateway/upstream/index.ts'
import { appendVia, continueTrace } from '../../../src/http/headers.ts'

const secret = { secret: 's3cret' }
const target: CallTarget = { binding: 'JSONRPC', version: '1.0', url: 'https://a.example.com' }

const trace = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: '00f067aa0ba902b7',
  parentSpanId: 'b7ad6b7169203331',
  flags: '01',
  state: 'a=1,b=2',
}

const build = (headers: Record<string, string>, source: Partial<HeaderSource> = {}) =>
  upstreamHeaders({
    target,
    version: '1.0',
    headers: new Headers(headers),
    extensions: [],
    credentials: { pass: ['authorization'] },
    streams: false,
    type: 'application/json',
    via: '1.1 here',
    containsHostToken: value => value.includes('cc_') || value.includes('the,admin,token'),
    ...source,
  })

const defaultHeaders = {
  Accept: 'application/json',
  'A2A-Version': '1.0',
  'Content-Type': 'application/json',
  Via: '1.1 here',
}

describe('upstreamHeaders', () => {
  it('drops every header outside the allow-list', () => {
    const headers = {
      ...{ Accept: 'text/html', 'A2A-Version': '1.0.1', Cookie: 'session=1', 'CF-Connecting-IP': '192.0.2.1' },
      ...{ 'A2A-Extensions': 'https://example.com/not-checked', 'X-API-Key': 'not named by the card' },
    }
    expect(build(headers)).toEqual(defaultHeaders)
  })

  it('passes on the credentials meant for the agent, but those for this hop, or sends the secret of the Worker', () => {
    const headers = { Authorization: 'Bearer own', 'X-API-Key': 'key' }
    const both = { credentials: { pass: ['authorization', 'x-api-key'] } }
    for (const [more, source, sent] of [
      [{}, both, { authorization: 'Bearer own', 'x-api-key': 'key' }],
      [{ Connection: 'close, X-API-Key' }, both, { authorization: 'Bearer own' }],
      [{}, { credentials: secret }, { Authorization: 'Bearer s3cret' }],
    ] as const)
      expect(build({ ...headers, ...more }, source)).toEqual({ ...defaultHeaders, ...sent })
  })

  it('continues the trace of the caller, and sends no header of a trace that is not continued', () => {
    const headers = { traceparent: `00-${trace.traceId}-${trace.parentSpanId}-01`, tracestate: 'a=1' }
    expect(build(headers)).toEqual(defaultHeaders)
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01'
    expect(build(headers, { trace })).toEqual({ ...defaultHeaders, traceparent, tracestate: 'a=1,b=2' })
    expect(build(headers, { trace: { ...trace, state: '' } })).toEqual({ ...defaultHeaders, traceparent })
  })

  it("sends the assertion of the caller, and never the caller's own", () => {
    const own = { 'Calling-Card-Assertion': 'forged', Connection: 'Calling-Card-Assertion' }
    expect(build(own)).toEqual(defaultHeaders)
    for (const credentials of [secret, { pass: ['calling-card-assertion'] }])
      expect(build(own, { assertion: 'signed', credentials })).toMatchObject({ 'Calling-Card-Assertion': 'signed' })
  })

  it('never passes on a reserved header as an API key', () => {
    for (const name of [
      ...['cookie', 'host', 'connection', 'content-length', 'content-type', 'transfer-encoding', 'via', 'forwarded'],
      ...['cf-access-jwt-assertion', 'x-forwarded-for', 'proxy-authorization', 'a2a-version', 'x-a2a-extensions'],
      ...['accept-encoding', 'x-http-method-override', 'te', 'upgrade', 'origin'],
      ...['calling-card-assertion', 'calling_card_assertion', 'x_forwarded_for'],
    ]) {
      const headers = new Headers({ [name]: 'key' })
      expect(build({}, { headers, credentials: { pass: [name] } }), name).toEqual(defaultHeaders)
    }
  })

  it('removes tokens of this host from every header', () => {
    const headers = { Authorization: 'Bearer cc_a', 'X-API-Key': 'cc_a' }
    const source = {
      trace: { ...trace, state: 'vendor=1, cc=cc_a, other=2' },
      credentials: { pass: ['authorization', 'x-api-key'] },
      extensions: ['https://e.example/1', 'urn:cc_a'],
      via: '1.1 cc_a, 1.1 edge, 1.1 here',
    }
    const sent = build(headers, source)
    expect(sent).toEqual({
      ...defaultHeaders,
      'A2A-Extensions': 'https://e.example/1',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01',
      tracestate: 'vendor=1, other=2',
      Via: '1.1 edge, 1.1 here',
    })
  })

  it('removes a token that contains commas', () => {
    const sent = build({}, { trace: { ...trace, state: 'a=the,admin,token' } })
    expect(sent).not.toHaveProperty('tracestate')
    expect(sent).toHaveProperty('traceparent')
  })

  it('names the extensions in the header of the version', () => {
    const extensions = ['https://e.example/1', 'https://e.example/2']
    for (const [version, name] of [
      ['1.0', 'A2A-Extensions'],
      ['0.3', 'X-A2A-Extensions'],
    ] as const)
      expect(build({}, { version, extensions })).toEqual({
        ...{ ...defaultHeaders, 'A2A-Version': version, [name]: 'https://e.example/1, https://e.example/2' },
      })
  })

  it('accepts the type of the binding, or a stream', () => {
    for (const [binding, version, streams, accept] of [
      ['JSONRPC', '1.0', true, 'text/event-stream'],
      ['HTTP+JSON', '0.3', false, 'application/json'],
      ['HTTP+JSON', '1.0', false, 'application/a2a+json, application/json'],
      ['HTTP+JSON', '1.0', true, 'text/event-stream'],
    ] as const)
      expect(build({}, { target: { ...target, binding }, version, streams }).Accept).toBe(accept)
  })

  it('has the type of the body, if there is one', () => {
    const headers = { 'Content-Type': 'application/json' }
    const type = 'application/a2a+json'
    expect(build(headers, { type })['Content-Type']).toBe(type)
    expect(build(headers, { type: undefined })).not.toHaveProperty('Content-Type')
  })
})

it('sentType rewrites the content type of a body', () => {
  for (const [received, type] of [
    ['application/vnd.other+json; charset=utf-16', 'application/json'],
    ['Application/A2A+JSON; charset=utf-8', 'application/a2a+json'],
    ['application/json', 'application/json'],
    [null, 'application/json'],
  ] as const)
    expect(sentType(received)).toBe(type)
})

const params = { id: 't', tenant: 'weather', agentName: 'Weather' }

it('rewriteRoutingParams removes the parameter that selected the agent, and sets those of the endpoint', () => {
  for (const [endpoint, selector, expected] of [
    [{}, undefined, params],
    [{}, 'tenant', { id: 't', agentName: 'Weather' }],
    [{ tenant: 'north' }, undefined, { ...params, tenant: 'north' }],
    [{ tenant: 'north' }, 'agentName', { id: 't', tenant: 'north' }],
    [{ agentName: 'DataProcessor' }, 'agentName', { ...params, agentName: 'DataProcessor' }],
  ] as const)
    expect(rewriteRoutingParams(params, { ...target, ...endpoint }, selector)).toStrictEqual(expected)
})

describe('appendVia', () => {
  const own = 'weather.cards.example.com'
  const hops = (count: number) => Array.from({ length: count }, (_, hop) => `1.1 hop${hop}`).join(', ')

  it('appends this hop', () => {
    for (const via of [null, '']) expect(appendVia(via, own)).toBe('1.1 weather.cards.example.com')
    for (const via of ['2 edge', '1.1 news.cards.example.com', '1.1 my-weather.cards.example.com', hops(9)])
      expect(appendVia(via, own), via).toBe(`${via}, 1.1 weather.cards.example.com`)
  })

  it('returns undefined for a loop or too many hops', () => {
    const loops = ['1.1 weather.cards.example.com', 'HTTP/2 WEATHER.cards.example.com (Calling Card)']
    const inside = '1.1 news.cards.example.com,1.1 weather.cards.example.com,1.1 edge'
    for (const via of [...loops, inside, hops(10), ','.repeat(10)]) expect(appendVia(via, own), via).toBeUndefined()
  })
})

const traceId = '12345678901234567890123456789012'
const parentSpanId = '1234567890123456'
const valid = `00-${traceId}-${parentSpanId}-01`

const continued = (traceparent: string, headers: Record<string, string> = {}) =>
  continueTrace(new Headers({ traceparent, ...headers }), () => false)

// The vectors are those of the test suite of W3C Trace Context.
describe('continueTrace, by W3C Trace Context', () => {
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

  it('is ignored if it contains a secret', () => {
    expect(continueTrace(new Headers({ traceparent: valid }), text => text.includes(traceId))).toBeUndefined()
  })

  it('passes tracestate as it is, because this host has no entry of its own', () => {
    expect(continued(valid, { tracestate: 'foo@=1 \t , \t FOO=2,' })?.state).toBe('foo@=1 \t , \t FOO=2,')
  })
})
