import { beforeEach, describe, expect, it } from 'vitest'
import { addMediaTypes, createObservations, type Observations } from '../../../src/card/model/observed-calls.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { recordObservations, selectObservations } from '../../../src/registry/tables/conformance-tables.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { registration } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const DAY_MS = 86_400_000

let sql: SqlStorage
let now: number
beforeEach(() => {
  sql = openSql()
  createTables(sql)
  putAgent('1.0.0')
  now = Date.now() + 1
})

const putAgent = (version: string, more: { manifestEtag?: string } = {}): void => {
  const { summary } = registration('a', 'One')
  register(sql, registration('a', 'One', { summary: { ...summary, version }, ...more }), true)
}

/** Returns observations of calls that produced these media types. */
const observed = (at: number, calls: number, mediaTypes: string[] = []): Observations => {
  const observations = { ...createObservations(at), calls }
  addMediaTypes(observations, mediaTypes)
  return observations
}

const callsOf = (at = now): number | undefined => selectObservations(sql, 'a', at)?.calls

describe('stored observations', () => {
  it('are the sum of what all isolates observed on one day, in one row', () => {
    recordObservations(sql, 'a', observed(now, 3, ['image/png']), now)
    recordObservations(sql, 'a', observed(now + 5, 4, ['image/png']), now + 5)
    expect(selectObservations(sql, 'a', now)).toEqual({
      ...observed(now, 7),
      last: now + 5,
      mediaTypes: { 'image/png': 2 },
    })
    expect(sql.exec('SELECT COUNT(*) AS rows FROM observations').one()).toEqual({ rows: 1 })
  })

  it('are those of the last 30 days', () => {
    recordObservations(sql, 'a', observed(now, 1), now)
    recordObservations(sql, 'a', observed(now + DAY_MS, 10), now + DAY_MS)
    const counts = [0, 1, 29, 30, 31].map(days => callsOf(now + days * DAY_MS))
    expect(counts).toEqual([11, 11, 11, 10, undefined])
    // Those that are too old are deleted.
    for (const day of [0, 1, 30, 31]) recordObservations(sql, 'a', observed(now, 1), now + day * DAY_MS)
    expect(sql.exec('SELECT COUNT(*) AS rows FROM observations').one()).toEqual({ rows: 2 })
  })

  it('keep the media types of the newest days where there are too many', () => {
    const types = (prefix: string) => Array.from({ length: 40 }, (_, index) => `${prefix}/t${index}`)
    recordObservations(sql, 'a', observed(now, 1, types('audio')), now)
    recordObservations(sql, 'a', observed(now, 1, types('video')), now + DAY_MS)
    const kept = Object.keys(selectObservations(sql, 'a', now + DAY_MS)?.mediaTypes ?? {})
    expect(kept).toEqual([...types('video'), ...types('audio').slice(0, 10), 'other'])
  })

  it('are none for an agent that does not exist', () => {
    recordObservations(sql, 'nobody', observed(now, 1), now)
    expect(selectObservations(sql, 'nobody', now)).toBeNull()
    expect(sql.exec('SELECT COUNT(*) AS rows FROM observations').one()).toEqual({ rows: 0 })
  })

  it('are deleted with the agent, and start anew if it is registered again', () => {
    recordObservations(sql, 'a', observed(now, 1), now)
    remove(sql, 'a', {}, 'admin')
    expect(callsOf()).toBeUndefined()
    putAgent('1.0.0')
    expect(callsOf()).toBeUndefined()
  })

  it('start anew with another version of the agent, but not with another manifest or the same one', () => {
    recordObservations(sql, 'a', observed(now, 1), now)
    putAgent('1.0.0')
    putAgent('1.0.0', { manifestEtag: '"other"' })
    expect(callsOf()).toBe(1)
    putAgent('1.1.0')
    expect(callsOf()).toBeUndefined()
  })

  it('do not include what began before the newest revision', () => {
    const [agent] = sql.exec<{ modified: number }>('SELECT modified FROM agents').toArray()
    const modified = agent?.modified ?? 0
    recordObservations(sql, 'a', observed(modified - 1, 1), now)
    expect(callsOf()).toBeUndefined()
    recordObservations(sql, 'a', observed(modified, 1), now)
    expect(callsOf()).toBe(1)
  })
})
