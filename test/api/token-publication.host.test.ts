import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { token as adminToken, type OwnHost, startHost } from '../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({}, { faults: true })
})
afterAll(() => host.close())

const headers = { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' }
const failKvWrites = async (times: number) =>
  ((await host.env()).REGISTRY.getByName('default') as unknown as { fail: (times: number) => Promise<void> }).fail(
    times,
  )
const getListStatus = async (token: string) =>
  (await host.fetch('/agents', { headers: { Authorization: `Bearer ${token}` } })).status

describe('while KV rejects writes', () => {
  it('issues a token that is not yet published, but is valid in the location that issued it', async () => {
    await failKvWrites(1)
    const { token, published } = await host.issue({ scopes: ['read'] })
    expect([published, await getListStatus(token)]).toEqual([false, 200])
  })

  it('revokes a token in the location that revoked it', async () => {
    const { id, token } = await host.issue({ scopes: ['read'] })
    await failKvWrites(1)
    expect((await host.fetch(`/tokens/${id}`, { method: 'DELETE', headers })).status).toBe(204)
    const { keys } = await (await host.env()).CARDS.list({ prefix: 'token:' })
    const stored = await Promise.all(keys.map(async ({ name }) => (await host.env()).CARDS.get(name)))
    expect(stored.join()).toContain(id)
    expect(await getListStatus(token)).not.toBe(200)
  })
})
