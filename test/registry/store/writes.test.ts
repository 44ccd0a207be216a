import fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Registration } from '../../../src/registry/prepare.ts'
import { noSearchFields } from '../../../src/registry/search-terms.ts'
import { buildEntry } from '../../../src/registry/store/publisher.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { resign } from '../../../src/registry/store/resign.ts'
import { recordRefresh } from '../../../src/registry/store/source-state.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { failure, fetched, prepareDocument, registration } from '../../support/registrations.ts'
import { makeSigningKey } from '../../support/signing-key.ts'
import { openStorage } from '../../support/storage.ts'

let storage: DurableObjectStorage
let sql: SqlStorage
/** The statements since the last call of `take`. */
let statements: string[]
/** Opens an empty storage whose statements are recorded. */
const open = () => {
  storage = openStorage().storage
  sql = storage.sql
  createTables(sql)
  const exec = sql.exec.bind(sql)
  statements = []
  vi.spyOn(sql, 'exec').mockImplementation((query: string, ...values: SqlStorageValue[]) => {
    statements.push(query.replace(/\s+/g, ' ').trim())
    return exec(query, ...values) as never
  })
}
beforeEach(open)
/** Returns the statements of a piece of work, and those of them that write. */
const statementsOf = (work: () => unknown) => {
  statements = []
  work()
  return { all: statements, writes: statements.filter(statement => !statement.startsWith('SELECT')) }
}
/** Returns the tables that a piece of work writes, each once. */
const tablesOf = (work: () => unknown): string[] =>
  [...new Set(statementsOf(work).writes.map(each => /(?:INTO|UPDATE|FROM) (\w+)/.exec(each)?.[1] ?? each))].sort()

const put = (text: string, more: Partial<Registration> = {}) => register(sql, registration('a', text, more), true)

describe('a registration', () => {
  it('takes a fixed number of statements', () => {
    const count = (work: () => unknown) => {
      const { all, writes } = statementsOf(work)
      return [all.length, writes.length]
    }
    expect({
      'of a new agent': count(() => put('one')),
      'of a new revision': count(() => put('two')),
      'that changes nothing': count(() => put('two')),
    }).toEqual({ 'of a new agent': [19, 10], 'of a new revision': [16, 9], 'that changes nothing': [7, 0] })
  })

  it('that changes nothing writes nothing', () => {
    put('one')
    expect(statementsOf(() => put('one')).writes).toEqual([])
  })

  it('updates only the columns of the agent that changed', () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_700_000_000_000 })
    put('one')
    const columns = (work: () => unknown) =>
      statementsOf(work)
        .writes.filter(each => each.startsWith('UPDATE agents'))
        .map(each => [...each.matchAll(/(\w+) = \?/g)].map(([, column]) => column).slice(0, -1))
    const { summary, profile } = registration('a', 'one')
    expect(columns(() => put('two', { summary, profile }))).toEqual([['seq', 'published', 'modified']])
    expect(columns(() => put('three', { summary, profile, set: 'tools' }))).toEqual([
      ['seq', 'published', 'set_name', 'modified'],
    ])
  })

  it('writes the search index where words, terms, the set or the readers change, and no other index', () => {
    const { summary } = registration('a', 'one')
    put('one', { summary })
    const written = (text: string, more: Partial<Registration> = {}) =>
      tablesOf(() => put(text, { summary, ...more })).filter(name => ['search', 'internal_search'].includes(name))
    const rows = () => sql.exec('SELECT terms FROM search_documents').toArray().length
    expect(written('another card with the same words')).toEqual([])
    expect(written('another description', { summary: { ...summary, description: 'New' } })).toEqual(['search'])
    expect(written('the words of before')).toEqual(['search'])
    expect(written('another text', { search: { ...noSearchFields, text: 'more' } })).toEqual(['search'])
    expect(written('another tag', { search: { ...noSearchFields, tags: ['tag'] } })).toEqual(['search'])
    expect(written('in a set', { set: 'tools' })).toEqual(['search'])
    expect(written('the same set, another card', { set: 'tools' })).toEqual([])
    expect(written('internal', { set: 'tools', visibility: 'internal' })).toEqual(['internal_search', 'search'])
    expect(rows()).toBe(1)
  })
})

describe('the number of a publication', () => {
  const id = 'a'
  const [one, two] = [makeSigningKey(), makeSigningKey()].map(key => JSON.stringify(key))
  const envWith = (key: string | undefined) => ({ PUBLIC_URL: 'https://host.example', SIGNING_KEY: key }) as Env
  const publication = () => buildEntry(sql, `card:${id}`).metadata.seq
  let prepared: Registration[]
  beforeEach(async () => {
    prepared = await Promise.all(
      ['1.0.0', '2.0.0'].map(async version => {
        const context = { id, requestOrigin: 'https://host.example' }
        return { ...(await prepareDocument({ ...minimalCard, version }, context)), hosts: [] }
      }),
    )
  })

  type Step = 'register' | 'register another' | 'fail' | 'recover' | 'sign' | 'sign with another key' | 'remove'
  const run = async (step: Step): Promise<unknown> => {
    const [first, second] = prepared.map(each => ({ ...each, source: fetched('card', { by: 'manifest' }) }))
    if (step === 'register') return register(sql, first as Registration, true)
    if (step === 'register another') return register(sql, second as Registration, true)
    if (step === 'fail') return recordRefresh(sql, id, {}, { failure: failure() })
    if (step === 'recover') return recordRefresh(sql, id, {}, { unchanged: true } as never)
    if (step === 'remove') return remove(sql, id, {}, 'admin')
    return resign(storage, id, envWith(step === 'sign' ? one : two))
  }

  it('is never used twice, whatever revisions, failures, signatures and removals an agent has', async () => {
    const steps: Step[] = [
      ...(['register', 'register another', 'fail', 'recover', 'sign', 'sign with another key', 'remove'] as const),
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...steps), { minLength: 4, maxLength: 12 }), async sequence => {
        open()
        const entries = new Map<number, string>()
        let last = 0
        for (const step of sequence) {
          await run(step)
          const { value, metadata } = buildEntry(sql, `card:${id}`)
          // When a card was last confirmed is not published each time.
          const entry = Buffer.from(value)
            .toString('latin1')
            .replace(/"checked":\d+/, '')
          expect([step, entry]).toEqual([step, entries.get(metadata.seq) ?? entry])
          expect(metadata.seq).toBeGreaterThanOrEqual(last)
          entries.set(metadata.seq, entry)
          last = metadata.seq
        }
      }),
      { numRuns: 40 },
    )
  })

  it('counts each new health and each new signature, and the next revision and the removal follow', async () => {
    const numbers: number[] = []
    for (const step of ['register', 'fail', 'fail', 'recover', 'sign', 'sign', 'register another', 'remove'] as const) {
      await run(step)
      numbers.push(publication())
    }
    expect(numbers).toEqual([1, 2, 2, 3, 4, 4, 5, 6])
  })
})
