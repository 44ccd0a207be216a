import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ChangesText, decodeEnvelope, type Envelope } from '../../src/registry/kv-format.ts'

import type { RefreshResult, Registration, SourceRecord } from '../../src/registry/records.ts'
import { listAgents } from '../../src/registry/store/agents.ts'
import { buildEntry } from '../../src/registry/store/kv-entries.ts'
import {
  dueSources,
  leaseSource,
  recordResult,
  releaseSource,
  sourceRecord,
  sourceState,
} from '../../src/registry/store/refresh.ts'
import { register, remove } from '../../src/registry/store/register.ts'
import { createTables } from '../../src/registry/store/schema.ts'
import { failure, fetched, registration, source } from '../support/registrations.ts'
import { openSql } from '../support/storage.ts'

const start = Date.parse('2026-11-22T00:00:00Z')
let sql: SqlStorage
beforeEach(() => {
  vi.useFakeTimers({ now: start })
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  sql = openSql()
  createTables(sql)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const seconds = (count: number) => vi.advanceTimersByTime(count * 1000)
const put = (id: string, text: string | undefined, record?: SourceRecord, more: Partial<Registration> = {}) => {
  const written = register(sql, registration(id, text, { ...more, ...(record && { source: record }) }), true)
  if ('refused' in written) throw new Error(written.refused.outcome)
  return { ...written.made, owed: written.owed }
}
const lease = (id: string, force = false) => leaseSource(sql, id, force)
/** Takes the right to refresh an agent, and tells what was learned of it; with `under`, under a right that was had. */
const check = (id: string, seq: number, checked: RefreshResult, under = takenLease(id)) => {
  const written = recordResult(sql, id, seq, checked, under)
  return 'made' in written ? written.owed : []
}
const takenLease = (id: string): string => {
  const taken = lease(id, true)
  return taken.outcome === 'leased' ? taken.lease : ''
}
const due = (limit: number) => dueSources(sql, Date.now(), limit)
const envelopeOf = (key: string): Envelope => {
  const { value } = buildEntry(sql, key)
  return decodeEnvelope((value as Uint8Array<ArrayBuffer>).slice().buffer)
}
const card = { names: ['1.0', 'agent-card.json', 'agent.json', 'profile'] }
const published = (id: string) => {
  const { seq, representations, source } = envelopeOf(`card:${id}`)
  return { seq, names: Object.keys(representations).sort(), ...(source && { source }) }
}
const changes = (): ChangesText => JSON.parse(String(buildEntry(sql, 'changes:agents').value))
const held = (text: string) => ({
  etag: `"${text}"`,
  card: JSON.stringify({ name: text }),
  validators: { etag: `"${text}"` },
  widens: [{ pointer: '/url', message: 'is at another host' }],
  drift: [],
})

describe('an agent whose card comes from elsewhere', () => {
  it('is published with how old its card may get', () => {
    put('a', 'One', fetched('One'))
    expect(published('a')).toEqual({ seq: 1, ...card, source: { checked: start, ttl: 300, staleIfError: 3600 } })
  })

  it('is there without a card, where it never came: who may read all is told so, and everybody who asks for it, where it is public', () => {
    put('open', undefined, { source, by: 'manifest', failure: failure(504) })
    put('inner', undefined, { source, by: 'manifest', failure: failure(504) }, { visibility: 'internal' })
    expect([
      published('open'),
      published('inner'),
      listAgents(sql, '', 9, false),
      listAgents(sql, '', 1, true),
    ]).toMatchObject([
      { names: ['profile'], source: { checked: 0, failing: 504 } },
      { seq: 1, names: ['profile'] },
      [],
      [{ id: 'inner' }],
    ])
    expect(published('inner')).not.toHaveProperty('source')
  })

  it('is one no more once its manifest says the card itself, nor once it is removed', () => {
    put('a', 'One', fetched('One'))
    put('a', 'Own', undefined, { manifestEtag: '"own"' })
    put('b', 'One', fetched('One'))
    remove(sql, 'b', {})
    expect([sourceState(sql, 'a'), published('a'), sourceState(sql, 'b'), published('b')]).toEqual([
      null,
      { seq: 2, ...card },
      null,
      { seq: 2, names: [] },
    ])
    expect(sql.exec('SELECT * FROM fetched').toArray()).toEqual([])
  })

  it('is not revised by what was known already, but known to be so since', () => {
    put('a', 'One', fetched('One'))
    seconds(100)
    const again = put('a', 'One', fetched('One'))
    expect([again, sourceState(sql, 'a')]).toMatchObject([
      { seq: 1, revised: false, owed: [], told: { seq: 1 } },
      { checked: start + 100_000 },
    ])
  })

  it('is revised by another fetched card, though what is served of it stays the same', () => {
    put('a', 'One', fetched('One'))
    expect(put('a', 'One', fetched('Two'))).toMatchObject({ seq: 2, revised: true })
  })
})

describe('the right to refresh', () => {
  beforeEach(() => {
    put('a', 'One', fetched('One'))
  })

  it('is nobody’s before it is time, unless it is forced', () => {
    expect(lease('a')).toEqual({ outcome: 'fresh', due: start + 315_000 })
    expect(lease('a', true)).toMatchObject({ outcome: 'leased' })
  })

  it('tells all that a refresh takes', () => {
    seconds(316)
    const { checked: _, ...record } = fetched('One')
    expect(lease('a')).toEqual({
      outcome: 'leased',
      lease: expect.any(String),
      manifest: '{}',
      manifestEtag: '"manifest"',
      origin: 'https://host.example',
      seq: 1,
      record: { ...record, checked: start },
    })
  })

  it('is one’s at a time, and another’s after 45 seconds', () => {
    const outcomes = [lease('a', true), lease('a', true)]
    seconds(45)
    outcomes.push(lease('a', true))
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['leased', 'busy', 'leased'])
  })

  it('is given back by whose it is alone', () => {
    const first = takenLease('a')
    seconds(45)
    const second = takenLease('a')
    releaseSource(sql, 'a', first)
    const busy = lease('a', true)
    releaseSource(sql, 'a', second)
    expect([busy.outcome, lease('a', true).outcome]).toEqual(['busy', 'leased'])
  })

  it('is over when something was learned', () => {
    check('a', 1, { unchanged: true })
    expect(lease('a', true).outcome).toBe('leased')
  })

  it('lets nobody tell anything who had it too long ago, while it is another’s', () => {
    const first = takenLease('a')
    seconds(45)
    const second = takenLease('a')
    const before = sourceState(sql, 'a')
    const late = { hosts: [], refreshed: { seq: 1, lease: first }, source: fetched('Late', { by: 'fetch' }) }
    expect([
      check('a', 1, { failure: failure() }, first),
      check('a', 1, { unchanged: true }, first),
      check('a', 1, { held: held('Wide') }, first),
      register(sql, registration('a', 'Late', late), false),
      sourceState(sql, 'a'),
      lease('a', true).outcome,
    ]).toEqual([[], [], [], { refused: { outcome: 'precondition-failed', exists: true } }, before, 'busy'])
    check('a', 1, { failure: failure() }, second)
    expect(sourceState(sql, 'a')).toHaveProperty('failing')
  })

  it('lets somebody tell what took too long, while it is nobody else’s', () => {
    const first = takenLease('a')
    seconds(60)
    check('a', 1, { unchanged: true }, first)
    expect(sourceState(sql, 'a')?.checked).toBe(start + 60_000)
  })

  it('is lost to who registers the agent meanwhile', () => {
    const first = takenLease('a')
    put('a', 'One', fetched('One'))
    check('a', 1, { failure: failure() }, first)
    expect(sourceState(sql, 'a')).not.toHaveProperty('failing')
  })

  it('is there for no agent without a source', () => {
    put('own', 'Own')
    expect([lease('own', true), lease('nobody', true)]).toEqual([{ outcome: 'none' }, { outcome: 'none' }])
  })
})

describe('the sources that are due', () => {
  it('are those first that were longest not read; not those that are being read', () => {
    for (const id of ['c', 'a', 'b']) {
      put(id, id, fetched(id))
      seconds(1)
    }
    seconds(320)
    expect([due(2), due(9)]).toEqual([
      ['c', 'a'],
      ['c', 'a', 'b'],
    ])
    lease('c')
    expect(due(9)).toEqual(['a', 'b'])
  })

  it('do not wait for those that want to be read more often', () => {
    put('seldom', 'One', fetched('One'))
    seconds(200)
    put('often', 'One', fetched('One', { source: { ...source, ttl: 30 } }))
    seconds(120)
    expect(due(1)).toEqual(['seldom'])
  })

  it('take turns, also those that fail', () => {
    for (const id of ['fails', 'is-well']) put(id, id, fetched(id))
    seconds(320)
    const turns = Array.from({ length: 4 }, () => {
      const [id = ''] = due(1)
      check(id, 1, id === 'fails' ? { failure: failure() } : { unchanged: true })
      seconds(320)
      return id
    })
    expect(turns).toEqual(['fails', 'is-well', 'fails', 'is-well'])
  })

  it('are found in a database that did not keep turns', () => {
    put('a', 'One', fetched('One'))
    sql.exec('ALTER TABLE sources DROP COLUMN asked')
    createTables(sql)
    seconds(320)
    expect(due(9)).toEqual(['a'])
  })

  it('are those that were due before a time: whoever is due again since has had its turn', () => {
    put('a', 'One', fetched('One', { source: { ...source, ttl: 30 } }))
    seconds(30)
    const begun = Date.now()
    seconds(30)
    expect([dueSources(sql, begun, 9), due(9)]).toEqual([[], ['a']])
  })

  it('do not have one among them for ever whose refresh is never heard of again', () => {
    put('a', 'One', fetched('One'))
    seconds(316)
    lease('a')
    seconds(46)
    expect(due(9)).toEqual([])
    seconds(20)
    expect(due(9)).toEqual(['a'])
  })

  it('are not those that are being read, however soon they are due again', () => {
    put('a', 'One', fetched('One', { source: { ...source, ttl: 30 } }))
    seconds(32)
    lease('a')
    seconds(44)
    const leased = due(9)
    seconds(20)
    expect([leased, due(9)]).toEqual([[], ['a']])
  })

  it.each([
    [30, 3600],
    [86_400, 86_400],
  ])(
    'are asked again after a failure a minute later, then each time twice as late: at %i s to live, up to %i s',
    (ttl, most) => {
      put('a', 'One', fetched('One', { source: { ...source, ttl } }))
      const waits = Array.from({ length: 13 }, () => {
        check('a', 1, { failure: failure() })
        return ((sourceState(sql, 'a')?.due ?? 0) - Date.now()) / 1050
      })
      expect(waits).toEqual(waits.map((_, index) => Math.min(60 * 2 ** index, most)))
      check('a', 1, { unchanged: true })
      expect(((sourceState(sql, 'a')?.due ?? 0) - Date.now()) / 1050).toBe(ttl)
    },
  )

  it('are asked a little later than said, each by another little', () => {
    const dues = [0, 0.999].map(chance => {
      vi.mocked(Math.random).mockReturnValue(chance)
      put('a', 'One', fetched('One'))
      return ((sourceState(sql, 'a')?.due ?? 0) - start) / 1000
    })
    expect(dues).toEqual([300, 329.97])
  })
})

describe('what a refresh has learned', () => {
  const keys = ['card:a', 'extended:a:base', 'changes:agents']
  beforeEach(() => {
    put('a', 'One', fetched('One'), { extended: [{ tier: 'base', representations: {} as never }] })
    sql.exec(`INSERT INTO extended (id, tier, etag, names, body) VALUES ('a', 'base', 'e', '["1.0"]', 'x')`)
    seconds(400)
  })

  it('is no news to the edge while the source is well', () => {
    expect(check('a', 1, { unchanged: true })).toEqual([])
    expect(sourceState(sql, 'a')).toMatchObject({ checked: start + 400_000, due: start + 715_000, told: { seq: 1 } })
  })

  it('is news when a source begins to fail, in another way, and when it is well again: each under a number of its own', () => {
    const owed = [failure(502), failure(502), failure(504)].map(failure => check('a', 1, { failure }))
    const failing = published('a')
    seconds(100)
    owed.push(check('a', 1, { unchanged: true }))
    expect(owed).toEqual([keys, [], keys, keys])
    expect([failing, published('a'), envelopeOf('extended:a:base'), changes().seqs]).toMatchObject([
      { seq: 3, source: { checked: start, failing: 504 } },
      { seq: 4, source: { checked: start + 500_000 } },
      { seq: 4, source: { checked: start + 500_000 } },
      [['a', 4]],
    ])
    expect(published('a').source).not.toHaveProperty('failing')
  })

  it('tells its owner since when it has failed, and how', () => {
    check('a', 1, { failure: failure(502) })
    seconds(60)
    check('a', 1, { failure: { ...failure(503), code: 'not-ready' } })
    expect(sourceState(sql, 'a')).toMatchObject({
      checked: start,
      failing: { status: 503, code: 'not-ready', since: start + 400_000 },
    })
  })

  it('counts on when the same source is registered again, and anew with another', () => {
    check('a', 1, { failure: failure() })
    seconds(60)
    const since = [source, { ...source, url: 'https://other.example/card' }].map(source => {
      put('a', 'One', fetched('One', { source, checked: start, failure: failure() }))
      const { due = 0, failing } = sourceState(sql, 'a') ?? {}
      return [failing?.since, (due - Date.now()) / 1050]
    })
    expect(since).toEqual([
      [start + 400_000, 120],
      [start + 460_000, 60],
    ])
  })

  it('of a revision that is not the newest any more changes nothing', () => {
    put('a', 'Two', fetched('Two'))
    const before = sourceState(sql, 'a')
    expect([check('a', 1, { failure: failure() }), check('a', 1, { held: held('Three') })]).toEqual([[], []])
    expect(sourceState(sql, 'a')).toEqual(before)
    remove(sql, 'a', {})
    expect(check('a', 2, { failure: failure() })).toEqual([])
  })

  it('takes a number that no revision takes again', () => {
    check('a', 1, { failure: failure() })
    expect(put('a', 'Two', fetched('Two'))).toMatchObject({ seq: 3, told: { seq: 3 } })
    check('a', 3, { failure: failure() })
    expect('made' in remove(sql, 'a', {}) && published('a')).toEqual({ seq: 5, names: [] })
    expect(put('a', 'Own')).toMatchObject({ seq: 6 })
  })

  it('is told with the next registration too, where that is no revision', () => {
    check('a', 1, { failure: failure() })
    const extended = registration('a', 'One').extended
    sql.exec('DELETE FROM extended')
    expect(put('a', 'One', fetched('One'), { extended })).toMatchObject({
      ...{ seq: 1, revised: false, told: { seq: 3, health: { checked: start + 400_000 } } },
      owed: ['card:a', 'changes:agents'],
    })
  })

  it('keeps by what the source is asked the next time', () => {
    check('a', 1, { unchanged: true, validators: { lastModified: 'then' } })
    expect(sourceRecord(sql, 'a')).toMatchObject({
      card: '{"name":"One"}',
      validators: { lastModified: 'then' },
      checked: start + 400_000,
    })
  })
})

describe('a card that is held back', () => {
  beforeEach(() => {
    put('a', 'One', fetched('One'))
  })
  const isHeld = () => sourceState(sql, 'a')?.held?.etag

  it('is kept beside the one that is served, and told without its text', () => {
    check('a', 1, { held: held('Wide') })
    const { card: _, ...told } = held('Wide')
    expect([sourceState(sql, 'a')?.held, lease('a', true), published('a').seq]).toMatchObject([
      told,
      { record: { card: '{"name":"One"}', held: held('Wide') } },
      1,
    ])
  })

  it('is the newest of those that the source has answered', () => {
    check('a', 1, { held: held('Wide') })
    check('a', 1, { held: held('Wider') })
    expect(isHeld()).toBe('"Wider"')
  })

  it('waits while its source fails, and no longer than it is the source’s', () => {
    check('a', 1, { held: held('Wide') })
    check('a', 1, { failure: failure() })
    const meanwhile = isHeld()
    check('a', 1, { unchanged: true })
    expect([meanwhile, isHeld()]).toEqual(['"Wide"', undefined])
  })

  it('is kept of a registration too', () => {
    put('a', 'One', fetched('One', { held: held('Wide') }))
    expect(sourceRecord(sql, 'a')?.held).toEqual(held('Wide'))
  })

  it('waits no longer once it is taken', () => {
    check('a', 1, { held: held('Wide') })
    put('a', 'Wide', fetched('Wide', { by: 'fetch' }), { refreshed: { seq: 1, lease: takenLease('a') } })
    expect([isHeld(), sourceRecord(sql, 'a')?.card]).toEqual([undefined, '{"name":"Wide"}'])
  })
})

describe('a card that was read anew', () => {
  const refreshed = (text: string, seq: number, more: Partial<SourceRecord> = {}) => {
    const lease = takenLease('a')
    const written = register(
      sql,
      registration('a', text, {
        hosts: ['a.example'],
        refreshed: { seq, lease },
        source: fetched(text, { by: 'fetch', ...more }),
      }),
      false,
    )
    releaseSource(sql, 'a', lease)
    return written
  }

  it('is a revision of its agent, if nobody has made another', () => {
    put('a', 'One', fetched('One'))
    put('a', 'Two', fetched('Two'))
    const late = refreshed('Three', 1)
    const made = refreshed('Three', 2)
    remove(sql, 'a', {})
    expect([late, made, refreshed('Four', 3)]).toMatchObject([
      { refused: { outcome: 'precondition-failed', exists: true } },
      { made: { seq: 3 } },
      { refused: { outcome: 'precondition-failed', exists: false } },
    ])
  })

  it('claims no host name, not even the root, and gives none up', () => {
    put('first', 'First')
    put('a', 'One', fetched('One'), { hosts: ['a.example'] })
    remove(sql, 'first', {})
    expect(refreshed('Two', 1)).toMatchObject({ made: { hosts: ['a.example'], changed: [], becameRoot: false } })
  })

  it('heals an agent that had none', () => {
    put('a', undefined, { source, by: 'manifest', failure: failure() })
    refreshed('One', 1)
    expect(published('a')).toEqual({ seq: 2, ...card, source: { checked: start, ttl: 300, staleIfError: 3600 } })
  })
})
