import { describe, expect, it } from 'vitest'
import { type HeaderSource, upstreamHeaders } from '../../src/gateway/upstream-request.ts'

const secret = { secret: 's3cret' }
const target = { binding: 'JSONRPC', version: '1.0', url: 'https://a.example.com' } as const

const sent = (headers: Record<string, string>, source: Partial<HeaderSource> = {}) =>
  upstreamHeaders({
    target,
    version: '1.0',
    headers: new Headers(headers),
    extensions: [],
    credentials: { pass: ['authorization'] },
    streams: false,
    hasBody: true,
    via: '1.1 here',
    ...source,
  })

const always = { Accept: 'application/json', 'A2A-Version': '1.0', 'Content-Type': 'application/json', Via: '1.1 here' }

describe('the headers of a call on its way up', () => {
  it('are an allow-list: nothing of the way here, of the browser or of the platform', () => {
    const headers = {
      Accept: 'text/html',
      'Accept-Language': 'de',
      'A2A-Version': '1.0.1',
      'A2A-Extensions': 'https://example.com/not-checked',
      'CF-Connecting-IP': '192.0.2.1',
      'CF-Ray': '1',
      'Content-Length': '999',
      Cookie: 'session=1',
      Forwarded: 'for=192.0.2.1',
      Host: 'cards.example.com',
      Origin: 'https://evil.example',
      'Proxy-Authorization': 'Basic eDp5',
      Referer: 'https://evil.example',
      TE: 'trailers',
      'User-Agent': 'someone',
      'X-API-Key': 'not named by the card',
      'X-Forwarded-For': '192.0.2.1',
    }
    expect(sent(headers)).toEqual(always)
  })

  it('keep the trace and the credentials that are for the agent', () => {
    const headers = { Authorization: 'Bearer own', traceparent: '00-1-2-01', tracestate: 'a=1', 'X-API-Key': 'key' }
    expect(sent(headers, { credentials: { pass: ['authorization', 'x-api-key'] } })).toEqual({
      ...always,
      authorization: 'Bearer own',
      traceparent: '00-1-2-01',
      tracestate: 'a=1',
      'x-api-key': 'key',
    })
  })

  it('hold no credentials of the caller that are not named', () => {
    expect(sent({ Authorization: 'Bearer of-this-host' }, { credentials: { pass: [] } })).toEqual(always)
  })

  it('hold the secret of the Worker in their place', () => {
    expect(sent({ Authorization: 'Bearer own', 'X-API-Key': 'key' }, { credentials: secret })).toEqual({
      ...always,
      Authorization: 'Bearer s3cret',
    })
  })

  it.each([['s3cret\n'], [' s3cret\r\n']])('hold it without the line end that came along with it: %j', text => {
    expect(sent({}, { credentials: { secret: text } })).toMatchObject({ Authorization: 'Bearer s3cret' })
  })

  it.each([[''], [' '], ['two\r\nX-Other: lines'], ['två'], ['two words']])('are none with the secret %j', text => {
    expect(sent({}, { credentials: { secret: text } })).toBeUndefined()
  })

  it.each([
    'cookie',
    'host',
    'connection',
    'content-length',
    'content-type',
    'transfer-encoding',
    'via',
    'forwarded',
    'cf-access-jwt-assertion',
    'x-forwarded-for',
    'proxy-authorization',
    'a2a-version',
    'x-a2a-extensions',
    'accept-encoding',
    'x-http-method-override',
    'te',
    'upgrade',
    'origin',
  ])('hold no API key in a header that means something else: %s', name => {
    const source = new Headers({ [name]: 'key' })
    expect(sent({}, { headers: source, credentials: { pass: [name] } })).toEqual(always)
  })

  it.each(['', 'bad name', 'x:y', 'x\r\ny', 'schlüssel', 'X-Upper'])('pass over what is no name: %j', name => {
    expect(sent({}, { credentials: { pass: [name] } })).toEqual(always)
  })

  it('end here where `Connection` names them', () => {
    const headers = { Connection: 'close, X-API-Key, Traceparent', 'X-API-Key': 'key', traceparent: '00-1-2-01' }
    expect(sent(headers, { credentials: { pass: ['x-api-key'] } })).toEqual(always)
  })

  it.each([
    ['1.0', { 'A2A-Version': '1.0', 'A2A-Extensions': 'https://e.example/1, https://e.example/2' }],
    ['0.3', { 'A2A-Version': '0.3', 'X-A2A-Extensions': 'https://e.example/1, https://e.example/2' }],
  ] as const)('name version %s and its extensions as that version does', (version, names) => {
    const extensions = ['https://e.example/1', 'https://e.example/2']
    expect(sent({}, { version, extensions })).toEqual({ ...always, ...names })
  })

  it.each([
    ['JSONRPC', '1.0', true, 'text/event-stream'],
    ['JSONRPC', '0.3', false, 'application/json'],
    ['HTTP+JSON', '0.3', false, 'application/json'],
    ['HTTP+JSON', '1.0', false, 'application/a2a+json, application/json'],
    ['HTTP+JSON', '1.0', true, 'text/event-stream'],
  ] as const)('ask over %s %s, streams %s, for %s', (binding, version, streams, accept) => {
    expect(sent({}, { target: { ...target, binding }, version, streams })).toMatchObject({ Accept: accept })
  })

  it.each([
    ['application/json', 'application/json'],
    ['application/json; charset=utf-16', 'application/json'],
    ['application/vnd.other+json', 'application/json'],
    ['Application/A2A+JSON; charset=utf-8', 'application/a2a+json'],
  ])('call a body that came as %s %s', (came, type) => {
    expect(sent({ 'Content-Type': came })).toEqual({ ...always, 'Content-Type': type })
  })

  it('name no type of a body that is not there', () => {
    expect(sent({ 'Content-Type': 'application/json' }, { hasBody: false })).not.toHaveProperty('Content-Type')
  })
})
