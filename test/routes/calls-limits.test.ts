import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/json/json.ts'
import { json, says } from '../a2a/forwarding.ts'
import {
  agentCard,
  answer,
  type CalledHost,
  type Came,
  call,
  codeOf,
  message,
  message0,
  startCalledHost,
} from './calling.ts'

let called: CalledHost
beforeAll(async () => {
  called = await startCalledHost()
  const card = agentCard(called.agent.origin)
  await called.register('weather', { card, extended: { description: 'More of it' } })
  await called.register('hidden', { card, visibility: 'internal' })
})
afterAll(() => called.close())
beforeEach(() => called.agent.answer(says(200, json, JSON.stringify(answer))))

/** Calls at once, until one is refused for their number; the limit's minute may turn meanwhile, so at most twice as many pass. */
const until429 = async (
  limit: number,
  one: () => Promise<Came>,
): Promise<{ passed: number; refused: Came | undefined }> => {
  for (let sent = 0; sent <= 2 * limit; ) {
    const batch = await Promise.all(Array.from({ length: 25 }, one))
    const refused = batch.find(({ status }) => status === 429)
    if (refused) return { passed: sent + batch.filter(({ status }) => status !== 429).length, refused }
    sent += batch.length
  }
  return { passed: 2 * limit, refused: undefined }
}

const from = (address: string, token?: string) => ({
  'CF-Connecting-IP': address,
  ...(token !== undefined && { Authorization: `Bearer ${token}` }),
})
const cheap = call('NoSuchMethod')

describe('600 calls a minute', () => {
  it('of an address, then 429 in the form of each version and binding, and the agent hears of none', async () => {
    const headers = from('192.0.2.1')
    const { passed, refused } = await until429(600, () => called.send('/agents/weather/a2a', { body: cheap, headers }))
    expect(passed).toBeGreaterThanOrEqual(600)
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
        '/agents/weather/a2a',
        call('message/stream', message0()),
        {
          jsonrpc: '2.0',
          id: 7,
          error: expect.objectContaining({ code: -32000, data: expect.objectContaining({ retryAfter: 60 }) }),
        },
      ],
      [
        '/agents/weather/a2a/message:send',
        message(),
        { error: expect.objectContaining({ code: 429, status: 'RESOURCE_EXHAUSTED' }) },
      ],
      ['/agents/weather/a2a/v1/message:send', message0(), expect.objectContaining({ code: -32000 })],
      // Who guesses at ids is stopped as well, and learns nothing by it.
      ['/agents/hidden/a2a', call(), expect.objectContaining({ error: expect.objectContaining({ code: -32000 }) })],
      ['/agents/nobody/a2a', call(), expect.objectContaining({ error: expect.objectContaining({ code: -32000 }) })],
    ]
    expect(called.agent.asked).toEqual([])
    for (const [path, body, expected] of others) {
      const { refused: came } = await until429(600, () => called.send(path, { body, headers }))
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
      called.send('/agents/weather/a2a', { body: call(), headers: from('192.0.2.2') }),
      called.send('/agents/weather/a2a', { body: call(), headers: from('192.0.2.1', token) }),
    ])
    expect(statuses.map(({ status }) => status)).toEqual([200, 200])
  })

  it('of a token, whatever the address', async () => {
    const [one, other] = [await called.issue({ scopes: ['read'] }), await called.issue({ scopes: ['read'] })]
    let count = 0
    const body = cheap
    const next = () => from(`203.0.113.${++count % 250}`, one.token)
    const { passed, refused } = await until429(600, () => called.send('/agents/weather/a2a', { body, headers: next() }))
    expect([passed >= 600, codeOf(refused?.body ?? null)]).toEqual([true, -32000])
    expect((await called.send('/agents/weather/a2a', { body, headers: from('203.0.113.1', other.token) })).status).toBe(
      200,
    )
  })
})

describe('30 credentials a minute that do not hold', () => {
  it.each(['weather', 'hidden', 'nobody'])('from an address, then none of it are looked at: 429, of %s', async id => {
    const address = `198.18.0.${['weather', 'hidden', 'nobody'].indexOf(id)}`
    let count = 0
    const guess = () =>
      from(
        address,
        `cc_${String(++count)
          .replaceAll(/\d/g, digit => 'abcdefghij'[Number(digit)] ?? '')
          .padStart(12, 'z')}_${'a'.repeat(32)}`,
      )
    const { passed, refused } = await until429(30, () =>
      called.send(`/agents/${id}/a2a`, { body: call(), headers: guess() }),
    )
    expect(passed).toBeGreaterThanOrEqual(30)
    expect([codeOf(refused?.body ?? null), refused?.headers.get('retry-after')]).toEqual([-32000, '60'])
    expect(called.agent.asked).toEqual([])
    // Neither callers without credentials, nor those with the agent's own, nor other addresses pay for it.
    for (const theirs of ['Bearer theirs', 'Basic dTpw']) {
      const headers = { ...from(address), Authorization: theirs }
      expect((await called.send('/agents/weather/a2a', { body: call(), headers })).body).toEqual(answer)
    }
    expect((await called.send('/agents/weather/a2a', { body: call(), headers: from(address) })).body).toEqual(answer)
    const elsewhere = await called.send('/agents/weather/a2a', {
      body: call(),
      headers: { ...guess(), 'CF-Connecting-IP': '198.18.1.1' },
    })
    expect(elsewhere.status).toBe(401)
  })

  it("that may be the agent's own do not count", async () => {
    for (let count = 0; count < 40; count++) {
      const came = await called.send('/agents/weather/a2a', {
        body: call(),
        headers: from('198.18.2.1', `theirs-${count}`),
      })
      expect(came.body).toEqual(answer)
    }
  })
})
