import { beforeEach, describe, expect, it, vi } from 'vitest'
import { exportPage } from '../../../src/registry/move/export.ts'
import { type ImportReply, type ImportStep, runImportStep } from '../../../src/registry/move/import.ts'
import { register } from '../../../src/registry/store/registrations.ts'
import { endCheck } from '../../../src/registry/tables/conformance-tables.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { prepareDocument, receiptOf, registration } from '../../support/registrations.ts'
import { openSql, openStorage } from '../../support/storage.ts'

const digest = 'f'.repeat(64)

let storage: DurableObjectStorage
let lines: string
let afterCommit: () => void
beforeEach(async () => {
  afterCommit = () => undefined
  storage = openStorage().storage
  createTables(storage.sql)
  lines = await exportAgent('a')
})

/** Returns the lines of an export of an agent. */
const exportAgent = async (id: string): Promise<string> => {
  const source = openSql()
  createTables(source)
  register(source, await prepareDocument(minimalCard, { id, requestOrigin: 'https://host.example' }), true)
  endCheck(source, id, receiptOf(id))
  let text = ''
  for (let page = exportPage(source, undefined); ; page = exportPage(source, page.next)) {
    text += page.lines
    if (!page.next) return text
  }
}

const run = (step: ImportStep): Promise<ImportReply> =>
  runImportStep(step, {
    storage,
    publisher: {
      enqueueMissing: query => void storage.sql.exec(`INSERT INTO outbox (key, version) SELECT key, 1 FROM (${query})`),
    },
    write: async work => {
      const result = work()
      afterCommit()
      return 'error' in result ? result.error : { ...result.value, published: true }
    },
  })
const begin = async (): Promise<string> => {
  const begun = await run({ step: 'begin', withTokens: true })
  return 'session' in begun ? begun.session : ''
}
const stage = (session: string) => run({ step: 'stage', session, lines })
const commit = (session: string) => run({ step: 'commit', session, actor: 'admin', digest })
const names = (pattern: string) =>
  storage.sql.exec<{ name: string }>('SELECT name FROM sqlite_master WHERE name GLOB ?', pattern).toArray()
const agents = () => storage.sql.exec('SELECT id FROM agents').toArray()

describe('an import', () => {
  it('leaves nothing but what it brings', async () => {
    const session = await begin()
    expect(await stage(session)).toEqual({ outcome: 'staged' })
    expect(await commit(session)).toMatchObject({ outcome: 'imported', agents: 1 })
    expect([agents(), names('staged_*')]).toEqual([[{ id: 'a' }], []])
    const keys = storage.sql.exec('SELECT key FROM outbox ORDER BY key').toArray()
    expect(keys.map(({ key }) => key)).toEqual(['card:a', 'events:', 'host:*', 'index:a', 'receipt:a'])
    expect(await commit(session)).toEqual({ outcome: 'interrupted' })
  })

  it('is not reported as failed for what fails after its commit', async () => {
    const session = await begin()
    await stage(session)
    const { sql } = storage
    afterCommit = () =>
      vi.spyOn(sql, 'exec').mockImplementation(() => {
        throw new Error('database or disk is full')
      })
    expect(await commit(session)).toMatchObject({ outcome: 'imported', agents: 1 })
    vi.restoreAllMocks()
    expect([agents(), names('staged_*')]).toEqual([[{ id: 'a' }], []])
    expect(await commit(session)).toEqual({ outcome: 'interrupted' })
  })

  it('ends where another one begins, of which nothing is mixed up', async () => {
    const first = await begin()
    await stage(first)
    const second = await begin()
    expect(await stage(first)).toEqual({ outcome: 'interrupted' })
    expect(await run({ step: 'abandon', session: first })).toEqual({ outcome: 'interrupted' })
    expect(await stage(second)).toEqual({ outcome: 'staged' })
    expect(await commit(second)).toMatchObject({ outcome: 'imported', agents: 1 })
  })

  it('is refused if an agent was registered while its lines were sent, and that agent stays', async () => {
    const session = await begin()
    await stage(session)
    register(storage.sql, registration('b', 'Two'), true)
    expect(await commit(session)).toEqual({ outcome: 'not-empty' })
    expect([agents(), names('staged_*')]).toEqual([[{ id: 'b' }], []])
    expect(await run({ step: 'begin', withTokens: true })).toEqual({ outcome: 'not-empty' })
  })

  it('does not survive a restart of the object, and the next one is not disturbed by what it left', async () => {
    const session = await begin()
    await stage(session)
    storage = { ...storage }
    expect(await commit(session)).toEqual({ outcome: 'interrupted' })
    expect([agents(), names('staged_agents')]).toEqual([[], [{ name: 'staged_agents' }]])
    const next = await begin()
    await stage(next)
    expect(await commit(next)).toMatchObject({ outcome: 'imported', agents: 1 })
    expect(names('staged_*')).toEqual([])
  })
})
