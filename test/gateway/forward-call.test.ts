import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { createCallContext } from '../../src/gateway/call-context.ts'
import { forwardCall } from '../../src/gateway/forward-call.ts'
import { agentResponse, callWith, profileWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'
import { makeSigningKey } from '../support/signing-key.ts'

/** Forwards a call to an agent behind a service binding, and returns its headers there; or the error. */
const forwardToService = async (variables: Partial<Env>, profile: Parameters<typeof profileWith>[0]) => {
  let received: Headers | undefined
  const service = {
    fetch: async (_: string, { headers }: RequestInit) => {
      received = new Headers(headers)
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
    request,
    env as unknown as Env,
    executionContext,
  )
  context.agent = { id: 'weather', named: 'weather' }
  const result = await forwardCall(context, {
    call: callWith(),
    profile: profileWith({ service: 'WEATHER', ...profile }),
    target: { binding: 'JSONRPC', version: '1.0', url: 'https://weather.internal/a2a' },
    toUpstream: () => ({ method: 'POST', body: '{}' }),
  })
  return { received, result }
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
      result: { kind: 'misconfigured', detail },
    })
  })
})
