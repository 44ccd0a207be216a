import { decodeJwt } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import type { A2ACall } from '../../src/a2a/operations.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { permit } from '../../src/gateway/gate/admit.ts'
import type { Exchange } from '../../src/gateway/gate/exchange.ts'
import { send } from '../../src/gateway/send.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { sendObservations } from '../../src/registry/edge/observed-calls.ts'
import { agentResponse, callWith, exchangeWith, gateWith, messageV03 } from '../support/calls.ts'
import { makeSigningKey } from '../support/signing-key.ts'

/** Sends a call to an agent behind a service binding. Returns its headers there, or the error, and the call as sent. */
const sendToService = async (
  variables: Partial<Env>,
  profile: Partial<CallProfile>,
  changes: Partial<A2ACall> = {},
  more: Partial<Exchange> & { id?: string } = {},
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
  const { id, ...members } = more
  const target = { binding: 'JSONRPC', version: '1.0', url: 'https://weather.internal/a2a' } as const
  const given = { service: 'WEATHER', ...profile }
  const gate = gateWith({ ...given, targets: [target] }, env as unknown as Env, id)
  const call = callWith(changes)
  const write: Exchange['write'] = written => {
    sent = written
    return { method: 'POST', body: '{}' }
  }
  const exchange = Object.assign(exchangeWith(gate, call), { write, ...members })
  const result = await send({ ...permit(gate, call), target }, exchange)
  return { received, sent, body, result, warnings: exchange.warnings }
}

const identity = { issuer: 'https://cards.example.com' }

describe('the identity of a caller', () => {
  it('goes to an agent that asks for it', async () => {
    const env = { SIGNING_KEY: JSON.stringify(makeSigningKey()) }
    const { received } = await sendToService(env, { identity })
    expect(decodeJwt(received?.get('Calling-Card-Assertion') ?? '')).toMatchObject({
      ...{ iss: 'https://cards.example.com', aud: 'https://weather.internal/a2a', agent: 'weather' },
    })
    const other = await sendToService(env, {})
    expect([other.received?.get('A2A-Version'), other.received?.has('Calling-Card-Assertion')]).toEqual(['1.0', false])
  })

  it('is required: without a valid key, the call fails, and the log says what to do', async () => {
    const detail = 'This Worker has no SIGNING_KEY. Create one: npx sync-card keys create'
    const { received, result } = await sendToService({}, { identity })
    expect([received, result]).toEqual([undefined, { kind: 'misconfigured', detail }])
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

  it('does not reach an agent behind a service binding, with a secret, or with tasks of callers', async () => {
    const env = { AGENT_TOKEN: 'x' } as Partial<Env>
    const service = undefined as never
    for (const profile of [
      {},
      { service, secret: 'AGENT_TOKEN' },
      { service, tasks: 'owner' },
    ] as Partial<CallProfile>[])
      expect((await sendToService(env, profile, { params, sources })).sent, JSON.stringify(profile)).toEqual(without)
  })

  it('reaches an agent that the caller opens with their own credentials', async () => {
    const { sent } = await sendToService({}, { service: undefined as never }, { params, sources })
    expect(sent).toEqual(callWith({ params, sources }))
  })
})

it('leaves a token of this host in the query out of the body that an agent of another binding gets', async () => {
  const query = { access_token: 'cc_abcdefghijkl_x', historyLength: '2' }
  const call = { binding: 'HTTP+JSON', operation: 'getTask', params: { ...query, id: 't' } } as const
  const sources = { path: { id: 't' }, query, body: {} }
  const { body } = await sendToService({}, { bridge: 'all' }, { ...call, sources })
  expect(JSON.parse(body ?? '')).toMatchObject({ method: 'GetTask', params: { id: 't', historyLength: 2 } })
  expect(body).not.toContain('cc_')
})

it("sends an agent over JSON-RPC the caller's id, or an integer for a caller over HTTP+JSON", async () => {
  for (const [changes, id] of [
    [{ binding: 'HTTP+JSON', id: null }, 1],
    [{ version: '0.3', id: 'a' }, 'a'],
  ] as const) {
    const call = { operation: 'getTask', params: { id: 't' }, ...changes } as const
    const { body } = await sendToService({}, { bridge: 'all' }, call)
    expect(JSON.parse(body ?? '')).toMatchObject({ method: 'GetTask', id })
  }
})

describe('`blocking` in the configuration of a message', () => {
  const params = (configuration?: JsonObject) => messageV03({ ...(configuration && { configuration }) })
  const forward = (changes: Partial<A2ACall>) => sendToService({}, {}, { version: '0.3', ...changes })

  it('is true where a call of 0.3 leaves it out, and not added elsewhere', async () => {
    for (const [configuration, changes, added] of [
      [{}, {}, { blocking: true }],
      [{ acceptedOutputModes: ['text'] }, {}, { blocking: true }],
      [{ blocking: null }, {}, { blocking: true }],
      [{ Blocking: false }, {}],
      [{}, { operation: 'stream' }],
      [{}, { version: '1.0' }],
      // Over HTTP+JSON, absence is false.
      [{}, { binding: 'HTTP+JSON' }],
    ] as [JsonObject, Partial<A2ACall>, JsonObject?][]) {
      const { sent } = await forward({ params: params(configuration), ...changes })
      expect(sent?.params, JSON.stringify(changes)).toEqual(params({ ...configuration, ...added }))
    }
    for (const configuration of [undefined, [], JSON.rawJSON('1e5')]) {
      const { sent } = await forward({ params: params(configuration as never) })
      expect(sent?.params).toEqual(params(configuration as never))
    }
  })
})

it('counts the outcome of the call, and names the agent and the host in `Via`', async () => {
  const recordObservations = vi.fn(async () => undefined)
  const { received } = await sendToService({}, {}, {}, { id: 'rain' })
  await sendObservations('rain', { REGISTRY: { getByName: () => ({ recordObservations }) } } as unknown as Env)
  const operations = { send: { answered: 1, refused: 0, failed: 0 } }
  expect(recordObservations).toHaveBeenCalledWith('rain', expect.objectContaining({ operations }))
  expect(received?.get('Via')).toBe('1.1 rain.cards.example.com')
})

it('adds what a translation loses to the warnings of the policy', async () => {
  const lossy: Partial<A2ACall> = { version: '0.3', operation: 'getTask', params: { id: 't', metadata: { a: 1 } } }
  const { warnings } = await sendToService({}, { bridge: 'all' }, lossy, { warnings: [{ kind: 'no-card' }] })
  expect(warnings).toEqual([{ kind: 'no-card' }, { kind: 'lossy', losses: ['metadata'] }])
})
