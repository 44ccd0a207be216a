import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { agentCard, shortCard } from '../support/cards/cards.ts'
import { doubled, growthWhenDoubled } from '../support/cpu-time.ts'
import { hostilePieces, mapStrings, repeatTo, stringPaths } from '../support/hostile.ts'
import { type NodeHost, startNodeHost } from '../support/node-host.ts'
import { token } from '../support/runtime.ts'

let host: NodeHost
beforeEach(() => {
  vi.spyOn(console, 'info').mockImplementation(() => undefined)
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})
beforeAll(async () => {
  host = await startNodeHost({ jsonrpc: '2.0', id: 1, result: { id: 't', status: { state: 'completed' } } })
  await host.put('echo', {
    card: agentCard('https://echo.example'),
    extended: { description: 'More' },
    route: 'gateway',
    upstream: { service: 'AGENT' },
  })
})

/** A request, each string of which is a place for hostile text. */
type Sample = {
  method?: string
  path: string[]
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Json
}

const admin = { Authorization: `Bearer ${token}` }
const message = {
  messageId: 'm',
  role: 'ROLE_USER',
  contextId: 'c',
  parts: [
    { text: 'Hello', mediaType: 'text/plain', metadata: { a: 'b' } },
    { url: 'https://a.example/', filename: 'a' },
  ],
  metadata: { skillId: 'now' },
}
const configuration = {
  acceptedOutputModes: ['text/plain; charset=utf-8'],
  pushNotificationConfig: { url: 'https://a.example/hook', token: 't', authentication: { schemes: ['Bearer'] } },
}
const call = (method: string, params: JsonObject, path = ['agents', 'echo', 'a2a'], headers = {}): Sample => ({
  method: 'POST',
  path,
  headers,
  body: { jsonrpc: '2.0', id: 'one', method, params },
})

const samples: Record<string, Sample> = {
  'a 1.0 call': call('SendMessage', { message, configuration, tenant: 'a' }, undefined, {
    'A2A-Version': '1.0',
    'A2A-Extensions': 'https://a.example/1, https://a.example/2',
    'X-A2A-Extensions': 'https://a.example/3',
    Authorization: 'Bearer abc',
    Via: '1.1 a.example (comment), 1.1 b.example',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    tracestate: 'a=b',
    Accept: 'application/json',
    'User-Agent': 'test/1',
    Cookie: 'a=b',
    'CF-Connecting-IP': '2001:db8::1',
  }),
  'a 0.3 call': call('message/send', {
    message: { ...message, parts: [{ kind: 'file', file: { mimeType: 'text/plain', uri: 'https://a.example/' } }] },
    configuration,
  }),
  'a call for a task': call('tasks/get', { id: 't', historyLength: '1' }),
  'a call by name': call('message/send', { agentName: 'Weather', message }, ['a2a', 'v1']),
  'a call by tenant': call('SendMessage', { tenant: 'echo', message }, ['a2a']),
  'a call over HTTP+JSON': {
    method: 'POST',
    path: ['agents', 'echo', 'a2a', 'message:send'],
    query: { tenant: 'a', 'A2A-Version': '1.0' },
    headers: { 'Content-Type': 'application/a2a+json; charset=utf-8' },
    body: { message, configuration },
  },
  'a task over HTTP+JSON': { path: ['agents', 'echo', 'a2a', 'tasks', 't'], query: { historyLength: '1', a: 'b' } },
  'a push configuration over HTTP+JSON': {
    path: ['agents', 'echo', 'a2a', 'v1', 'tasks', 't', 'pushNotificationConfigs', 'p'],
  },
  'agents/get': call('agents/get', { id: 'echo' }, ['rpc']),
  'agents/list': call('agents/list', { limit: '5', cursor: 'a' }, ['rpc']),
  'agents/refreshCard': call('agents/refreshCard', { name: 'Weather' }, ['rpc'], admin),
  'a card': {
    path: ['agents', 'echo', '.well-known', 'agent-card.json'],
    query: { dialect: '1.0', 'A2A-Version': '1.0' },
    headers: {
      'If-None-Match': '"a", W/"b"',
      'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT',
      Accept: 'text/html, application/json;q=0.9',
      Origin: 'https://a.example',
    },
  },
  'a card by name': { path: ['a2a', 'v1', 'agents', 'Weather'] },
  'a list': { path: ['agents'], query: { limit: '5', cursor: 'a' }, headers: admin },
  'a registration': {
    method: 'PUT',
    path: ['agents', 'other'],
    headers: { ...admin, 'If-Match': '"a", "b"', 'If-None-Match': '*' },
    body: { card: shortCard },
  },
  'a card to lint': { method: 'POST', path: ['lint'], query: { id: 'a' }, body: shortCard },
  'a token': {
    method: 'POST',
    path: ['tokens'],
    headers: admin,
    body: { scopes: ['read'], agents: ['a*'], tiers: ['base'], expires: '2030-01-01T00:00:00Z', note: 'n' },
  },
  'a revision': { path: ['agents', 'echo', 'revisions'], query: { limit: '5', cursor: '1' }, headers: admin },
}

/** Returns undefined for headers that HTTP does not allow. */
const toRequest = ({ method = 'GET', path, query = {}, headers = {}, body }: Sample): Request | undefined => {
  if (Object.values(headers).some(value => !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))) return undefined
  const search = Object.entries(query).map(([name, value]) => `${name}=${value}`)
  const url = `https://host.example/${path.join('/')}${search.length > 0 ? `?${search.join('&')}` : ''}`
  return new Request(url, {
    method,
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** Quadratic work on twice as many characters takes several times as long as NEGLIGIBLE_MS. */
const SIZE = 4096
const NEGLIGIBLE_MS = 10

/** Sends a sample with a text after one of its strings. Does nothing for text that no client can send there. */
const send = async (sample: Sample, place: string, text: string): Promise<void> => {
  const changed = mapStrings(sample as Json, (value, path) => (path.join('/') === place ? value + text : value))
  const request = toRequest(changed as unknown as Sample)
  const status = request && (await host.fetch(request)).status
  if (status !== undefined && status >= 500)
    throw new Error(`${status} for ${JSON.stringify(text.slice(0, 9))} in ${place}`)
}

describe.each(Object.entries(samples))('%s', (_, sample) => {
  it('costs in proportion to hostile text in each of its strings', async () => {
    const slow: string[] = []
    for (const place of stringPaths(sample as Json).filter(each => each !== 'method'))
      for (const piece of hostilePieces) {
        const growth = await growthWhenDoubled(SIZE, NEGLIGIBLE_MS, size => send(sample, place, repeatTo(piece, size)))
        if (growth > doubled) slow.push(`${JSON.stringify(piece)} in ${place}`)
      }
    expect(slow).toStrictEqual([])
  })
})
