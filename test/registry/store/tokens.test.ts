import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TokenRecord } from '../../../src/registry/records.ts'
import type { Registry } from '../../../src/registry/store/registry.ts'
import { type OwnHost, startHost } from '../../support/host.ts'

let host: OwnHost
beforeAll(async () => {
  host = await startHost({}, { faults: true })
})
afterAll(() => host.close())

/** The Registry over RPC, as the routes speak to it, with what makes its KV fail. */
type Faulty = Pick<Registry, 'issueToken' | 'revokeToken' | 'tokens'> & {
  fail: (times: number) => Promise<void>
  retry: () => Promise<void>
}
let registry: Faulty
let kv: KVNamespace
beforeEach(async () => {
  const env = await host.env()
  registry = env.REGISTRY.getByName('default') as unknown as Faulty
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
/** A SHA-256, as far as anybody can tell. */
const hash = (id: string) => id.padStart(64, '0')
const stored = (id: string) => kv.getWithMetadata<{ seq: number }>(`token:${hash(id)}`)

describe('a token', () => {
  it('is published under its hash when it is issued, and said to be gone when it is revoked', async () => {
    expect(await registry.issueToken(record('one'), hash('one'))).toEqual({
      outcome: 'issued',
      seq: 1,
      published: true,
    })
    expect(await stored('one')).toMatchObject({ value: JSON.stringify(record('one')), metadata: { seq: 1 } })
    expect(await registry.revokeToken('one')).toEqual({
      outcome: 'revoked',
      seq: 2,
      hash: hash('one'),
      published: true,
    })
    expect(await stored('one')).toMatchObject({ value: '', metadata: { seq: 2 } })
    expect(await registry.tokens('', 100)).toEqual([])
  })

  it('that expires is kept by KV until then, but never for less than KV can', async () => {
    const now = Date.now()
    await registry.issueToken(record('week', now + 7 * 86_400_000), hash('week'))
    await registry.issueToken(record('soon', now + 1_000), hash('soon'))
    const { keys } = await kv.list({ prefix: 'token:' })
    const seconds = (id: string) =>
      (keys.find(({ name }) => name === `token:${hash(id)}`)?.expiration ?? 0) - Math.floor(now / 1000)
    expect(seconds('week')).toBeGreaterThanOrEqual(7 * 86_400)
    expect(seconds('week')).toBeLessThan(7 * 86_400 + 60)
    expect(seconds('soon')).toBeGreaterThanOrEqual(60)
    for (const id of ['week', 'soon']) await registry.revokeToken(id)
  })

  it('of an id that is taken is not issued, and changes nothing', async () => {
    await registry.issueToken(record('taken'), hash('taken'))
    expect(await registry.issueToken({ ...record('taken'), scopes: ['admin'] }, hash('other'))).toEqual({
      outcome: 'id-taken',
    })
    expect([await registry.tokens('', 100), (await stored('other')).value]).toEqual([[record('taken')], null])
    await registry.revokeToken('taken')
  })

  it('that nobody knows is not revoked', async () => {
    expect(await registry.revokeToken('nobody')).toEqual({ outcome: 'unknown' })
  })
})

describe('the list of tokens', () => {
  it('is read a page at a time, in the order of their ids', async () => {
    const ids = Array.from({ length: 5 }, (_, index) => `page-${index}`)
    for (const id of ids) await registry.issueToken(record(id), hash(id))
    const first = await registry.tokens('', 3)
    const second = await registry.tokens(first.at(-1)?.id ?? '', 3)
    expect([...first, ...second].map(({ id }) => id)).toEqual(ids)
    for (const id of ids) await registry.revokeToken(id)
  })
})

describe('a KV that does not take a token', () => {
  it('gets it by itself, and the answer says that it has not yet', async () => {
    await registry.fail(1)
    expect(await registry.issueToken(record('late'), hash('late'))).toMatchObject({ published: false })
    await vi.waitFor(async () => expect(await stored('late')).toMatchObject({ metadata: { seq: 1 } }), 15_000)
  })

  it('is told of its end by itself', async () => {
    await registry.fail(1)
    expect(await registry.revokeToken('late')).toMatchObject({ outcome: 'revoked', published: false })
    await vi.waitFor(
      async () => expect(await stored('late')).toMatchObject({ value: '', metadata: { seq: 2 } }),
      15_000,
    )
  })

  it('never hears of a token that was revoked before it could be published', async () => {
    await registry.fail(1)
    await registry.issueToken(record('brief'), hash('brief'))
    await registry.revokeToken('brief')
    await registry.retry()
    expect(await stored('brief')).toMatchObject({ value: '', metadata: { seq: 2 } })
  })
})
