import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerCalls } from '../support/answers.ts'
import { type CalledHost, type Sent, useSharedHost } from '../support/called-host.ts'
import { call, message } from '../support/calls.ts'
import { agentCard } from '../support/cards/cards.ts'
import { token } from '../support/host.ts'
import { reply, stream } from '../support/upstream.ts'

const prefer = { Prefer: 'server-timing' }
const metricsOf = (headers: Headers) => headers.get('Server-Timing')?.replace(/\d+/g, '0')

let called: CalledHost
beforeAll(async () => {
  called = await useSharedHost()
  const card = agentCard(called.agent.origin, { capabilities: { streaming: true } })
  await called.register('timed', { card, hosts: ['timed.example'], extended: { description: 'More' } })
  await called.register('timed-hidden', { card, visibility: 'internal', hosts: ['timed-hidden.example'] })
})
afterAll(() => called.close())
beforeEach(() => called.agent.respond(answerCalls))

describe('a card', () => {
  const get = (path: string, headers: Record<string, string> = prefer) => called.host.fetch(path, { headers })

  it('is measured if the client prefers that', async () => {
    const rows: [path: string, headers: Record<string, string>, expected: string][] = [
      ['/agents/timed', {}, 'kv;dur=0, total;dur=0'],
      ['https://timed.example/.well-known/agent-card.json', {}, 'kv;dur=0, total;dur=0'],
      ['/agents/timed', { Authorization: `Bearer ${token}` }, 'auth;dur=0, kv;dur=0, total;dur=0'],
      ['/agents/timed-hidden', { Authorization: `Bearer ${token}` }, 'auth;dur=0, kv;dur=0, total;dur=0'],
    ]
    for (const [path, headers, expected] of rows) {
      const response = await get(path, { ...prefer, ...headers })
      expect([response.status, metricsOf(response.headers)], path).toEqual([200, expected])
      expect(response.headers.get('Preference-Applied')).toBe('server-timing')
    }
  })

  it.each(['', 'return=minimal'])('is not measured for any other client: Prefer: %j', async preference => {
    const response = await get('/agents/timed', preference === '' ? {} : { Prefer: preference })
    await response.arrayBuffer()
    expect(
      ['Server-Timing', 'Preference-Applied', 'Timing-Allow-Origin'].map(name => response.headers.get(name)),
    ).toEqual([null, null, null])
    expect(response.headers.get('Vary')).not.toContain('Prefer')
  })
})

describe('a call', () => {
  it('is measured up to the answer of the agent', async () => {
    const { status, headers } = await called.send('/agents/timed/a2a', { body: call(), headers: prefer })
    expect([status, metricsOf(headers)]).toEqual([
      200,
      'auth;dur=0, kv;dur=0, body;dur=0, gate;dur=0, upstream;dur=0, total;dur=0',
    ])
    expect(headers.get('Access-Control-Expose-Headers')).toBe('*')
  })

  it('is measured up to the headers of a stream', async () => {
    called.agent.respond(reply(200, stream, 'data: {}\n\n'))
    const { headers } = await called.send('/agents/timed/a2a', { body: call('SendStreamingMessage'), headers: prefer })
    expect(metricsOf(headers)).toContain('upstream;dur=0, total;dur=0')
  })
})

describe('an internal agent', () => {
  const requests: [title: string, path: string, sent: Sent][] = [
    ['its card', '', { method: 'GET' }],
    ['a call', '/a2a', { body: call() }],
    ['a call over HTTP+JSON', '/a2a/message:send', { body: message() }],
    ['its extended card', '/a2a', { body: call('GetExtendedAgentCard', {}) }],
  ]

  it.each(requests)('is measured no more than one that does not exist: %s', async (_, path, sent) => {
    const ask = async (id: string) => {
      const { status, headers } = await called.send(`/agents/${id}${path}`, { ...sent, headers: prefer })
      return { status, names: [...headers.keys()].filter(name => name !== 'content-length').sort() }
    }
    const hidden = await ask('timed-hidden')
    expect(hidden).toEqual(await ask('timed-nobody'))
    expect(hidden.names.filter(name => /timing|preference/.test(name))).toEqual([])
  })
})
