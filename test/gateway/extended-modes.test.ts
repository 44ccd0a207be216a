import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CalledHost, useSharedHost } from '../support/called-host.ts'
import { answer } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import type { Host } from '../support/host.ts'

let called: CalledHost<Host>
beforeAll(async () => {
  called = await useSharedHost()
  called.agent.respond(response => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(answer))
  })
  const drawing = {
    id: 'draw',
    name: 'Draw',
    description: 'Draws the weather',
    tags: ['art'],
    outputModes: ['image/png'],
  }
  await called.register('extended-modes', { card: agentCard(called.agent.origin), extended: { skills: [drawing] } })
})
afterAll(() => called.close())

const call = {
  ...{ jsonrpc: '2.0', id: 7, method: 'SendMessage' },
  params: {
    message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Tokyo' }] },
    configuration: { acceptedOutputModes: ['image/png'] },
  },
}

it('accepts output modes of an extended skill only from callers who may read the extended card', async () => {
  const { token } = await called.issue({ scopes: ['read'], agents: ['extended-modes'] })
  const reader = await called.send('/agents/extended-modes/a2a', { body: call, token })
  const anonymous = await called.send('/agents/extended-modes/a2a', { body: call })
  expect([reader.body, anonymous.text.includes('-32005'), anonymous.text.includes('image/png, ')]).toEqual([
    answer,
    true,
    false,
  ])
})
