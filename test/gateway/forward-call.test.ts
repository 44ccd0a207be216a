import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { createCallContext } from '../../src/gateway/call-context.ts'
import { forwardCall } from '../../src/gateway/forward-call.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { agentResponse, callWith, messageV03, profileWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'
import { makeSigningKey } from '../support/signing-key.ts'

/** Forwards a call to an agent behind a service binding. Returns its headers there or the error, and the call as it is sent. */
const forwardToService = async (
  variables: Partial<Env>,
  profile: Parameters<typeof profileWith>[0],
  changes: Partial<A2ACall> = {},
) => {
  let received: Headers | undefined
  let sent: A2ACall | undefined
  let body: string | undefined
  const service = {
    fetch: async (_: string, { headers, body: written }: RequestInit) => {
      received = new Headers(headers)
      body = String(written)
      return Response.json(agentResponse)
    },
  }
  const env = {
    ...variables,
    ...{ WEATHER: service, UPSTREAM_TIMEOUT: '5', STREAM_IDLE_TIMEOUT: '5', ALLOWED_ORIGINS: '' },
    REGISTRY: { getByName: () => ({ recordObservations: async () => undefined }) },
  }
  const request = new Request('https://cards.example.com/agents/weather/a2a', { method: 'POST' })
  const context = createCallContext(
    { authenticated: false, reason: 'anonymous' },
    { request, env: env as unknown as Env, ctx: executionContext },
  )
  context.agent = { id: 'weather', named: 'weather' }
  const result = await forwardCall(context, {
    call: callWith(changes),
    profile: profileWith({ service: 'WEATHER', ...profile }),
    target: { binding: 'JSONRPC', version: '1.0', url: 'https://weather.internal/a2a' },
    inbound: {
      toUpstream: call => {
        sent = call
        return { method: 'POST', body: '{}' }
      },
    },
  })
  return { received, sent, body, result }
}

const identity = { issuer: 'https://cards.example.com' }

describe('the identity of a caller', () => {
  it('goes to an agent behind a service binding', async () => {
    const { received } = await forwardToService({ SIGNING_KEY: JSON.stringify(makeSigningKey()) }, { identity })
    expect(decodeJwt(received?.get('Calling-Card-Assertion') ?? '')).toMatchObject({
      iss: 'https://cards.example.com',
      aud: 'https://weather.internal/a2a',
      agent: 'weather',
    })
  })

  it('is not sent to an agent that does not ask for it', async () => {
    const { received } = await forwardToService({ SIGNING_KEY: JSON.stringify(makeSigningKey()) }, {})
    expect([received?.get('A2A-Version'), received?.has('Calling-Card-Assertion')]).toEqual(['1.0', false])
  })

  it.each([
    ['without a key', {}, 'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create'],
    [
      'with a malformed key',
      { SIGNING_KEY: '{"d":"secret"}' },
      expect.stringMatching(/^The SIGNING_KEY.*keys create$/),
    ],
  ])('is required: the call fails %s, and the log says what to do', async (_, env, detail) => {
    expect(await forwardToService(env, { identity })).toEqual({
      received: undefined,
      body: undefined,
      sent: callWith(),
      result: { kind: 'misconfigured', detail },
    })
  })
})

describe('the tenant that a caller names', () => {
  const params = { other: 't', tenant: 'victim', agentName: 'Other' }
  const sources = {
    path: { other: 't' },
    query: { tenant: 'victim', agentName: 'Other', historyLength: '2' },
    body: params,
  }
  const without = {
    ...callWith({ params: { other: 't' } }),
    sources: { path: { other: 't' }, query: { historyLength: '2' }, body: { other: 't' } },
  }

  it.each<[string, Partial<CallProfile>]>([
    ['behind a service binding', {}],
    ['behind a service binding, whose tasks are shared', { tasks: 'shared' }],
    ['with a secret', { service: undefined as never, secret: 'AGENT_TOKEN' }],
    ['whose tasks belong to their callers', { service: undefined as never, tasks: 'owner' }],
  ])('does not reach an agent %s', async (_, profile) => {
    expect((await forwardToService({ AGENT_TOKEN: 'x' } as Partial<Env>, profile, { params, sources })).sent).toEqual(
      without,
    )
  })

  it('reaches an agent that the caller opens with their own credentials', async () => {
    const { sent } = await forwardToService({}, { service: undefined as never }, { params, sources })
    expect(sent).toEqual(callWith({ params, sources }))
  })
})

describe('a token of this host in the query', () => {
  it('is left out of the body that an agent of another binding gets', async () => {
    const query = { access_token: 'cc_abcdefghijkl_x', historyLength: '2' }
    const { body } = await forwardToService(
      {},
      { bridge: 'all' },
      {
        ...{ binding: 'HTTP+JSON', operation: 'getTask', params: { ...query, id: 't' } },
        sources: { path: { id: 't' }, query, body: {} },
      },
    )
    expect(JSON.parse(body ?? '')).toMatchObject({ method: 'GetTask', params: { id: 't', historyLength: 2 } })
    expect(body).not.toContain('cc_')
  })
})

describe('the id of a call to an agent over JSON-RPC', () => {
  it.each<[string, Partial<A2ACall>, Json]>([
    ['is an integer for a caller over HTTP+JSON', { binding: 'HTTP+JSON', id: null }, 1],
    ["is the caller's over JSON-RPC", { version: '0.3', id: 'a' }, 'a'],
  ])('%s', async (_, changes, id) => {
    const params = { id: 't' }
    const { body } = await forwardToService({}, { bridge: 'all' }, { operation: 'getTask', params, ...changes })
    expect(JSON.parse(body ?? '')).toMatchObject({ method: 'GetTask', id })
  })
})

describe('`blocking` in the configuration of a message', () => {
  const params = (configuration?: JsonObject) => messageV03({ ...(configuration && { configuration }) })
  const forward = async (changes: Partial<A2ACall>, profile: Partial<CallProfile> = {}) =>
    forwardToService({}, profile, { version: '0.3', ...changes })

  it.each<[JsonObject]>([
    [{}],
    [{ acceptedOutputModes: ['text'] }],
    [{ pushNotificationConfig: { url: 'https://client.example.com/push' } }],
    [{ blocking: null }],
  ])('is true where a call of 0.3 leaves it out: %j', async configuration => {
    const { sent } = await forward({ params: params(configuration) })
    expect(sent?.params).toEqual(params({ ...configuration, blocking: true }))
  })

  it.each<[string, Partial<A2ACall>]>([
    ['a call without a configuration', { params: params() }],
    ['a call that names it', { params: params({ blocking: false }) }],
    ['a call that names it in another case', { params: params({ Blocking: false }) }],
    ['a configuration that is none', { params: params([] as never) }],
    ['a configuration that is a number with an exponent', { params: params(JSON.rawJSON('1e5') as never) }],
    ['a stream', { operation: 'stream', params: params({}) }],
    ['a call of 1.0', { version: '1.0', params: params({}) }],
    ['a call over HTTP+JSON, where absence is false', { binding: 'HTTP+JSON', params: params({}) }],
  ])('is not added to %s', async (_, changes) => {
    const { sent } = await forward(changes)
    expect(sent?.params).toEqual(changes.params)
  })

  it.each<[JsonObject, JsonObject | undefined]>([
    [{ acceptedOutputModes: ['text'] }, undefined],
    [{ blocking: true }, undefined],
    [{ blocking: false }, { returnImmediately: true }],
  ])('is translated for an agent of 1.0: %j', async (configuration, expected) => {
    const { body } = await forward({ params: params(configuration) }, { bridge: 'all' })
    const sent = JSON.parse(body ?? '').params.configuration
    expect(sent?.returnImmediately === true).toBe(expected?.returnImmediately === true)
    expect(sent ?? {}).not.toHaveProperty('blocking')
  })
})
