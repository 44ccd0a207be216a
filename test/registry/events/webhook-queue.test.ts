import { beforeEach, describe, expect, it, vi } from 'vitest'
import { type ChangeFeed, openChangeFeed } from '../../../src/registry/events/change-feed.ts'
import { openWebhookQueue } from '../../../src/registry/events/webhook-queue.ts'
import type { StoredChange } from '../../../src/registry/tables/change-table.ts'
import { openSql } from '../../support/storage.ts'

const url = 'https://hooks.example.com/cards'
const key = `whsec_${btoa('k'.repeat(24))}`
const change = (number: number): StoredChange => ({
  ...{ number, id: `a${number}`, seq: 1, kind: 'registered', publicKind: 'registered', at: 0 },
})

let sql: SqlStorage
let changes: ChangeFeed
let env: Partial<Env>
let queue: ReturnType<typeof openWebhookQueue>
let answers: (Response | Error)[]
let sent: { url: string; id: string; body: { type: string; data: { agent: string } }; init: RequestInit }[]
let logged: { event: string; 'calling_card.detail': string; 'http.response.status_code'?: number }[]

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 22) })
  sql = openSql()
  changes = openChangeFeed(sql)
  env = {}
  deploy({ WEBHOOK_URL: url, WEBHOOK_SECRET: key, ALLOWED_ORIGINS: '' })
  answers = []
  sent = []
  logged = []
  vi.spyOn(console, 'warn').mockImplementation(line => logged.push(JSON.parse(line)))
  vi.spyOn(console, 'error').mockImplementation(line => logged.push(JSON.parse(line)))
  vi.stubGlobal('fetch', async (to: string, init: RequestInit) => {
    const headers = new Headers(init.headers)
    sent.push({ url: to, id: headers.get('webhook-id') ?? '', body: JSON.parse(String(init.body)), init })
    const answer = answers.shift() ?? new Response(null, { status: 204 })
    if (answer instanceof Error) throw answer
    return answer
  })
})

/** Starts the queue again, with other variables. */
const deploy = (variables: Partial<Env>) => {
  env = { ...env, ...variables }
  queue = openWebhookQueue(sql, changes, env as Env)
}

/** Stores changes as the feed does. */
const store = (...numbers: number[]) => {
  const isDelivering = queue.prepare()
  changes.append(numbers.map(change))
  return isDelivering
}
const sentAgents = () => sent.map(({ body }) => body.data.agent)
const status = (code: number, headers = {}) => new Response(null, { status: code, headers })

describe('the queue of the webhook', () => {
  it('delivers each change once and in order, to the URL, as signed JSON', async () => {
    expect(store(1, 2, 3)).toBe(true)
    expect(await queue.deliver()).toBeUndefined()
    expect(sentAgents()).toEqual(['a1', 'a2', 'a3'])
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3)
    const headers = { 'Content-Type': 'application/json', 'webhook-signature': expect.stringMatching(/^v1,/) }
    const init = { method: 'POST', redirect: 'manual', headers }
    expect(sent[0]).toMatchObject({ url, body: { type: 'agent.registered' }, init })
    expect(await queue.deliver()).toBeUndefined()
    expect(sent).toHaveLength(3)
    expect(queue.health()).toEqual({ pending: 0, failingSince: null })
  })

  it('leaves out what was changed on another host before an import', async () => {
    queue.prepare(3)
    for (const [numbers, pending] of [
      [[1, 2], 0],
      [[3, 4], 1],
    ] as const) {
      expect(queue.prepare(3)).toBe(true)
      changes.append(numbers.map(change))
      expect(queue.health()).toMatchObject({ pending })
    }
    expect(await queue.deliver()).toBeUndefined()
    expect(sentAgents()).toEqual(['a4'])
  })

  it('retries after growing pauses with the same id, then goes on in order', async () => {
    store(1, 2)
    answers = [status(500), new Error('connection refused'), status(302, { Location: 'https://other.example/' })]
    expect(await queue.deliver()).toBe(5_000)
    const since = Date.now()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await queue.deliver()).toBe(30_000)
    expect(queue.health()).toEqual({ pending: 2, failingSince: since })
    await vi.advanceTimersByTimeAsync(30_000)
    expect(await queue.deliver()).toBe(120_000)
    expect(await queue.deliver()).toBeUndefined()
    expect(sentAgents()).toEqual(['a1', 'a1', 'a1', 'a1', 'a2'])
    expect(new Set(sent.slice(0, 4).map(({ id }) => id)).size).toBe(1)
    expect(new Set(sent.map(({ url }) => url))).toEqual(new Set([url]))
    expect(queue.health()).toEqual({ pending: 0, failingSince: null })
    expect(logged.map(({ event }) => event)).toEqual(['webhook-failed', 'webhook-failed', 'webhook-failed'])
    expect(logged.map(line => line['http.response.status_code'])).toEqual([500, undefined, 302])
    const details = ['status', 'Error: connection refused', 'status']
    expect(logged).toMatchObject(details.map(detail => ({ 'gen_ai.agent.id': 'a1', 'calling_card.detail': detail })))
  })

  it('waits as long as the receiver asks for, and begins no delivery meanwhile', async () => {
    store(1)
    answers = [status(429, { 'Retry-After': '90' })]
    expect(await queue.deliver()).toBe(90_000)
    expect(store(2)).toBe(false)
  })

  it('sends nothing more to a receiver that is gone, until WEBHOOK_URL changes', async () => {
    store(1)
    answers = [status(410, { 'Retry-After': '1' })]
    expect(await queue.deliver()).toBeUndefined()
    expect(store(2)).toBe(false)
    expect(queue.health()).toEqual({ pending: 2, failingSince: Date.now() })
    expect(logged).toMatchObject([{ event: 'webhook-failed', 'calling_card.detail': expect.stringMatching(/^gone: /) }])
    expect(console.error).toHaveBeenCalledOnce()
    deploy({ WEBHOOK_URL: `${url}?again` })
    expect(store(3)).toBe(true)
    expect(await queue.deliver()).toBeUndefined()
    expect(sentAgents()).toEqual(['a1', 'a1', 'a2', 'a3'])
  })

  it('gives up a receiver that does not respond within 15 seconds', async () => {
    store(1)
    const called = Promise.withResolvers<void>()
    vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
      called.resolve()
      return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    })
    const delivery = queue.deliver()
    await called.promise
    await vi.advanceTimersByTimeAsync(15_000)
    expect(await delivery).toBe(5_000)
    expect(logged).toMatchObject([{ 'calling_card.detail': 'timeout' }])
  })

  it('gives up a change after three days, says so, and goes on with the next one', async () => {
    store(1, 2)
    vi.stubGlobal('fetch', async () => status(500))
    await queue.deliver()
    await vi.advanceTimersByTimeAsync(3 * 86_400_000)
    const pause = await queue.deliver()
    expect(pause).toBe(30_000)
    expect(logged.map(({ event }) => event)).toEqual(['webhook-failed', 'webhook-failed', 'webhook-changes-lost'])
    expect(queue.health()).toMatchObject({ pending: 1, failingSince: expect.any(Number) })
  })

  it('says how many changes it has lost because they were too many to store', async () => {
    store(1, 2, 3, 4, 5)
    changes.append([], 2)
    expect(await queue.deliver()).toBeUndefined()
    expect(sentAgents()).toEqual(['a4', 'a5'])
    const detail = expect.stringMatching(/^3 /)
    expect(logged).toMatchObject([{ event: 'webhook-changes-lost', 'calling_card.detail': detail }])
  })

  it('delivers at most 20 changes in one alarm', async () => {
    store(...Array.from({ length: 25 }, (_, index) => index + 1))
    expect(await queue.deliver()).toBe(0)
    expect(sent).toHaveLength(20)
    expect(await queue.deliver()).toBeUndefined()
    expect(sent).toHaveLength(25)
  })

  it('does not call an address that is not public, which the log says', async () => {
    store(1)
    for (const address of [
      ...['https://10.0.0.1/', 'https://metadata.google.internal/', 'http://hooks.example.com/', 'https://localhost/'],
      'https://user:password@hooks.example.com/',
    ]) {
      deploy({ WEBHOOK_URL: address })
      expect([address, await queue.deliver()]).toEqual([address, 5_000])
      const detail = expect.stringMatching(/^blocked: /)
      expect(logged.at(-1)).toMatchObject({ event: 'webhook-failed', 'calling_card.detail': detail })
      expect(queue.health()).toEqual({ pending: 1, failingSince: Date.now() })
    }
    expect(sent).toEqual([])
  })

  it('sends nothing without a valid key', async () => {
    deploy({ WEBHOOK_SECRET: 'whsec_short' })
    store(1)
    expect(await queue.deliver()).toBe(5_000)
    expect(sent).toEqual([])
    expect(JSON.stringify(logged)).not.toContain('whsec_')
  })

  it('begins with the first change after WEBHOOK_URL is set, and forgets what is pending once it is empty', async () => {
    deploy({ WEBHOOK_URL: '' })
    expect(store(1)).toBe(false)
    deploy({ WEBHOOK_URL: url })
    store(2)
    deploy({ WEBHOOK_URL: '' })
    expect(queue.health()).toBeNull()
    expect(await queue.deliver()).toBeUndefined()
    expect(queue.health()).toBeNull()
    deploy({ WEBHOOK_URL: url })
    store(3)
    await queue.deliver()
    expect(sentAgents()).toEqual(['a3'])
  })

  it('counts failures of another URL by themselves', async () => {
    store(1)
    answers = [status(500), status(500), status(500)]
    await queue.deliver()
    deploy({ WEBHOOK_URL: 'https://other.example.com/' })
    expect(queue.health()).toEqual({ pending: 1, failingSince: null })
    const later = Date.now() + 60_000
    vi.setSystemTime(later)
    expect([await queue.deliver(), queue.health()]).toEqual([5000, { pending: 1, failingSince: later }])
  })

  it('records a change that cannot be written as a failure, and never rejects', async () => {
    queue.prepare()
    changes.append([{ ...change(1), at: 8.64e15 + 1 }])
    expect([await queue.deliver(), sent]).toEqual([5000, []])
    const detail = expect.stringContaining('Invalid')
    expect(logged).toMatchObject([{ event: 'webhook-failed', 'calling_card.detail': detail }])
  })
})
