import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { type CalledHost, type Received, useSharedHost } from '../support/called-host.ts'
import { answer, call, codeOf, message, message0 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import type { Host } from '../support/host.ts'
import { json, reply } from '../support/upstream.ts'

/** The limits of the limited host, for a minute. */
const callLimit = 30
const authLimit = 5

let called: CalledHost<Host>
beforeAll(async () => {
  called = await useSharedHost('limited')
  const card = agentCard(called.agent.origin)
  await called.register('calls-limits', { card, extended: { description: 'More of it' } })
  await called.register('calls-limits-hidden', { card, visibility: 'internal' })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(reply(200, json, JSON.stringify(answer))))

/** Makes more calls at once than two minutes allow: a new minute may begin meanwhile. */
const exceed = async (
  limit: number,
  one: () => Promise<Received>,
): Promise<{ passed: number; refused: Received | undefined }> => {
  const all = await Promise.all(Array.from({ length: 2 * limit + 1 }, one))
  return {
    passed: all.filter(({ status }) => status !== 429).length,
    refused: all.find(({ status }) => status === 429),
  }
}

const from = (address: string, token?: string) => ({
  'CF-Connecting-IP': address,
  ...(token !== undefined && { Authorization: `Bearer ${token}` }),
})
const cheap = call('NoSuchMethod')

describe('the calls a minute', () => {
  it('of an address, then 429 in the form of each version and binding, and the agent hears of none', async () => {
    const headers = from('192.0.2.1')
    const { passed, refused } = await exceed(callLimit, () =>
      called.send('/agents/calls-limits/a2a', { body: cheap, headers }),
    )
    expect(passed).toBeGreaterThanOrEqual(callLimit)
    expect([refused?.headers.get('retry-after'), refused?.headers.get('cache-control'), refused?.body]).toEqual([
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
        call('message/stream', message0()),
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
      ['/agents/calls-limits/a2a/v1/message:send', message0(), expect.objectContaining({ code: -32000 })],
      // Who guesses at ids is stopped as well, and learns nothing by it.
      [
        '/agents/calls-limits-hidden/a2a',
        call(),
        expect.objectContaining({ error: expect.objectContaining({ code: -32000 }) }),
      ],
      ['/agents/nobody/a2a', call(), expect.objectContaining({ error: expect.objectContaining({ code: -32000 }) })],
    ]
    expect(called.agent.requests).toEqual([])
    for (const [path, body, expected] of others) {
      const { refused: came } = await exceed(callLimit, () => called.send(path, { body, headers }))
      expect([path, came?.headers.get('content-type'), came?.headers.get('retry-after'), came?.body]).toEqual([
        path,
        'application/json',
        '60',
        expected,
      ])
    }
    const { token } = await called.issue({ scopes: ['read'] })
    // Neither other addresses nor tokens pay for it.
    const statuses = await Promise.all([
      called.send('/agents/calls-limits/a2a', { body: call(), headers: from('192.0.2.2') }),
      called.send('/agents/calls-limits/a2a', { body: call(), headers: from('192.0.2.1', token) }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 200])
  })

  it('of a token, whatever the address', async () => {
    const [one, other] = [await called.issue({ scopes: ['read'] }), await called.issue({ scopes: ['read'] })]
    let count = 0
    const body = cheap
    const next = () => from(`203.0.113.${++count % 250}`, one.token)
    const { passed, refused } = await exceed(callLimit, () =>
      called.send('/agents/calls-limits/a2a', { body, headers: next() }),
    )
    expect([passed >= callLimit, codeOf(refused?.body ?? null)]).toEqual([true, -32000])
    expect(
      (await called.send('/agents/calls-limits/a2a', { body, headers: from('203.0.113.1', other.token) })).status,
    ).toBe(200)
  })
})

describe('the invalid credentials a minute', () => {
  it.each(['calls-limits', 'calls-limits-hidden', 'nobody'])(
    'from an address, then none of it are looked at: 429, of %s',
    async id => {
      const address = `198.18.0.${['calls-limits', 'calls-limits-hidden', 'nobody'].indexOf(id)}`
      let count = 0
      const guess = () =>
        from(
          address,
          `cc_${String(++count)
            .replaceAll(/\d/g, digit => 'abcdefghij'[Number(digit)] ?? '')
            .padStart(12, 'z')}_${'a'.repeat(32)}`,
        )
      const { passed, refused } = await exceed(authLimit, () =>
        called.send(`/agents/${id}/a2a`, { body: call(), headers: guess() }),
      )
      expect(passed).toBeGreaterThanOrEqual(authLimit)
      expect([codeOf(refused?.body ?? null), refused?.headers.get('retry-after')]).toEqual([-32000, '60'])
      expect(called.agent.requests).toEqual([])
      // Neither callers without credentials, nor those with the agent's own, nor other addresses pay for it.
      for (const theirs of ['Bearer theirs', 'Basic dTpw']) {
        const headers = { ...from(address), Authorization: theirs }
        expect((await called.send('/agents/calls-limits/a2a', { body: call(), headers })).body).toEqual(answer)
      }
      expect((await called.send('/agents/calls-limits/a2a', { body: call(), headers: from(address) })).body).toEqual(
        answer,
      )
      const elsewhere = await called.send('/agents/calls-limits/a2a', {
        body: call(),
        headers: { ...guess(), 'CF-Connecting-IP': '198.18.1.1' },
      })
      expect(elsewhere.status).toBe(401)
    },
  )

  it("do not count those that may be the agent's own", async () => {
    const headers = from('198.18.2.1')
    for (let count = 0; count < 3 * authLimit; count++) {
      const came = await called.send('/agents/calls-limits/a2a', {
        body: call(),
        headers: { ...headers, Authorization: `Bearer theirs-${count}` },
      })
      expect(came.body).toEqual(answer)
    }
  })
})
