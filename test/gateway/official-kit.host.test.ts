import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { codeOf, messageV03 } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  await called.register('official-kit', { card: agentCard(called.agent.origin), route: 'gateway' })
})
afterAll(() => called.close())

// As a2aproject/a2a-tck sends them; the others: invalid-calls.host.test.ts.
it('forwards no call without an id, whose wrong parameters are reported first', async () => {
  for (const [params, code] of [
    [messageV03(), -32600],
    [{ '': 'not_a_dict' }, -32602],
  ] as [Json, number][]) {
    const { status, body } = await called.send('/agents/official-kit', {
      body: { jsonrpc: '2.0', method: 'message/send', params },
    })
    expect([status, codeOf(body), (body as JsonObject).id]).toEqual([200, code, null])
  }
  expect(called.agent.requests).toEqual([])
})
