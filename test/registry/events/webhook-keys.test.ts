import { describe, expect, it } from 'vitest'
import {
  readWebhookKeys,
  retryDelay,
  signWebhook,
  toWebhookMessage,
} from '../../../src/registry/events/webhook-queue.ts'
import type { StoredChange } from '../../../src/registry/tables/change-table.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const keysOf = (text: string) => readWebhookKeys(text) ?? []
const whsec = (bytes: number) => `whsec_${btoa('k'.repeat(bytes))}`

describe('the signature of a message', () => {
  it('is that of the example of Standard Webhooks', async () => {
    const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
    expect(await signWebhook(message, keysOf(secret), 1_614_265_330_999)).toEqual({
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('is made with each key while one is replaced', async () => {
    const message = { id: 'msg_1', body: '{}' }
    const [first, second] = await Promise.all(
      [secret, whsec(32)].map(async text => (await signWebhook(message, keysOf(text), 0))['webhook-signature']),
    )
    const both = await signWebhook(message, keysOf(` ${secret}  ${whsec(32)}\n`), 0)
    expect(both['webhook-signature']).toBe(`${first} ${second}`)
    expect(first).not.toBe(second)
  })
})

it('WEBHOOK_SECRET has keys of 24 to 64 bytes in base64, and none if one of them is not valid', () => {
  for (const text of [whsec(24), whsec(25), whsec(64)]) expect(keysOf(text), text).toHaveLength(1)
  for (const text of [
    ...[undefined, '', secret.replace('whsec_', ''), whsec(23), whsec(65), `${secret}a`, `${secret} whsec_`],
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w',
    // Base64url is no base64.
    whsec(24).replace(/[A-Za-z]$/, '_'),
  ])
    expect(readWebhookKeys(text), text).toBeUndefined()
})

it('a message has the type, time and data of the change, as its owner sees it', () => {
  const change: StoredChange = {
    ...{ number: 7, id: 'weather', seq: 3, kind: 'changed', publicKind: 'removed', class: 'breaking' },
    at: Date.UTC(2026, 10, 22),
  }
  const { id, body } = toWebhookMessage(change, 'feed')
  expect(id).toBe('msg_feed_7')
  expect(JSON.parse(body)).toEqual({
    type: 'agent.changed',
    timestamp: '2026-11-22T00:00:00.000Z',
    data: { agent: 'weather', seq: 3, class: 'breaking', public: false },
  })
})

it('the pause after a failure grows from 5 seconds to an hour, and is at least what Retry-After asks for', () => {
  const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 100].map(attempts => retryDelay(attempts) / 1000)
  expect(pauses).toEqual([5, 30, 120, 300, 900, 1800, 3600, 3600, 3600])
  const headers = ['60', '1', '999999999', 'Wed, 21 Oct 2015 07:28:00 GMT', '-1', null]
  expect(headers.map(retryAfter => retryDelay(1, retryAfter) / 1000)).toEqual([60, 5, 3600, 5, 5, 5])
})
