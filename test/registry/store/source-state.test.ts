import { beforeEach, describe, expect, it, vi } from 'vitest'
import { decodeEnvelope, type Envelope } from '../../../src/registry/kv-format.ts'
import type { Expected, Registration } from '../../../src/registry/prepare.ts'
import type { RefreshWithoutCard, SourceRecord } from '../../../src/registry/source-record.ts'
import { buildEntry, publishKey } from '../../../src/registry/store/publisher.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { recordRefresh, refreshBase, sourceRecord, sourceState } from '../../../src/registry/store/source-state.ts'
import { selectAgents } from '../../../src/registry/tables/agent-table.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { cardNamed, failure, fetched, registration, source } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const start = Date.parse('2026-11-22T00:00:00Z')
let sql: SqlStorage
beforeEach(() => {
  vi.useFakeTimers({ now: start })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  sql = openSql()
  createTables(sql)
})

const advanceSeconds = (count: number) => vi.advanceTimersByTime(count * 1000)
const put = (id: string, text: string | undefined, record?: SourceRecord, more: Partial<Registration> = {}) => {
  const written = register(sql, registration(id, text, { ...more, ...(record && { source: record }) }), true)
  if ('error' in written) throw new Error(written.error.outcome)
  return { ...written.value, staleKeys: written.staleKeys }
}
/** Returns the revision and the check time that a refresh which begins now expects to find. */
const currentState = (id: string) => {
  const { seq = 0, checked = null } = sourceState(sql, id) ?? {}
  return { seq, checked }
}
/** Returns in how many seconds the card is due, without the random delay of a twentieth. */
const dueIn = () => ((sourceState(sql, 'a')?.due ?? 0) - Date.now()) / 1050
/** Records the result of a refresh, by default of one that begins now. Returns the stale keys, or why it is rejected. */
const record = (id: string, result: RefreshWithoutCard, from: Expected = currentState(id)) => {
  const written = recordRefresh(sql, id, from, result)
  return 'value' in written ? written.staleKeys : written.error.outcome
}
const envelopeOf = (key: string): Envelope => {
  const { value } = buildEntry(sql, key)
  return decodeEnvelope((value as Uint8Array<ArrayBuffer>).slice().buffer)
}
const publish = (key: string, env: object) => publishKey({ sql } as DurableObjectStorage, key, env as Env)
/** What is published of a public agent with a card. */
const card = { names: ['1.0', 'agent-card.json', 'agent.json', 'profile'] }
const readCardEntry = (id: string) => {
  const { seq, representations, source } = envelopeOf(`card:${id}`)
  return { seq, names: Object.keys(representations).sort(), ...(source && { source }) }
}
const pendingCard = (text: string) => ({
  etag: `"${text}"`,
  card: JSON.stringify({ name: text }),
  validators: { etag: `"${text}"` },
  widens: [{ pointer: '/url', message: 'is at another host' }],
  drift: [],
})

describe('an agent with a remote card', () => {
  it('is registered before its card is fetched: listed with internal agents only, and published with its failure if public', () => {
    put('open', undefined, { source, by: 'manifest', failure: failure(504) })
    put('inner', undefined, { source, by: 'manifest', failure: failure(504) }, { visibility: 'internal' })
    expect(readCardEntry('open')).toMatchObject({ names: ['profile'], source: { checked: 0, failing: 504 } })
    expect(readCardEntry('inner')).toEqual({ seq: 1, names: ['profile'] })
    expect(selectAgents(sql, { after: '', limit: 9, covered: [] })).toEqual([])
    expect(selectAgents(sql, { after: '', limit: 1, covered: ['*'] })).toMatchObject([{ id: 'inner' }])
  })

  it('loses its source when its manifest contains the card, and when it is removed', () => {
    put('a', 'One', fetched('One'))
    put('a', 'Own', undefined, { manifestEtag: '"own"' })
    put('b', 'One', fetched('One'))
    remove(sql, 'b', {}, 'admin')
    expect([sourceState(sql, 'a'), sourceState(sql, 'b')]).toEqual([null, null])
    expect([readCardEntry('a'), readCardEntry('b')]).toEqual([
      { seq: 2, ...card },
      { seq: 2, names: [] },
    ])
    expect(sql.exec('SELECT * FROM fetched').toArray()).toEqual([])
  })

  it('gets a new check time but no new revision from an unchanged card', () => {
    put('a', 'One', fetched('One'))
    advanceSeconds(100)
    const unrevised = { seq: 1, revised: false, staleKeys: ['refresh:a'], publishedSeq: 1 }
    expect(put('a', 'One', fetched('One'))).toMatchObject(unrevised)
    expect(sourceState(sql, 'a')).toMatchObject({ checked: start + 100_000 })
  })

  it('gets a new revision from another fetched card, even when the served documents stay the same', () => {
    put('a', 'One', fetched('One', { pending: pendingCard('Wide') }))
    expect(sourceRecord(sql, 'a')?.pending).toEqual(pendingCard('Wide'))
    expect(put('a', 'One', fetched('Two'))).toMatchObject({ seq: 2, revised: true })
  })
})

it('refreshBase returns the manifest, the newest revision and the stored source', () => {
  put('a', 'One', fetched('One'))
  const { checked: _, ...record } = fetched('One')
  expect(refreshBase(sql, 'a')).toEqual({
    ...{ manifest: '{}', origin: 'https://host.example', seq: 1, due: start + 315_000 },
    record: { ...record, checked: start },
  })
  // An agent without a source, and an unknown one.
  put('own', 'Own')
  expect([refreshBase(sql, 'own'), refreshBase(sql, 'nobody')]).toEqual([null, null])
})

describe('the key refresh:{id}', () => {
  it('becomes stale when an agent with a remote card is registered, gets a card of its own or is removed', () => {
    const keys = [put('a', 'One', fetched('One')).staleKeys]
    keys.push(put('a', 'One', fetched('One')).staleKeys)
    keys.push(put('a', 'Own', undefined, { manifestEtag: '"own"' }).staleKeys)
    keys.push(put('a', 'One', fetched('One')).staleKeys)
    const removed = remove(sql, 'a', {}, 'admin')
    keys.push('value' in removed ? removed.staleKeys : [])
    expect(keys.map(each => each.includes('refresh:a'))).toEqual([true, true, true, true, true])
  })

  it('stays fresh for agents without a remote card, and when a refresh registers the card', () => {
    const own = put('own', 'Own').staleKeys
    const removed = remove(sql, 'own', {}, 'admin')
    put('a', 'One', fetched('One'))
    const refreshed = put('a', 'Two', fetched('Two', { by: 'fetch' })).staleKeys
    expect([own, 'value' in removed && removed.staleKeys, refreshed]).toEqual([
      ['events:', 'card:own', 'host:*'],
      ['events:', 'card:own', 'host:*', 'task-owners:own'],
      ['events:', 'card:a'],
    ])
  })

  it('is published to the Durable Object as the time when the card is due, or null', async () => {
    const schedule = vi.fn(async () => undefined)
    const getByName = vi.fn(() => ({ schedule }))
    put('a', 'One', fetched('One'))
    await publish('refresh:a', { REMOTE_CARDS: { getByName } })
    remove(sql, 'a', {}, 'admin')
    await publish('refresh:a', { REMOTE_CARDS: { getByName } })
    expect(getByName.mock.calls).toEqual([['a'], ['a']])
    expect(schedule.mock.calls.map(call => call.join())).toEqual([`a,${start + 315_000}`, 'a,'])
  })
})

describe('the next refresh', () => {
  it('is due a minute after a failure, then after twice as long each time, up to an hour or the ttl', () => {
    const untilAnHour = [60, 120, 240, 480, 960, 1920]
    for (const [ttl, waits] of [
      [30, [...untilAnHour, 3600, 3600, 3600]],
      [86_400, [...untilAnHour, 3840, 7680, 15_360, 30_720, 61_440, 86_400, 86_400]],
    ] as const) {
      put('a', 'One', fetched('One', { source: { ...source, ttl } }))
      for (const wait of waits) {
        record('a', { failure: failure() })
        expect([ttl, dueIn()]).toEqual([ttl, wait])
      }
      record('a', { unchanged: true })
      expect(dueIn()).toBe(ttl)
    }
  })

  it('is delayed by up to a tenth at random', () => {
    const dues = [0, 0.999].map(chance => {
      vi.mocked(Math.random).mockReturnValue(chance)
      put('a', 'One', fetched('One'))
      return ((sourceState(sql, 'a')?.due ?? 0) - start) / 1000
    })
    expect(dues).toEqual([300, 329.97])
  })
})

describe('recordRefresh', () => {
  const keys = ['card:a', 'extended:a:base']
  beforeEach(() => {
    put('a', 'One', fetched('One'), { cards: [cardNamed('One'), cardNamed('Extended', 'base')] })
    advanceSeconds(400)
  })

  it('publishes under a new seq when a source begins to fail, fails in another way, or recovers', () => {
    expect(record('a', { unchanged: true })).toEqual([])
    const staleKeys = [failure(502), failure(502), failure(504)].map(failure => record('a', { failure }))
    const failing = readCardEntry('a')
    advanceSeconds(100)
    staleKeys.push(record('a', { unchanged: true }))
    expect(staleKeys).toEqual([keys, [], keys, keys])
    expect([failing, readCardEntry('a'), envelopeOf('extended:a:base')]).toMatchObject([
      { seq: 3, source: { checked: start + 400_000, failing: 504 } },
      { seq: 4, source: { checked: start + 500_000 } },
      { seq: 4, source: { checked: start + 500_000 } },
    ])
    expect(readCardEntry('a').source).not.toHaveProperty('failing')
  })

  it('stores since when the source has failed, and the last failure', () => {
    record('a', { failure: failure(502) })
    advanceSeconds(60)
    record('a', { failure: { ...failure(503), code: 'not-ready' } })
    expect(sourceState(sql, 'a')).toMatchObject({
      checked: start,
      failing: { status: 503, code: 'not-ready', since: start + 400_000 },
    })
  })

  it('continues the count of failures when the same source is registered again, and restarts it with another source', () => {
    record('a', { failure: failure() })
    advanceSeconds(60)
    for (const [url, since, due] of [
      [source.url, start + 400_000, 120],
      ['https://other.example/card', start + 460_000, 60],
    ] as const) {
      put('a', 'One', fetched('One', { source: { ...source, url }, checked: start, failure: failure() }))
      expect([url, sourceState(sql, 'a')?.failing?.since, dueIn()]).toEqual([url, since, due])
    }
  })

  it('changes nothing when the agent or its card has changed since the refresh began', () => {
    const began = currentState('a')
    put('a', 'Two', fetched('Two'))
    const results = [{ failure: failure() }, { unchanged: true as const }, { pending: pendingCard('Three') }]
    expect(results.map(result => record('a', result, began))).toEqual(['conflict', 'conflict', 'conflict'])
    const begunLater = currentState('a')
    advanceSeconds(1)
    put('a', 'Two', fetched('Two'))
    const before = sourceState(sql, 'a')
    expect(record('a', { failure: failure() }, begunLater)).toBe('conflict')
    expect(sourceState(sql, 'a')).toEqual(before)
    remove(sql, 'a', {}, 'admin')
    expect(record('a', { failure: failure() }, began)).toBe('conflict')
  })

  it('uses a seq that no later revision uses', () => {
    record('a', { failure: failure() })
    expect(put('a', 'Two', fetched('Two'))).toMatchObject({ seq: 3, publishedSeq: 3 })
    record('a', { failure: failure() })
    expect('value' in remove(sql, 'a', {}, 'admin') && readCardEntry('a')).toEqual({ seq: 5, names: [] })
    expect(put('a', 'Own')).toMatchObject({ seq: 6 })
  })

  it('is published with the next registration too when that makes no revision', () => {
    record('a', { failure: failure() })
    sql.exec("DELETE FROM documents WHERE tier = 'base'")
    expect(put('a', 'One', fetched('One'))).toMatchObject({
      ...{ seq: 1, revised: false, publishedSeq: 3, health: { checked: start + 400_000 } },
      staleKeys: ['card:a', 'refresh:a'],
    })
  })

  it('stores the validators for the next request', () => {
    record('a', { unchanged: true, validators: { lastModified: 'then' } })
    expect(sourceRecord(sql, 'a')).toMatchObject({
      card: '{"name":"One"}',
      validators: { lastModified: 'then' },
      checked: start + 400_000,
    })
  })
})

describe('what signatures have shown', () => {
  const key = { kid: 'k', thumbprint: 't', from: 'manifest' }
  const verified = { at: start, verified: true, rule: 'wire', key } as const
  const unverified = { at: start, verified: false, reason: 'it has no signatures' } as const
  const verifying = { ...source, verification: { policy: 'require', keys: 'first-use' } } as const

  it('is stored with the card, with the next confirmation of it, and with a pending card', () => {
    put('a', 'One', { ...fetched('One'), source: verifying, verification: verified })
    expect(sourceState(sql, 'a')).toMatchObject({ verify: 'require', verification: verified })
    record('a', { unchanged: true, verification: { ...verified, at: start + 1 } })
    record('a', { pending: { ...pendingCard('Two'), verification: unverified } })
    expect(sourceRecord(sql, 'a')).toMatchObject({
      verification: { ...verified, at: start + 1 },
      pending: { ...pendingCard('Two'), verification: unverified },
    })
  })

  it('is not shown for a card that is not verified any more', () => {
    put('a', 'One', { ...fetched('One'), source: verifying, verification: verified })
    put('a', 'One', fetched('One'))
    expect(sourceState(sql, 'a')).not.toHaveProperty('verification')
    expect(sourceRecord(sql, 'a')).not.toHaveProperty('verification')
  })
})

describe('a pending card', () => {
  beforeEach(() => {
    put('a', 'One', fetched('One'))
  })
  const pendingEtag = () => sourceState(sql, 'a')?.pending?.etag

  it('is stored next to the served card, and reported without its text', () => {
    record('a', { pending: pendingCard('Wide') })
    const { card: _, ...review } = pendingCard('Wide')
    expect([sourceState(sql, 'a')?.pending, refreshBase(sql, 'a'), readCardEntry('a').seq]).toMatchObject([
      review,
      { record: { card: '{"name":"One"}', pending: pendingCard('Wide') } },
      1,
    ])
  })

  it('is replaced by a newer one, and stays pending while its source fails, until it returns the served card', () => {
    const etags = [{ pending: pendingCard('Wide') }, { pending: pendingCard('Wider') }, { failure: failure() }].map(
      result => {
        record('a', result)
        return pendingEtag()
      },
    )
    expect(etags).toEqual(['"Wide"', '"Wider"', '"Wider"'])
    record('a', { unchanged: true })
    expect(pendingEtag()).toBeUndefined()
  })

  it('is no longer pending once it is registered', () => {
    record('a', { pending: pendingCard('Wide') })
    put('a', 'Wide', fetched('Wide', { by: 'fetch' }), { expected: currentState('a') })
    expect([pendingEtag(), sourceRecord(sql, 'a')?.card]).toEqual([undefined, '{"name":"Wide"}'])
  })
})

describe('the registration of a refreshed card', () => {
  const refreshed = (text: string, expected: Expected = currentState('a')) => {
    const fetchedCard = { hosts: ['a.example'], expected, source: fetched(text, { by: 'fetch' }) }
    return register(sql, registration('a', text, fetchedCard), false)
  }

  it('makes a revision unless another has been made since the refresh began', () => {
    put('a', 'One', fetched('One'))
    const began = currentState('a')
    put('a', 'Two', fetched('Two'))
    expect(refreshed('Three', began)).toEqual({ error: { outcome: 'conflict' } })
    expect(refreshed('Three')).toMatchObject({ value: { seq: 3 } })
    const last = currentState('a')
    remove(sql, 'a', {}, 'admin')
    expect(refreshed('Four', last)).toEqual({ error: { outcome: 'conflict' } })
  })

  it('claims no host name, not even the root, and releases none', () => {
    put('first', 'First')
    put('a', 'One', fetched('One'), { hosts: ['a.example'] })
    remove(sql, 'first', {}, 'admin')
    expect(refreshed('Two')).toMatchObject({ value: { hosts: ['a.example'], changed: [], becameRoot: false } })
  })

  it('publishes the first card of an agent without one', () => {
    put('a', undefined, { source, by: 'manifest', failure: failure() })
    refreshed('One')
    expect(readCardEntry('a')).toEqual({ seq: 2, ...card, source: { checked: start, ttl: 300, staleIfError: 3600 } })
  })
})
