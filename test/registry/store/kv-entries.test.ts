import { beforeAll, expect, it } from 'vitest'
import { representationNames } from '../../../src/card/model/constants.ts'
import { strongEtag } from '../../../src/http/conditional.ts'
import { decodeEnvelope } from '../../../src/registry/kv-format.ts'
import { buildEntry } from '../../../src/registry/store/publisher.ts'
import { senderTo } from '../../support/called-host.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { type NodeHost, startNodeHost } from '../../support/node-host.ts'
import { token } from '../../support/runtime.ts'

let host: NodeHost
beforeAll(async () => {
  host = await startNodeHost()
})
const put = (id: string, document: object = {}) => host.put(id, { card: minimalCard, ...document })
/** Reads what was published under a key, and how long KV has it. */
const readEntry = async (key: string) => {
  const { value, metadata } = await host.env.CARDS.getWithMetadata<{ seq: number }>(key)
  const { seconds } = buildEntry(host.storage.sql, key)
  const { representations } = decodeEnvelope((value as unknown as Uint8Array<ArrayBuffer>).slice().buffer)
  const texts = Object.values(representations).map(({ bytes }) => new TextDecoder().decode(bytes))
  return { representations, texts, names: Object.keys(representations).sort(), seq: metadata?.seq, seconds }
}
const MONTH_SECONDS = 30 * 86_400

it('the entry of an internal agent has only its profile, and does not expire', async () => {
  await put('kv-inner')
  await put('kv-inner', { visibility: 'internal' })
  expect(await readEntry('card:kv-inner')).toMatchObject({ names: ['profile'], seq: 2, seconds: undefined })
})

it('the call profile can be neither requested by a client nor named in a precondition', async () => {
  const { etags } = await put('kv-private', { upstream: { secret: 'UPSTREAM_KEY' } })
  expect(etags).not.toHaveProperty('profile')
  const send = senderTo(host)
  for (const path of ['?dialect=profile', '?A2A-Version=profile', '/profile', '/.well-known/profile']) {
    const { text } = await send(`/agents/kv-private${path}`, { method: 'GET', token })
    expect(text).not.toContain('UPSTREAM_KEY')
  }
  const { representations } = await readEntry('card:kv-private')
  const headers = { 'If-Match': await strongEtag(representations.profile?.bytes ?? new Uint8Array()) }
  const { status } = await send('/agents/kv-private', { method: 'PUT', token, headers, body: minimalCard })
  expect([headers['If-Match'].length, status]).toEqual([66, 412])
})

it('the entry of a removed tier or agent is empty and expires; those of other tiers have the new seq', async () => {
  const extended = { description: 'for-tokens' }
  const documents = [...representationNames].sort()
  await put('kv-fewer', { extended, tiers: { silver: { description: 'for-silver' }, gold: {} } })
  const { texts, names } = await readEntry('extended:kv-fewer:silver')
  expect([names, texts.filter(text => !text.includes('for-silver'))]).toEqual([documents, []])
  await put('kv-fewer', { extended, tiers: { gold: {} } })
  expect(await readEntry('extended:kv-fewer:silver')).toMatchObject({ names: [], seq: 2, seconds: MONTH_SECONDS })
  expect(await readEntry('extended:kv-fewer:gold')).toMatchObject({ names: documents, seq: 2 })
  await host.registry.remove('kv-fewer', {}, 'admin')
  for (const key of ['extended:kv-fewer:base', 'extended:kv-fewer:gold', 'card:kv-fewer'])
    expect(await readEntry(key), key).toMatchObject({ names: [], seq: 3, seconds: MONTH_SECONDS })
})
