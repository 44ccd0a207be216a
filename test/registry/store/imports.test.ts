import { beforeEach, describe, expect, it } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { exportPage } from '../../../src/registry/move/export.ts'
import { prepareRegistration } from '../../../src/registry/prepare.ts'
import { type ImportReply, type ImportStep, runImportStep } from '../../../src/registry/store/imports.ts'
import { register } from '../../../src/registry/store/register.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { registration, withoutKeys } from '../../support/registrations.ts'
import { openSql, openStorage } from '../../support/storage.ts'

const digest = 'f'.repeat(64)

let storage: DurableObjectStorage
let lines: string
beforeEach(async () => {
  storage = openStorage().storage
  createTables(storage.sql)
  const source = openSql()
  createTables(source)
  const result = compile(minimalCard, { id: 'a', requestOrigin: 'https://host.example' })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  const terms = { actor: 'admin', expected: {} }
  register(
    source,
    await prepareRegistration({ id: 'a', document: minimalCard, ...result, signing: withoutKeys }, terms),
    true,
  )
  lines = ''
  for (let page = exportPage(source, undefined); ; page = exportPage(source, page.next)) {
    lines += page.lines
    if (!page.next) break
  }
})

const run = (step: ImportStep): Promise<ImportReply> =>
  runImportStep(step, storage, async work => {
    const result = work()
    return 'error' in result ? result.error : { ...result.value, published: true }
  })
const begin = async (): Promise<string> => {
  const begun = await run({ step: 'begin' })
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
    expect(await run({ step: 'begin' })).toEqual({ outcome: 'not-empty' })
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
