import { describe, expect, it } from 'vitest'
import type { CallTarget } from '../../../src/card/model/calls.ts'
import { Endpoint, resolveUpstream } from '../../../src/gateway/upstream/index.ts'
import { profileWith } from '../../support/calls.ts'

const host = 'cards.example.com'
const env = {} as Env
const endpointAt = (changes: Partial<CallTarget> = {}) =>
  new Endpoint({ binding: 'JSONRPC', version: '1.0', url: 'https://a.example/a2a', ...changes }, 'weather', env)

describe('the headers of a call to which its caller adds none', () => {
  const plain: Parameters<Endpoint['plainHeaders']>[0] = {
    ...{
      target: endpointAt().target,
      version: '1.0',
      type: 'application/json',
      streams: false,
      credentials: { pass: [] },
    },
  }

  it('depend on its host, version, type and stream, and are built once', () => {
    const endpoint = endpointAt()
    const expected = {
      ...{ accept: 'application/json', 'a2a-version': '1.0', 'content-type': 'application/json' },
      via: '1.1 weather.cards.example.com',
    }
    const { 'content-type': _, ...withoutType } = expected
    // Twice, because each is prebuilt then.
    for (let round = 0; round < 2; round++)
      for (const [changes, headers] of [
        [{}, expected],
        [{ version: '0.3' }, { ...expected, 'a2a-version': '0.3' }],
        [{ type: undefined }, withoutType],
        [{ type: 'application/a2a+json' }, { ...expected, 'content-type': 'application/a2a+json' }],
        [{ streams: true }, { ...expected, accept: 'text/event-stream' }],
      ] as const)
        expect(Object.fromEntries(endpoint.plainHeaders({ ...plain, ...changes }, host))).toEqual(headers)
    expect(endpoint.plainHeaders(plain, host)).toBe(endpoint.plainHeaders({ ...plain }, host))
    expect(endpoint.plainHeaders(plain, 'other.example').get('Via')).toBe('1.1 weather.other.example')
    expect(endpoint.plainHeaders(plain, host).get('Via')).toBe(expected.via)
  })

  it('have the secret of the Worker', () => {
    const headers = endpointAt().plainHeaders({ ...plain, credentials: { secret: 's3cret' } }, host)
    expect(headers.get('Authorization')).toBe('Bearer s3cret')
  })
})

it('returns the URL of each path, also of one that was used before', () => {
  const endpoint = endpointAt({ binding: 'HTTP+JSON' })
  const contains = (text: string) => text.includes('cc_')
  for (const [path, url] of [
    ['tasks/1', 'https://a.example/a2a/tasks/1'],
    ['tasks/2', 'https://a.example/a2a/tasks/2'],
    ['tasks?pageSize=1', 'https://a.example/a2a/tasks?pageSize=1'],
    ['tasks/../..', undefined],
    ['tasks/1', 'https://a.example/a2a/tasks/1'],
  ] as const)
    for (let round = 0; round < 2; round++) expect(endpoint.urlOf(path, contains), path).toBe(url)
  // What counts as a token may differ from call to call.
  expect(endpoint.urlOf('tasks?a=cc_', contains)).toBe('https://a.example/a2a/tasks')
  expect(endpoint.urlOf('tasks?a=cc_', () => false)).toBe('https://a.example/a2a/tasks?a=cc_')
  expect(endpointAt().urlOf('ignored', contains)).toBe('https://a.example/a2a')
})

it('resolves the service, credentials and timeout of an agent, or the error of its configuration', () => {
  const WEATHER = { fetch: async () => new Response() }
  const variables = { WEATHER, AGENT_TOKEN: 's3cret', UPSTREAM_TIMEOUT: '7' } as unknown as Env
  for (const [profile, resolved] of [
    [{}, { credentials: { pass: ['authorization'] } }],
    [{ apiKeyHeaders: ['x-api-key'] }, { credentials: { pass: ['authorization', 'x-api-key'] } }],
    [
      { service: 'WEATHER', secret: 'AGENT_TOKEN' },
      { service: WEATHER, credentials: { secret: 's3cret' } },
    ],
  ] as const)
    expect(resolveUpstream(profileWith(profile as object), variables)).toEqual({ timeoutSeconds: 7, ...resolved })
  for (const profile of [{ service: 'OTHER' }, { secret: 'OTHER' }])
    expect(resolveUpstream(profileWith(profile), variables)).toEqual({
      ...{ kind: 'misconfigured', detail: expect.stringContaining('OTHER') },
    })
})
