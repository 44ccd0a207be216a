import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { agentResponse, call, codeOf, message, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import type { Host } from '../support/host.ts'

/** The limits of the limited host for each minute. */
const callLimit = 30
const authLimit = 5

let called: CalledHost<Host>
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

describe('the limit of calls', () => {
  it('of an address returns 429 in the form of each version and binding, and calls no agent', async () => {
    const headers = headersFrom('192.0.2.1')
    const { passed, rejected } = await exceed(callLimit, () =>
      called.send('/agents/calls-limits/a2a', { body: unknownMethod, headers }),
    )
    expect(passed).toBeGreaterThanOrEqual(callLimit)
    expect([rejected?.headers.get('retry-after'), rejected?.headers.get('cache-control'), rejected?.body]).toEqual([
      '60',
      'no-store',
      {
        jsonrpc: '2.0',
        id: 7,
        error: expect.objectContaining({ code: -32000, message: expect.stringContaining('60 seconds') }),
      },
    ])
    const others: [string, JsonObject, object][] = [
      [
        '/agents/calls-limits/a2a',
        call('message/stream', messageV03()),
        {
          jsonrpc: '2.0',
          id: 7,
          error: expect.objectContaining({ code: -32000, data: expect.objectContaining({ retryAfter: 60 }) }),
        },
      ],
      [
        '/agents/calls-limits/a2a/message:send',
        message(),
        { error: expect.objectContaining({ code: 429, status: 'RESOURCE_EXHAUSTED' }) },
      ],
      ['/agents/calls-limits/a2a/v1/message:send', messageV03(), expect.objectContaining({ code: -32000 })],
      // A caller who guesses ids is limited as well, and the response reveals nothing.
      [
        '/agents/calls-limits-hidden/a2a',
        call(),
        expect.objectContaining({ error: expect.objectContaining({ code: -32000 }) }),
      ],
      ['/agents/nobody/a2a', call(), expect.objectContaining({ error: expect.objectContaining({ code: -32000 }) })],
    ]
    expect(called.agent.requests).toEqual([])
    for (const [path, body, expected] of others) {
      const { rejected: response } = await exceed(callLimit, () => called.send(path, { body, headers }))
      expect([
        path,
        response?.headers.get('content-type'),
        response?.headers.get('retry-after'),
        response?.body,
      ]).toEqual([
        path,
        path.endsWith('a2a/message:send') ? 'application/a2a+json' : 'application/json',
        '60',
        expected,
      ])
    }
    const { token } = await called.issue({ scopes: ['read'] })
    // Other addresses and tokens are not affected.
    const statuses = await Promise.all([
      called.send('/agents/calls-limits/a2a', { body: call(), headers: headersFrom('192.0.2.2') }),
      called.send('/agents/calls-limits/a2a', { body: call(), headers: headersFrom('192.0.2.1', token) }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 200])
  })

  it('of a token counts calls from every address', async () => {
    const [limited, other] = [await called.issue({ scopes: ['read'] }), await called.issue({ scopes: ['read'] })]
    let count = 0
    const body = unknownMethod
    const next = () => headersFrom(`203.0.113.${++count % 250}`, limited.token)
    const { passed, rejected } = await exceed(callLimit, () =>
      called.send('/agents/calls-limits/a2a', { body, headers: next() }),
    )
    expect([passed >= callLimit, codeOf(rejected?.body ?? null)]).toEqual([true, -32000])
    expect(
      (await called.send('/agents/calls-limits/a2a', { body, headers: headersFrom('203.0.113.1', other.token) }))
        .status,
    ).toBe(200)
  })
})

describe('the limit of invalid credentials', () => {
  it.each(['calls-limits', 'calls-limits-hidden', 'nobody'])('of an address returns 429 for the agent %s', async id => {
    const address = `198.18.0.${['calls-limits', 'calls-limits-hidden', 'nobody'].indexOf(id)}`
    let count = 0
    const guess = () =>
      headersFrom(
        address,
        `cc_${String(++count)
          .replaceAll(/\d/g, digit => 'abcdefghij'[Number(digit)] ?? '')
          .padStart(12, 'z')}_${'a'.repeat(32)}`,
      )
    const { passed, rejected } = await exceed(authLimit, () =>
      called.send(`/agents/${id}/a2a`, { body: call(), headers: guess() }),
    )
    expect(passed).toBeGreaterThanOrEqual(authLimit)
    expect([codeOf(rejected?.body ?? null), rejected?.headers.get('retry-after')]).toEqual([-32000, '60'])
    expect(called.agent.requests).toEqual([])
    // Callers without credentials, callers with credentials of the agent, and other addresses are not affected.
    for (const credentials of ['Bearer theirs', 'Basic dTpw']) {
      const headers = { ...headersFrom(address), Authorization: credentials }
      expect((await called.send('/agents/calls-limits/a2a', { body: call(), headers })).body).toEqual(agentResponse)
    }
    expect(
      (await called.send('/agents/calls-limits/a2a', { body: call(), headers: headersFrom(address) })).body,
    ).toEqual(agentResponse)
    const otherAddress = await called.send('/agents/calls-limits/a2a', {
      body: call(),
      headers: { ...guess(), 'CF-Connecting-IP': '198.18.1.1' },
    })
    expect(otherAddress.status).toBe(401)
  })

  const cardOf = (id: string) => `/agents/${id}/.well-known/agent-card.json`
  const getUnknown = { jsonrpc: '2.0', id: 1, method: 'agents/get', params: { name: 'nobody' } }

  it.each<[string, number, string, JsonObject | undefined]>([
    ['the call of an agent for callers with tokens', 1, '/agents/calls-limits-closed/a2a', call()],
    ['the call of an internal agent', 2, '/agents/calls-limits-hidden/a2a', call()],
    ['the call of an unknown agent', 3, '/agents/nobody/a2a', call()],
    ['a call by an unknown name', 4, '/a2a/v1', call('SendMessage', message({ agentName: 'nobody' }))],
    ['an extended card', 5, '/agents/calls-limits/a2a', call('GetExtendedAgentCard', {})],
    ['the card of an internal agent', 6, cardOf('calls-limits-hidden'), undefined],
    ['the card of an unknown agent', 7, cardOf('nobody'), undefined],
    ['the card of an unknown name', 8, '/a2a/v1/agents/nobody', undefined],
    ['the receipt of an unknown agent', 9, '/agents/nobody/receipt', undefined],
    ['an unknown agent of SuperX', 10, '/rpc', getUnknown],
    ['a list', 11, '/agents', undefined],
  ])('counts any credentials that this host refuses, once for each request: %s', async (_, row, path, body) => {
    const address = `198.18.3.${row}`
    const statuses: number[] = []
    // One more request than the limit, and as many again, because a new minute may begin meanwhile.
    while (statuses.at(-1) !== 429 && statuses.length <= 2 * authLimit) {
      const headers = headersFrom(address, `guess-${statuses.length}`)
      const sent = body === undefined ? { method: 'GET', headers } : { body, headers }
      statuses.push((await called.send(path, sent)).status)
    }
    expect([statuses.at(-1), statuses.length > authLimit]).toEqual([429, true])
    expect(called.agent.requests).toEqual([])
  })

  it.each([
    ['a card is not extended', '198.18.4.1', cardOf('calls-limits')],
    ['the health of the host is not complete', '198.18.4.2', '/health'],
  ])('counts credentials for which %s, and answers all the same', async (_, address, path) => {
    const headers = headersFrom(address, 'guess')
    for (let count = 0; count <= 2 * authLimit; count++)
      expect((await called.send(path, { method: 'GET', headers })).status).toBe(200)
    const { token } = await called.issue({ scopes: ['read'] })
    const list = await called.send('/agents', { method: 'GET', headers: headersFrom(address, token) })
    expect(list.status).toBe(429)
  })

  it('does not count credentials that may be for the agent', async () => {
    const headers = headersFrom('198.18.2.1')
    for (let count = 0; count < 3 * authLimit; count++) {
      const response = await called.send('/agents/calls-limits/a2a', {
        body: call(),
        headers: { ...headers, Authorization: `Bearer theirs-${count}` },
      })
      expect(response.body).toEqual(agentResponse)
    }
  })
})
