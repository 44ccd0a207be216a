import { describe, expect, it } from 'vitest'
import { getEvents } from '../../src/api/events/index.ts'
import type { Refusal } from '../../src/registry/events/feed.ts'
import { minimalCard } from '../support/cards/cards.ts'
import { namesOf, readEvents } from '../support/event-stream.ts'
import { sharedHost, token } from '../support/host.ts'
import { executionContext as ctx, kvWith } from '../support/kv.ts'

const host = sharedHost()
const admin = { Authorization: `Bearer ${token}` }
const put = async (id: string, more = {}) => {
  const response = await host.put(id, { card: minimalCard, ...more })
  expect([200, 201]).toContain(response.status)
}
const remove = (id: string) => host.fetch(`/agents/${id}`, { method: 'DELETE', headers: admin })
const described = (text: string) => ({ card: { ...minimalCard, description: text } })
const subscribe = async (agents: string[], path = '/events', headers: Record<string, string> = {}) => {
  const response = await host.fetch(path, { headers })
  expect(response.status).toBe(200)
  return readEvents(response, agents)
}

describe('GET /events', () => {
  it('sends every change to each subscriber, in order', async () => {
    const streams = await Promise.all([1, 2].map(() => subscribe(['ev-a', 'ev-b'])))
    await put('ev-a')
    await put('ev-a')
    await put('ev-b')
    await put('ev-a', described('Changed.'))
    await remove('ev-b')
    for (const stream of streams) {
      const events = await stream.take(4)
      expect(namesOf(events)).toEqual(['registered ev-a 1', 'registered ev-b 1', 'changed ev-a 2', 'removed ev-b 2'])
      const ids = events.map(({ id }) => id)
      expect(ids).toEqual(ids.toSorted((left, right) => left - right))
      expect(Date.parse(events[0]?.data.time ?? '')).not.toBeNaN()
      await stream.close()
    }
  })

  it('is an uncached stream that any origin may read, and begins with what its client resumes from', async () => {
    const response = await host.fetch('/events')
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-accel-buffering': 'no',
    })
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toMatch(/^retry: 3000\nid: \d+\n\n$/)
    await reader?.cancel()
  })

  it('resumes after the last event, without a gap or a repetition', async () => {
    const id = 'ev-resume'
    const first = await subscribe([id])
    await put(id)
    await put(id, described('Second.'))
    const [registered] = await first.take(2)
    await first.close()
    await put(id, described('Third.'))
    const last = String(registered?.id)
    const streams = await Promise.all([
      subscribe([id], '/events', { 'Last-Event-ID': last }),
      subscribe([id], `/events?lastEventId=${last}`),
      subscribe([id], `/agents/${id}/events`, { 'Last-Event-ID': last }),
    ])
    await Promise.all(streams.map(stream => stream.take(2)))
    await put(id, described('Fourth.'))
    for (const stream of streams) {
      expect(namesOf(await stream.take(3))).toEqual([2, 3, 4].map(seq => `changed ${id} ${seq}`))
      await stream.close()
    }
  })

  it('shows internal agents to tokens that cover them, and of one that becomes internal only its removal to others', async () => {
    const agents = ['ev-secret', 'ev-turned']
    const reader = await host.issue({ scopes: ['read'], agents: ['ev-secret'], note: '' })
    const streams = await Promise.all([
      subscribe(agents),
      subscribe(agents, '/events', admin),
      subscribe(agents, '/events', { Authorization: `Bearer ${reader.token}` }),
    ])
    await put('ev-secret', { visibility: 'internal' })
    await put('ev-turned')
    await put('ev-turned', { visibility: 'internal' })
    const [secret, turned] = ['registered ev-secret 1', 'registered ev-turned 1']
    const expected = [
      [turned, 'removed ev-turned 2'],
      [secret, turned, 'changed ev-turned 2'],
      [secret, turned, 'removed ev-turned 2'],
    ]
    for (const [index, stream] of streams.entries()) {
      const events = expected[index] ?? []
      expect(namesOf(await stream.take(events.length))).toEqual(events)
      await stream.close()
    }
  })

  it('refuses an invalid token, one without the scope read, and an id that this host has not given', async () => {
    const refuse = async (headers: Record<string, string>, status: number, code: string) => {
      const response = await host.fetch('/events', { headers: { 'CF-Connecting-IP': '2001:db8:e::1', ...headers } })
      expect([response.status, response.headers.get('Content-Type')]).toEqual([status, 'application/problem+json'])
      expect(await response.json()).toMatchObject({ code })
    }
    await refuse({ Authorization: 'Bearer wrong' }, 401, 'bad-token')
    const writer = await host.issue({ scopes: ['write'], agents: ['*'], note: '' })
    await refuse({ Authorization: `Bearer ${writer.token}` }, 403, 'forbidden')
    // The last one is an id of another host.
    for (const id of ['abc', '9'.repeat(16), '999999999999']) await refuse({ 'Last-Event-ID': id }, 400, 'bad-event-id')
    expect((await host.fetch('/events?since=1')).status).toBe(400)
  })

  it('answers HEAD without a stream', async () => {
    const response = await host.fetch('/events', { method: 'HEAD' })
    expect([response.status, response.headers.get('Content-Type')]).toEqual([200, 'text/event-stream'])
    expect(await response.text()).toBe('')
  })
})

describe('GET /agents/{id}/events', () => {
  it('can be resumed after the agent has become internal', async () => {
    const first = await subscribe(['ev-hidden'], '/events')
    await put('ev-hidden')
    const [registered] = await first.take(1)
    await first.close()
    await put('ev-hidden', { visibility: 'internal' })
    const headers = { 'Last-Event-ID': String(registered?.id) }
    const second = await subscribe(['ev-hidden'], '/agents/ev-hidden/events', headers)
    expect(namesOf(await second.take(1))).toEqual(['removed ev-hidden 2'])
    await second.close()
  })

  it('is 404 for an agent that does not exist, and for an internal one unless a token covers it', async () => {
    await put('ev-internal', { visibility: 'internal' })
    for (const id of ['ev-none', 'ev-internal', 'No-Id']) {
      const response = await host.fetch(`/agents/${id}/events`)
      expect([response.status, (await response.json()) as object]).toMatchObject([404, { code: 'agent-not-found' }])
    }
    const stream = await subscribe(['ev-internal'], '/agents/ev-internal/events', admin)
    await put('ev-internal', { visibility: 'internal', ...described('Changed.') })
    expect(namesOf(await stream.take(1))).toEqual(['changed ev-internal 2'])
    await stream.close()
  })
})

describe('a stream that is refused', () => {
  const open = (refusal: Refusal) => {
    const fetch = async () => Response.json(refusal, { status: 409 })
    const limit = { limit: async () => ({ success: true }) }
    const env = { ...kvWith().env, CALL_LIMIT: limit, EVENTS: { getByName: () => ({ fetch }) } } as unknown as Env
    const request = new Request('https://host.example/events', { headers: { 'Last-Event-ID': '3' } })
    return getEvents(request, env, ctx, {})
  }

  it('is 410 where what was missed is not sent, and says what to do', async () => {
    const hint = 'Read GET /agents, and subscribe without Last-Event-ID.'
    for (const [refusal, code, message] of [
      [{ refused: 'expired', oldest: 7 }, 'events-expired', 'Events before 8 are no longer stored.'],
      [
        { refused: 'too-many-replays' },
        'too-many-replays',
        'You have resumed more than 30 event streams with missed events in a minute.',
      ],
    ] as const)
      await expect(open(refusal)).rejects.toMatchObject({ code, message: `${message} ${hint}` })
  })

  it('is 429 while its caller has too many streams, and 503 while the host has', async () => {
    const error = { code: 'too-many-streams', headers: { 'Retry-After': '60' } }
    await expect(open({ refused: 'too-many-streams', ofCaller: true })).rejects.toMatchObject(error)
    await expect(open({ refused: 'too-many-streams', ofCaller: false })).rejects.toMatchObject({ code: 'unavailable' })
  })
})
