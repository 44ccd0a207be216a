import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ANONYMOUS, type Authentication } from '../../src/auth/principal.ts'
import type { CallProfile } from '../../src/card/call-profile.ts'
import { compileDocument } from '../../src/card/compile/index.ts'
import type { CallTarget } from '../../src/card/model/calls.ts'
import type { DialectName } from '../../src/card/model/constants.ts'
import { fetchExtendedCard, fetchExtendedModes } from '../../src/gateway/extended-card.ts'
import { permit, selectChecks } from '../../src/gateway/gate/admit.ts'
import { Gate } from '../../src/gateway/gate/gate.ts'
import { JsonRpcExchange } from '../../src/gateway/receive/index.ts'
import type { JsonObject } from '../../src/json/json.ts'
import { MAX_AGENT_EXTENDED_CARD_BYTES } from '../../src/limits.ts'
import { callWith } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { registration } from '../support/cards/compile.ts'
import { executionContext } from '../support/kv.ts'
import { makeSigningKey } from '../support/signing-key.ts'

const publicCard = agentCard('https://agent.test', {
  capabilities: { extendedAgentCard: true },
  securitySchemes: { key: { apiKeySecurityScheme: { location: 'header', name: 'X-Key' } } },
})
const manifest: JsonObject = {
  route: 'gateway',
  upstream: { card: 'https://agent.test/.well-known/agent-card.json', service: 'AGENT' },
}

const compileProfile = (): CallProfile => {
  const result = compileDocument(manifest, { ...registration, fetched: publicCard })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return result.compiled.profile
}

/**
 * What the host requested of the agent and the Registry, and counted, in order; whether it is past the limit; whether
 * the Registry is unavailable; what the agent answers.
 */
let requests: string[]
let isLimited: boolean
let isUnavailable: boolean
let answer: JsonObject | Response
let profile: CallProfile
let id: string
let agents = 0
beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  ;[requests, isLimited, isUnavailable, profile, id] = [[], false, false, compileProfile(), `agent-${agents++}`]
  answer = { result: { ...publicCard, defaultInputModes: ['text/plain', 'image/png'] } }
  return () => vi.useRealTimers()
})

const env = {
  AGENT: {
    fetch: async () => {
      requests.push('agent')
      return answer instanceof Response ? answer.clone() : Response.json({ jsonrpc: '2.0', id: 1, ...answer })
    },
  },
  REGISTRY: {
    getByName: () => ({
      recordObservations: async () => undefined,
      refreshBase: async () => {
        requests.push('registry')
        if (isUnavailable) throw new Error('unavailable')
        const record = { card: JSON.stringify(publicCard) }
        return { manifest: JSON.stringify(manifest), origin: registration.requestOrigin, record }
      },
    }),
  },
  FETCH_LIMIT: {
    limit: async ({ key }: { key: string }) => {
      requests.push(key)
      return { success: !isLimited }
    },
  },
} as unknown as Env

const call = callWith({ params: {} })

const gateOf = () => new Gate(id, profile, env, selectChecks(profile))

const exchangeOf = (headers: Record<string, string>, caller: Authentication = ANONYMOUS) => {
  const request = new Request('https://host.example/', { headers: { 'CF-Connecting-IP': '192.0.2.1', ...headers } })
  return Object.assign(new JsonRpcExchange(request, env, executionContext, { id, named: id }), { caller, call })
}

/** Returns the accepted media types of the extended card of a caller, and what that took. */
const readModes = async (...caller: Parameters<typeof exchangeOf>): Promise<[string[] | undefined, string[]]> => {
  const modes = await fetchExtendedModes(gateOf(), exchangeOf(...caller))
  return [modes?.defaults.input, requests.splice(0)]
}

const mine = { Authorization: 'Bearer mine' }
const image = ['text/plain', 'image/png']

describe('the media types of the extended card that an agent returns to a caller', () => {
  it('are fetched once a minute for each caller, and what does not depend on the caller once for all', async () => {
    expect(await readModes(mine)).toEqual([image, ['extended:192.0.2.1', 'agent', 'registry']])
    vi.advanceTimersByTime(59_000)
    expect(await readModes(mine)).toEqual([image, []])
    answer = { result: publicCard }
    vi.advanceTimersByTime(1000)
    expect((await readModes(mine))[1]).toEqual(['extended:192.0.2.1', 'agent'])
  })

  it('are fetched again for another caller', async () => {
    await readModes(mine)
    const subject = (subject: string) => ({ authenticated: true, subject, strippedHeaders: [] }) as never
    for (const [limit, ...caller] of [
      ['192.0.2.1', { Authorization: 'Bearer other' }],
      ['192.0.2.1', { ...mine, 'X-Key': 'key' }],
      ['token:1', mine, subject('token:1')],
      ['token:2', mine, subject('token:2')],
    ] as [string, Record<string, string>, Authentication?][])
      expect((await readModes(...caller))[1]).toEqual([`extended:${limit}`, 'agent'])
  })

  it('are fetched again when the card or the manifest has changed', async () => {
    await readModes(mine)
    profile = { ...compileProfile(), streaming: true }
    expect((await readModes(mine))[1]).toEqual(['extended:192.0.2.1', 'agent', 'registry'])
    id = `${id}-other`
    expect((await readModes(mine))[1]).toEqual(['extended:192.0.2.1', 'agent', 'registry'])
  })

  it('are not asked for again for a minute where the agent returns no valid card', async () => {
    for (const [response, ...further] of [
      [{ error: { code: -32007, message: 'None for you' } }],
      [new Response('<p>', { status: 404, headers: { 'Content-Type': 'text/html' } })],
      [{ result: { description: 'x'.repeat(MAX_AGENT_EXTENDED_CARD_BYTES) } }],
      // What is not valid is compared with the manifest.
      [{ result: { ...publicCard, skills: 'none' } }, 'registry'],
    ] as [JsonObject | Response, ...string[]][]) {
      id = `agent-${agents++}`
      answer = response
      expect(await readModes(mine)).toEqual([undefined, ['extended:192.0.2.1', 'agent', ...further]])
      expect(await readModes(mine)).toEqual([undefined, []])
    }
  })

  it('are fetched again after a failure that may pass', async () => {
    const card = answer
    for (const failure of [
      Response.json({ error: { code: -32603, message: 'Later' } }, { status: 503 }),
      new Response(null, { status: 302, headers: { Location: '/maintenance' } }),
    ]) {
      id = `agent-${agents++}`
      answer = failure
      expect((await readModes(mine))[0], `${failure.status}`).toBeUndefined()
      answer = card
      expect((await readModes(mine))[0], `${failure.status}`).toEqual(image)
    }
  })

  it('are fetched again where the Registry failed or the limit was reached, and never without credentials', async () => {
    isUnavailable = true
    expect(await readModes(mine)).toEqual([undefined, ['extended:192.0.2.1', 'agent', 'registry']])
    isUnavailable = false
    isLimited = true
    expect(await readModes(mine)).toEqual([undefined, ['extended:192.0.2.1']])
    isLimited = false
    expect(await readModes({})).toEqual([undefined, []])
    expect((await readModes(mine))[0]).toEqual(image)
  })
})

it('fetches the card for each call for it up to the limit, but reads the Registry once', async () => {
  const [target] = profile.targets as [CallTarget]
  const gate = gateOf()
  const get = (token: string) =>
    fetchExtendedCard({ ...permit(gate, call), target }, exchangeOf({ Authorization: token }))
  await get('Bearer mine')
  await get('Bearer other')
  isLimited = true
  expect(await get('Bearer mine')).toEqual({ kind: 'rate-limit', retryAfter: 60 })
  const limit = 'extended:192.0.2.1'
  expect(requests).toEqual([limit, 'agent', 'registry', limit, 'agent', limit])
})

it('signs the card in the dialects that have signatures, where the host has a key', async () => {
  const signaturesOf = async (dialect: DialectName, secrets: object) => {
    const gate = new Gate(id, profile, { ...env, ...secrets } as Env, selectChecks(profile))
    const [target] = profile.targets as [CallTarget]
    const response = await fetchExtendedCard({ ...permit(gate, { ...call, dialect }), target }, exchangeOf(mine))
    return 'kind' in response ? response : ((await response.json()) as { result: JsonObject }).result.signatures
  }
  const key = { SIGNING_KEY: JSON.stringify(makeSigningKey()), PUBLIC_URL: registration.requestOrigin }
  expect(await signaturesOf('1.0', key)).toContainEqual({
    protected: expect.any(String),
    signature: expect.any(String),
  })
  expect(await signaturesOf('gopherhole', key)).toBeUndefined()
  expect(await signaturesOf('1.0', {})).toBeUndefined()
})
