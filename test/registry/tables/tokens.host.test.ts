import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Registry } from '../../../src/registry/store/registry.ts'
import type { TokenRecord } from '../../../src/registry/token-record.ts'
import { type OwnHost, startHost } from '../../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({}, { faults: true })
})
afterAll(() => host.close())

/** The Registry over RPC, with the methods that make its KV fail. */
type FaultyRegistry = Pick<Registry, 'issueToken' | 'revokeToken' | 'tokens'> & {
  fail: (times: number) => Promise<void>
  retry: () => Promise<void>
}
let registry: FaultyRegistry
let kv: KVNamespace
beforeEach(async () => {
  const env = await host.env()
  registry = env.REGISTRY.getByName('default') as unknown as FaultyRegistry
  kv = env.CARDS
})

const record = (id: string, expires: number | null = null): TokenRecord => ({
  id,
  note: 'for a test',
  scopes: ['read', 'write'],
  agents: ['weather-*'],
  tiers: ['gold'],
  created: 1,
  expires,
})
/** Returns a text of the length of a SHA-256 in hexadecimal. */
const hash = (id: string) => id.padStart(64, '0')
const readEntry = (id: string) => kv.getWithMetadata<{ seq: number }>(`token:${hash(id)}`)

describe('a token', () => {
  it('is published under its hash when it is issued, and emptied when it is revoked', async () => {
    expect(await registry.issueToken(record('one'), hash('one'), 'admin')).toEqual({
      outcome: 'issued',
      seq: 1,
      published: true,
    })
    expect(await readEntry('one')).toMatchObject({ value: JSON.stringify(record('one')), metadata: { seq: 1 } })
    expect(await registry.revokeToken('one', 'admin')).toEqual({
      outcome: 'revoked',
      seq: 2,
      hash: hash('one'),
      published: true,
    })
    expect(await readEntry('one')).toMatchObject({ value: '', metadata: { seq: 2 } })
    expect(await registry.tokens('', 100)).toEqual([])
  })

  it('with an expiry stays in KV until then, but at least as long as KV requires', async () => {
    const now = Date.now()
    await registry.issueToken(record('week', now + 7 * 86_400_000), hash('week'), 'admin')
    await registry.issueToken(record('soon', now + 1_000), hash('soon'), 'admin')
    const { keys } = await kv.list({ prefix: 'token:' })
    const seconds = (id: string) =>
      (keys.find(({ name }) => name === `token:${hash(id)}`)?.expiration ?? 0) - Math.floor(now / 1000)
    expect(seconds('week')).toBeGreaterThanOrEqual(7 * 86_400)
    expect(seconds('week')).toBeLessThan(7 * 86_400 + 60)
    expect(seconds('soon')).toBeGreaterThanOrEqual(60)
    for (const id of ['week', 'soon']) await registry.revokeToken(id, 'admin')
  })

  it('whose id is taken is not issued, and changes nothing', async () => {
    await registry.issueToken(record('taken'), hash('taken'), 'admin')
    expect(await registry.issueToken({ ...record('taken'), scopes: ['admin'] }, hash('other'), 'admin')).toEqual({
      outcome: 'id-taken',
    })
    expect([await registry.tokens('', 100), (await readEntry('other')).value]).toEqual([[record('taken')], null])
    await registry.revokeToken('taken', 'admin')
  })

  it('with an unknown id cannot be revoked', async () => {
    expect(await registry.revokeToken('nobody', 'admin')).toEqual({ outcome: 'unknown' })
  })
})

describe('the list of tokens', () => {
  it('is returned in pages, ordered by id', async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `page-${index}`)
    for (const id of ids) await registry.issueToken(record(id), hash(id), 'admin')
    const first = await registry.tokens('', 3)
    const second = await registry.tokens(first.at(-1)?.id ?? '', 3)
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids)
    for (const id of ids) await registry.revokeToken(id, 'admin')
  })
})

describe('a failed write of a token to KV', () => {
  it('is reported when the token is issued, and retried', async () => {
    await registry.fail(1)
    expect(await registry.issueToken(record('late'), hash('late'), 'admin')).toMatchObject({ published: false })
    await vi.waitFor(async () => expect(await readEntry('late')).toMatchObject({ metadata: { seq: 1 } }), 15_000)
  })

  it('is reported when the token is revoked, and retried', async () => {
    await registry.fail(1)
    expect(await registry.revokeToken('late', 'admin')).toMatchObject({ outcome: 'revoked', published: false })
    await vi.waitFor(
      async () => expect(await readEntry('late')).toMatchObject({ value: '', metadata: { seq: 2 } }),
      15_000,
    )
  })

  it('is never retried with a token that has been revoked since', async () => {
    await registry.fail(1)
    await registry.issueToken(record('brief'), hash('brief'), 'admin')
    await registry.revokeToken('brief', 'admin')
    await registry.retry()
    expect(await readEntry('brief')).toMatchObject({ value: '', metadata: { seq: 2 } })
  })
})
