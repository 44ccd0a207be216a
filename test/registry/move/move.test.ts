import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { compile } from '../../../src/card/compile/index.ts'
import { createObservations } from '../../../src/card/model/observations.ts'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { type AuditEntry, sealEntry } from '../../../src/registry/audit/chain.ts'
import { recordRefusal, selectEntries } from '../../../src/registry/audit/log.ts'
import { type ExportCursor, exportPage } from '../../../src/registry/move/export.ts'
import { EXPORTED, type ExportedTable } from '../../../src/registry/move/format.ts'
import { type ImportRejection, Staging } from '../../../src/registry/move/import.ts'
import { prepareRegistration } from '../../../src/registry/prepare.ts'
import type { Registration } from '../../../src/registry/records.ts'
import { selectImportedChanges } from '../../../src/registry/store/changes.ts'
import { register, remove } from '../../../src/registry/store/register.ts'
import { indexStored } from '../../../src/registry/store/search.ts'
import { createTables } from '../../../src/registry/tables/create.ts'
import { recordObservations } from '../../../src/registry/tables/observations.ts'
import { endCheck } from '../../../src/registry/tables/receipts.ts'
import { issueToken } from '../../../src/registry/tables/tokens.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { fetched, receiptOf, withoutKeys } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const openTables = (): SqlStorage => {
  const sql = openSql()
  createTables(sql)
  return sql
}

const prepare = async (id: string, manifest: JsonObject, more: Partial<Registration> = {}): Promise<Registration> => {
  const document: Json = manifest
  const result = compile(document, { id, requestOrigin: 'https://host.example' })
  if ('errors' in result) throw new Error(JSON.stringify(result.errors))
  return {
    ...(await prepareRegistration(
      { id, document, compiled: result.compiled, signing: withoutKeys },
      { actor: 'admin', expected: {} },
    )),
    ...more,
  }
}
const put = (sql: SqlStorage, registration: Registration) => {
  const written = register(sql, registration, true)
  if ('error' in written) throw new Error(JSON.stringify(written.error))
}

/** Returns the lines of an export; `between` is called after each page. */
const exportLines = (sql: SqlStorage, between: (pages: number) => void = () => undefined): string => {
  let text = ''
  let cursor: ExportCursor | undefined
  let pages = 0
  do {
    const page = exportPage(sql, cursor)
    text += page.lines
    cursor = page.next
    between(++pages)
  } while (cursor)
  return text
}

const importLines = (sql: SqlStorage, text: string) => {
  const staging = new Staging(sql)
  // Not at the bounds of the pages.
  for (let lines = text; lines !== ''; ) {
    const end = lines.indexOf('\n', 100_000) + 1 || lines.length
    const rejection = staging.add(lines.slice(0, end))
    if (rejection) return rejection
    lines = lines.slice(end)
  }
  return staging.commit('admin', 'f'.repeat(64))
}

const readTable = (sql: SqlStorage, table: string): JsonObject[] =>
  sql
    .exec(`SELECT * FROM ${table}`)
    .toArray()
    .map(row => JSON.parse(JSON.stringify(row)) as JsonObject)
    // An index numbers its documents as it likes.
    .map(({ number, ...row }) => (table === 'search_documents' ? row : { number, ...row }))
    .sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
const TABLES = [...Object.keys(EXPORTED), 'search_documents'] as ExportedTable[]

const AGENTS = 60

let sql: SqlStorage
let first: Registration
let second: Registration
let remote: Registration
beforeAll(async () => {
  const tier = { extended: { description: 'More for those who may' }, tiers: { gold: { description: 'Gold' } } }
  first = await prepare('a', { card: { ...minimalCard, name: 'Ä 漢 😀' }, ...tier, hosts: ['a.example.com'] })
  second = await prepare('a', { card: { ...minimalCard, version: '2.0.0' }, ...tier, hosts: ['a.example.com'] })
  remote = await prepare(
    'remote',
    { card: minimalCard, visibility: 'internal' },
    { source: fetched('remote', { verification: { at: 0, verified: false, reason: 'it has no signatures' } }) },
  )
})
beforeEach(() => {
  sql = openTables()
  put(sql, first)
  put(sql, second)
  put(sql, remote)
  put(sql, { ...first, id: 'gone', hosts: [] })
  remove(sql, 'gone', {}, 'admin')
  recordObservations(sql, 'a', createObservations(Date.now() + 1000))
  endCheck(sql, 'a', receiptOf('a'))
  const record = { id: 't', note: '', scopes: ['read' as const], agents: ['*'], tiers: [], created: 1, expires: null }
  issueToken(sql, record, 'h'.repeat(64), 'admin')
})

describe('an export', () => {
  it('has every column of its tables', () => {
    for (const [table, columns] of Object.entries(EXPORTED)) {
      const stored = sql.exec<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).toArray()
      expect([table, stored.map(({ name }) => name)]).toEqual([table, Object.keys(columns)])
    }
  })

  it('has every table, except those that another host makes itself or does not need', () => {
    const made = {
      audit: 'moved as its entries',
      search: 'the index of what is registered',
      internal_search: 'the same',
      search_documents: 'the same',
      refusals: 'counts the refused writes of an hour, which do not move',
      outbox: 'what this host has yet to publish: a new one publishes everything',
    }
    const stored = sql.exec<{ name: string }>(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'
        AND name NOT GLOB '*search_data' AND name NOT GLOB '*search_idx'
        AND name NOT GLOB '*search_docsize' AND name NOT GLOB '*search_config'`,
    )
    const known = [...Object.keys(EXPORTED), ...Object.keys(made)]
    expect([...stored].map(({ name }) => name).sort()).toEqual(known.sort())
  })

  it('makes an empty host equal, its search included', () => {
    const target = openTables()
    recordRefusal(target, { actor: 'anonymous', code: 'no-token', status: 401, omitted: 0 })
    expect(importLines(target, exportLines(sql))).toEqual({ outcome: 'imported', agents: 2, revisions: 5, tokens: 1 })
    for (const id of ['a', 'remote']) indexStored(target, id)
    const read = (from: SqlStorage) => TABLES.map(table => [table, readTable(from, table)])
    const hosts = ({ id }: JsonObject) => id !== null
    expect(read(target)).toEqual(read(sql).map(([table, rows]) => [table, (rows as JsonObject[]).filter(hosts)]))
    const found = target.exec(
      `SELECT id FROM search JOIN search_documents ON number = search.rowid WHERE search MATCH ?`,
      'agent',
    )
    expect(found.toArray()).toEqual(
      sql
        .exec(`SELECT id FROM search JOIN search_documents ON number = search.rowid WHERE search MATCH ?`, 'agent')
        .toArray(),
    )
  })

  it('continues the audit with an entry for the import', () => {
    const target = openTables()
    recordRefusal(target, { actor: 'anonymous', code: 'no-token', status: 401, omitted: 0 })
    importLines(target, exportLines(sql))
    const read = (from: SqlStorage) => selectEntries(from, { before: Number.MAX_SAFE_INTEGER, limit: 100 })
    const [newest, ...others] = read(target)
    expect(others).toEqual(read(sql))
    expect(newest).toMatchObject({
      ...{ number: others.length + 1, actor: 'admin', what: 'registry-imported', previous: others[0]?.hash },
      details: { agents: 2, revisions: 5, tokens: 1, changes: 5, sha256: 'f'.repeat(64), discarded: 1 },
    })
    expect([selectImportedChanges(sql), selectImportedChanges(target)]).toEqual([0, 5])
  })

  it('has what changes while it is read, in a state that all agents had at once', () => {
    const target = openTables()
    const text = exportLines(sql, pages => {
      if (pages === 2) put(sql, first)
      if (pages === 3) remove(sql, 'remote', {}, 'admin')
      if (pages === 3) put(sql, { ...first, id: 'new', hosts: ['new.example.com'] })
    })
    expect(importLines(target, text)).toMatchObject({ agents: 2 })
    for (const table of ['agents', 'representations', 'fetched', 'revisions'] as const)
      expect([table, readTable(target, table)]).toEqual([table, readTable(sql, table)])
    expect(exportLines(sql).split('\n')).toHaveLength(new Set(exportLines(sql).split('\n')).size)
  })

  it('has the root name of an agent that got it while it was read, and has not changed', () => {
    const source = openTables()
    put(source, first)
    put(source, { ...second, id: 'b', hosts: [] })
    const target = openTables()
    const text = exportLines(source, pages => {
      if (pages !== 3) return
      remove(source, 'a', {}, 'admin')
      put(source, { ...second, id: 'b', hosts: [] })
    })
    expect(importLines(target, text)).toMatchObject({ agents: 1 })
    expect(readTable(source, 'hosts')).toContainEqual({ hostname: '*', id: 'b', seq: 3, automatic: 1 })
    expect(readTable(target, 'hosts')).toContainEqual({ hostname: '*', id: 'b', seq: 3, automatic: 1 })
  })

  it('breaks off if more agents changed while it was read than is known', () => {
    const change = (pages: number) => {
      if (pages !== 2) return
      put(sql, first)
      put(sql, second)
      sql.exec('DELETE FROM changes WHERE number < (SELECT MAX(number) FROM changes)')
    }
    expect(() => exportLines(sql, change)).toThrow('export again')
  })

  it('is read in pages of bounded length, and imported, with many agents', () => {
    for (let index = 0; index < AGENTS; index++) put(sql, { ...first, id: `many-${index}`, hosts: [] })
    const lengths: number[] = []
    let cursor: ExportCursor | undefined
    do {
      const page = exportPage(sql, cursor)
      lengths.push(page.lines.length)
      cursor = page.next
    } while (cursor)
    expect(Math.max(...lengths)).toBeLessThan(600 * 1024)
    expect(lengths.length).toBeGreaterThan(5)
    const target = openTables()
    expect(importLines(target, exportLines(sql))).toMatchObject({ agents: AGENTS + 2 })
    expect(readTable(target, 'representations')).toEqual(readTable(sql, 'representations'))
  })
})

describe('an import', () => {
  const edit = (text: string, matches: (line: JsonObject) => boolean, change: (row: JsonObject) => void): string => {
    let isDone = false
    const lines = text.split('\n').map(line => {
      const value = line === '' || isDone ? {} : (JSON.parse(line) as JsonObject)
      if (line === '' || isDone || !matches(value)) return line
      isDone = true
      change(value.row as JsonObject)
      return JSON.stringify(value)
    })
    expect(isDone).toBe(true)
    return lines.join('\n')
  }
  const ofTable = (name: string) => (line: JsonObject) => line.table === name
  const withAudit = (text: string, audit: readonly AuditEntry[]): string =>
    [
      ...text.split('\n').filter(line => line !== '' && JSON.parse(line).table !== 'audit'),
      ...audit.map(row => JSON.stringify({ table: 'audit', row })),
      '',
    ].join('\n')
  /** Seals the entries again after a change, as who edits a file would. */
  const reseal = (entries: readonly AuditEntry[]): AuditEntry[] => {
    const chain: AuditEntry[] = []
    for (const entry of entries) chain.push(sealEntry({ ...entry, previous: chain.at(-1)?.hash ?? entry.previous }))
    return chain
  }
  const auditOf = (from: SqlStorage) => selectEntries(from, { before: 1000, limit: 100 }).reverse()

  it.each<[string, (text: string) => string, RegExp]>([
    ['no export', () => '{"a":1}\n', /no export of a Calling Card host/],
    ['text', () => 'hello\n', /Line 1 is not a JSON object/],
    ['no lines', () => '', /empty/],
    ['another table', text => `${text}{"table":"outbox","row":{}}\n`, /unknown table/],
    ['a line without a row', text => `${text}{"table":"agents"}\n`, /no line of an export/],
    ['another column', text => edit(text, ofTable('agents'), row => Object.assign(row, { more: 1 })), /other columns/],
    ['another type', text => edit(text, ofTable('agents'), row => Object.assign(row, { seq: '1' })), /other columns/],
    ['no JSON', text => edit(text, ofTable('agents'), row => Object.assign(row, { summary: '{' })), /other columns/],
    [
      'an id that no agent can have',
      text => edit(text, ofTable('agents'), row => Object.assign(row, { id: 'a:b' })),
      /other columns/,
    ],
    [
      'a summary without a name',
      text => edit(text, ofTable('agents'), row => Object.assign(row, { summary: '{}' })),
      /summary or search fields/,
    ],
    [
      'search fields that are no lists',
      text => edit(text, ofTable('agents'), row => Object.assign(row, { search_fields: '{"provider":"","tags":"a"}' })),
      /summary or search fields/,
    ],
    [
      'a receipt without a summary',
      text => edit(text, ofTable('receipts'), row => Object.assign(row, { receipt: '{"receipt":{}}' })),
      /receipt of another form/,
    ],
    [
      'another body',
      text => edit(text, ofTable('representations'), row => Object.assign(row, { body: '{}' })),
      /entity tag/,
    ],
    [
      'another manifest',
      text => edit(text, ofTable('revisions'), row => Object.assign(row, { manifest: '{}' })),
      /no entry for/,
    ],
    [
      'an edited audit',
      text => edit(text, ofTable('audit'), row => Object.assign(row, { actor: 'x' })),
      /its hash is not/,
    ],
    ['no audit', text => withAudit(text, []), /no entry for revision 1 of agent "a"/],
    ['an audit that was cut off', text => withAudit(text, auditOf(sql).slice(0, 3)), /no entry for/],
    [
      'an audit sealed again without an agent',
      text => withAudit(text, reseal(auditOf(sql).map(entry => ({ ...entry, agent: 'b' })))),
      /no entry for/,
    ],
    [
      'the audit of another host',
      text => {
        const other = openTables()
        put(other, first)
        put(other, remote)
        return withAudit(text, auditOf(other))
      },
      /no entry for/,
    ],
    [
      'two tokens with one hash',
      text =>
        `${text}${text
          .split('\n')
          .find(line => line.includes('"table":"tokens"'))
          ?.replace(/"id":"[^"]*"/, '"id":"other"')}\n`,
      /have the same hash/,
    ],
    [
      'an agent without its revision',
      text => edit(text, ofTable('agents'), row => Object.assign(row, { seq: 9 })),
      /newest revision of agent "a" is missing/,
    ],
  ])('of %s is refused, and nothing is changed', (_, change, message) => {
    const target = openTables()
    const rejection = importLines(target, change(exportLines(sql))) as ImportRejection
    expect(rejection).toEqual({ outcome: 'invalid', message: expect.stringMatching(message) })
    expect(TABLES.flatMap(table => readTable(target, table))).toEqual([])
    expect(auditOf(target)).toEqual([])
  })

  it('that was cut off leaves nothing when the object starts again', () => {
    const target = openTables()
    expect(new Staging(target).add(exportLines(sql))).toBeUndefined()
    createTables(target)
    expect(target.exec("SELECT name FROM sqlite_master WHERE name GLOB 'staged_*'").toArray()).toEqual([])
  })

  it('looks only once for what a line replaces, if that is nothing', () => {
    const target = openTables()
    const staging = new Staging(target)
    const exec = vi.spyOn(target, 'exec')
    const header = exportLines(sql).split('\n', 1)[0]
    expect(staging.add(`${header}\n${'{"replace":"a"}\n'.repeat(1000)}`)).toBeUndefined()
    expect(exec).toHaveBeenCalledTimes(1000)
  })

  it('keeps the indexes of the tables, whether it ends or is given up', () => {
    const indexes = (of: SqlStorage) =>
      of.exec("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' ORDER BY name").toArray()
    const [expected, target] = [indexes(openTables()), openTables()]
    new Staging(target).drop()
    expect(indexes(target)).toEqual(expected)
    importLines(target, exportLines(sql))
    expect(indexes(target)).toEqual(expected)
  })

  it('of an empty host can be followed by another one', () => {
    const target = openTables()
    expect(importLines(target, exportLines(openTables()))).toMatchObject({ outcome: 'imported', agents: 0 })
    expect(importLines(target, exportLines(sql))).toMatchObject({ outcome: 'imported', agents: 2 })
  })

  it('of a newer version is refused', () => {
    const text = exportLines(sql).replace('"version":1', '"version":2')
    expect(importLines(openTables(), text)).toEqual({ outcome: 'too-new', version: 2 })
  })

  it.each<[string, (target: SqlStorage) => void]>([
    ['agents', target => put(target, first)],
    [
      'a history',
      target => {
        put(target, first)
        remove(target, 'a', {}, 'admin')
      },
    ],
  ])('into a host with %s is refused', (_, fill) => {
    const target = openTables()
    fill(target)
    const before = readTable(target, 'revisions')
    expect(importLines(target, exportLines(sql))).toEqual({ outcome: 'not-empty' })
    expect(readTable(target, 'revisions')).toEqual(before)
  })
})
