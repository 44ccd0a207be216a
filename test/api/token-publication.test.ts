import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({}, { faults: true })
})
afterAll(() => host.close())

const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' }
const fail = async (times: number) =>
  ((await host.env()).REGISTRY.getByName('default') as unknown as { fail: (times: number) => Promise<void> }).fail(
    times,
  )
const issue = async () => {
  const response = await host.fetch('/tokens', { method: 'POST', headers, body: '{"scopes":["read"]}' })
  return (await response.json()) as { id: string; token: string; published: boolean }
}
const lists = async (token: string) =>
  (await host.fetch('/agents', { headers: { Authorization: `Bearer ${token}` } })).status

describe('while KV does not take what is written', () => {
  it('a token is issued, says that the edge has it not, and holds where it was issued', async () => {
    await fail(1)
    const { token, published } = await issue()
    expect([published, await lists(token)]).toEqual([false, 200])
  })

  it('a revoked token holds no more where it was revoked', async () => {
    const { id, token } = await issue()
    await fail(1)
    expect((await host.fetch(`/tokens/${id}`, { method: 'DELETE', headers })).status).toBe(204)
    const { keys } = await (await host.env()).CARDS.list({ prefix: 'token:' })
    const kept = await Promise.all(keys.map(async ({ name }) => (await host.env()).CARDS.get(name)))
    expect(kept.join()).toContain(id)
    expect(await lists(token)).not.toBe(200)
  })
})
