import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'

/** The limits of the limited host for each minute. */
const callLimit = 30
const authLimit = 5

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost('limited')
  const card = agentCard(called.agent.origin)
  await called.register('calls-limits', { card, extended: { description: 'More of it' } })
  await called.register('calls-limits-closed', { card, callers: 'tokens' })
  await called.register('calls-limits-hidden', { card, visibility: 'internal' })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

/** Makes more calls at once than two minutes allow, because a new minute may begin meanwhile. */
const exceed = async (
  limit: number,
  send: () => Promise<Received>,
): Promise<{ passed: number; rejected: Received | undefined }> => {
  const responses = await Promise.all(Array.from({ length: 2 * limit + 1 }, send))
  return {
    passed: responses.filter(({ status }) => status !== 429).length,
    rejected: responses.find(({ status }) => status === 429),
  }
}

const headersFrom = (address: string, token?: string) => ({
  'CF-Connecting-IP': address,
  ...(token !== undefined && { Authorization: `Bearer ${token}` }),
})
const unknownMethod = call('NoSuchMethod')

const path = '/agents/calls-limits/a2a'

describe('the limit of calls', () => {
  it('of an address returns 429 in the form of each version and binding, and calls no agent', async () => {
    const headers = headersFrom('192.0.2.1')
    const { passed, rejected } = await exceed(callLimit, () => called.send(path, { body: unknownMethod, headers }))
    expect(passed).toBeGreaterThanOrEqual(callLimit)
    expect(rejected?.headers.get('cache-control')).toBe('no-store')
    const rpcError = { jsonrpc: '2.0', id: 7, error: { code: -32000 } }
    expect(rejected?.body).toMatchObject({ ...rpcError, error: { message: expect.stringContaining('60 seconds') } })
    const v03 = { ...rpcError, error: { code: -32000, data: { retryAfter: 60 } } }
    for (const [at, body, expected] of [
      [path, unknownMethod, rpcError],
      [path, call('message/stream', messageV03()), v03],
      [`${path}/message:send`, message(), { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }],
      // A caller who guesses ids is limited as well, and the response reveals nothing.
      ['/agents/calls-limits-hidden/a2a', call(), { error: { code: -32000 } }],
      ['/agents/nobody/a2a', call(), { error: { code: -32000 } }],
    ] as const) {
      const response = await called.send(at, { body, headers })
      const type = at.endsWith('a2a/message:send') ? 'application/a2a+json' : 'application/json'
      expect([response.headers.get('content-type'), response.headers.get('retry-after')], at).toEqual([type, '60'])
      expect(response.body, at).toMatchObject(expected)
    }
    expect(called.agent.requests).toEqual([])
    const { token } = await called.issue({ scopes: ['read'] })
    // Other addresses and tokens are not affected.
    for (const headers of [headersFrom('192.0.2.2'), headersFrom('192.0.2.1', token)])
      expect((await called.send(path, { body: call(), headers })).status).toBe(200)
  })

  it('of a token counts calls from every address', async () => {
    const [limited, other] = [await called.issue({ scopes: ['read'] }), await called.issue({ scopes: ['read'] })]
    let count = 0
    const body = unknownMethod
    const next = () => headersFrom(`203.0.113.${++count % 250}`, limited.token)
    const { passed, rejected } = await exceed(callLimit, () => called.send(path, { body, headers: next() }))
    expect([passed >= callLimit, codeOf(rejected?.body ?? null)]).toEqual([true, -32000])
    const headers = headersFrom('203.0.113.1', other.token)
    expect((await called.send(path, { body, headers })).status).toBe(200)
  })
})

describe('the limit of invalid credentials', () => {
  it('of an address returns 429 for any agent', async () => {
    for (const [index, id] of ['calls-limits', 'nobody'].entries()) {
      const address = `198.18.0.${index}`
      let count = 0
      const guess = () =>
        headersFrom(address, `cc_${'z'.repeat(11)}${'abcdefghijklmnopqrst'[count++]}_${'a'.repeat(32)}`)
      const send = (headers: Record<string, string>) => called.send(path, { body: call(), headers })
      const { passed, rejected } = await exceed(authLimit, () =>
        called.send(`/agents/${id}/a2a`, { body: call(), headers: guess() }),
      )
      expect(passed, id).toBeGreaterThanOrEqual(authLimit)
      expect([codeOf(rejected?.body ?? null), rejected?.headers.get('retry-after')], id).toEqual([-32000, '60'])
      expect(called.agent.requests, id).toEqual([])
      // Callers with credentials of the agent are neither affected nor counted, and other addresses are not affected.
      for (let count = 0; count < 3 * authLimit; count++)
        expect((await send(headersFrom(address, `theirs-${count}`))).body).toEqual(agentResponse)
      expect((await send({ ...guess(), 'CF-Connecting-IP': '198.18.1.1' })).status).toBe(401)
      called.agent.requests.length = 0
    }
  })

  const cardOf = (id: string) => `/agents/${id}/.well-known/agent-card.json`

  it('counts any credentials that this host refuses, once for each request', async () => {
    const getUnknown = { jsonrpc: '2.0', id: 1, method: 'agents/get', params: { name: 'nobody' } }
    const rows: [path: string, body?: JsonObject][] = [
      ['/agents/calls-limits-closed/a2a', call()],
      ['/agents/calls-limits-hidden/a2a', call()],
      ['/a2a/v1', call('SendMessage', message({ agentName: 'nobody' }))],
      [path, call('GetExtendedAgentCard', {})],
      [cardOf('nobody')],
      ['/a2a/v1/agents/nobody'],
      ['/rpc', getUnknown],
      ['/agents'],
    ]
    for (const [row, [path, body]] of rows.entries()) {
      const statuses: number[] = []
      // One more request than the limit, and as many again, because a new minute may begin meanwhile.
      while (statuses.at(-1) !== 429 && statuses.length <= 2 * authLimit) {
        const headers = headersFrom(`198.18.3.${row}`, `guess-${statuses.length}`)
        statuses.push((await called.send(path, body ? { body, headers } : { method: 'GET', headers })).status)
      }
      expect([statuses.at(-1), statuses.length > authLimit], path).toEqual([429, true])
    }
    expect(called.agent.requests).toEqual([])
  })

  it('counts credentials that extend no card, or no report of health, and answers all the same', async () => {
    const { token } = await called.issue({ scopes: ['read'] })
    for (const [address, path] of [
      ['198.18.4.1', cardOf('calls-limits')],
      ['198.18.4.2', '/health'],
    ] as const) {
      const headers = headersFrom(address, 'guess')
      for (let count = 0; count <= 2 * authLimit; count++)
        expect((await called.send(path, { method: 'GET', headers })).status).toBe(200)
      const list = await called.send('/agents', { method: 'GET', headers: headersFrom(address, token) })
      expect(list.status, path).toBe(429)
    }
  })
})
