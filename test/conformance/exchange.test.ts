import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type CheckedAgent, sendToAgent, sendToHost } from '../../src/conformance/exchange.ts'
import { profileWith } from '../support/calls.ts'
import { executionContext } from '../support/kv.ts'

beforeEach(() => void vi.useFakeTimers())

const agentWith = (fetch: () => Promise<Response>): CheckedAgent => ({
  id: 'weather',
  profile: profileWith(),
  caller: 'token:1',
  seconds: 5,
  context: {
    request: new Request('https://host.example/agents/weather/check'),
    env: { AGENT: { fetch }, CALL_LIMIT: { limit: async () => ({ success: true }) } } as unknown as Env,
    ctx: executionContext,
  } as CheckedAgent['context'],
  serveCard: () => {
    throw new Error('not served')
  },
})

const options = { seconds: 5, authorized: false, wholeStream: true }

/** Returns what the check reads of a response of an endpoint of the host. */
const read = (response: Response) => {
  const agent = agentWith(async () => response)
  return sendToHost(agent, async () => response, { path: '/agents/weather/a2a' }, options)
}

describe('an answer', () => {
  it('is a redirect up to status 399', async () => {
    for (const status of [300, 399]) expect(await read(new Response('', { status }))).toEqual({ failed: 'redirect' })
    for (const status of [299, 400]) expect(await read(new Response('', { status }))).toMatchObject({ status })
  })

  it('of a stream has the events with data', async () => {
    const headers = { 'Content-Type': 'text/event-stream' }
    expect(await read(new Response('data: a\n\ndata:\n\ndata: b\n\n', { headers }))).toMatchObject({
      texts: ['a', 'b'],
    })
  })

  it('that has come leaves no timer', async () => {
    await read(new Response('{}'))
    expect(vi.getTimerCount()).toBe(0)
  })
})

it('logs why an agent cannot be reached, which the answer does not say', async () => {
  const info = vi.spyOn(console, 'info').mockReturnValue()
  const agent = agentWith(() => Promise.reject(new Error('no route')))
  const request = { url: 'https://agent.example/a2a', init: { headers: {} } }
  const answer = await sendToAgent(agent, { url: request.url, service: 'AGENT' }, request, options)
  expect(answer).toEqual({ failed: 'unreachable' })
  expect(info.mock.calls.map(([line]) => JSON.parse(line))).toEqual([
    { event: 'check-unanswered', 'gen_ai.agent.id': 'weather', 'calling_card.detail': 'Error: no route' },
  ])
})
