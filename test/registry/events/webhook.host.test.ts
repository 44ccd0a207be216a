import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readWebhookKeys, signWebhook } from '../../../src/registry/events/webhook-queue.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type OwnHost, startHost, token } from '../../support/host.ts'
import { reply, startUpstream, type UpstreamServer } from '../../support/upstream.ts'

const secret = `whsec_${btoa('k'.repeat(32))}`

describe('a host with a webhook', () => {
  let receiver: UpstreamServer
  let host: OwnHost
  beforeAll(async () => {
    receiver = await startUpstream()
    receiver.respond(reply(204, {}, ''))
    const WEBHOOK_URL = `${receiver.origin}/hooks/cards`
    host = await startHost({ WEBHOOK_URL, WEBHOOK_SECRET: secret, ALLOWED_ORIGINS: receiver.origin })
  })
  afterAll(() => Promise.all([host.close(), receiver.close()]))

  const waitForRequests = async (count: number) => {
    await expect.poll(() => receiver.requests.length, { timeout: 10_000 }).toBe(count)
    return receiver.requests
  }

  it('sends every change, internal ones too, in order and with a valid signature', async () => {
    await host.put('a', minimalCard)
    await host.put('b', { card: minimalCard, visibility: 'internal' })
    await host.fetch('/agents/a', { method: 'DELETE', headers: { Authorization: `Bearer ${token}` } })
    const requests = await waitForRequests(3)
    const bodies = requests.map(({ body }) => JSON.parse(body))
    expect(bodies.map(({ type, data }) => [type, data.agent, data.public])).toEqual([
      ['agent.registered', 'a', true],
      ['agent.registered', 'b', false],
      ['agent.removed', 'a', false],
    ])
    for (const { method, path, headers, body } of requests) {
      expect([method, path, headers['content-type']]).toEqual(['POST', '/hooks/cards', 'application/json'])
      const id = String(headers['webhook-id'])
      const now = 1000 * Number(headers['webhook-timestamp'])
      expect(headers).toMatchObject(await signWebhook({ id, body }, readWebhookKeys(secret) ?? [], now))
    }
  })

  it('answers writes while the receiver does not respond', async () => {
    receiver.respond(() => undefined)
    for (const id of ['c', 'd'])
      expect(await (await host.put(id, minimalCard)).json()).toMatchObject({ published: true })
    await waitForRequests(1)
    expect(await (await host.fetch('/health')).json()).toMatchObject({ status: 'ok', webhook: { pending: 2 } })
  })
})
