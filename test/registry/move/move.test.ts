import fc from 'fast-check'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { compileDocument } from '../../../src/card/compile/index.ts'
import { createObservations } from '../../../src/card/model/observed-calls.ts'
import { isJsonObject, type JsonObject } from '../../../src/json/json.ts'
import { parseJson } from '../../../src/json/parse.ts'
import { type AuditEntry, sealEntry } from '../../../src/registry/audit/chain.ts'
import { recordRefusal, selectPage } from '../../../src/registry/audit/index.ts'
import { type ExportCursor, exportPage } from '../../../src/registry/move/export.ts'
import { Rejected, Staging } from '../../../src/registry/move/import.ts'
import type { Registration } from '../../../src/registry/prepare.ts'
import { register, remove } from '../../../src/registry/store/registrations.ts'
import { recordRefresh } from '../../../src/registry/store/source-state.ts'
import { selectImportedChanges } from '../../../src/registry/tables/change-table.ts'
import { endCheck, recordObservations } from '../../../src/registry/tables/conformance-tables.ts'
import { createTables, EXPORTED, type ExportedTable } from '../../../src/registry/tables/create.ts'
import { indexStored } from '../../../src/registry/tables/search-index.ts'
import { issueToken } from '../../../src/registry/tables/token-table.ts'
import { minimalCard } from '../../support/cards/cards.ts'
import { completeCards } from '../../support/cards/complete.ts'
import { authoredCard, numRuns } from '../../support/cards/generated.ts'
import { mcpServerCard, mcpUpstream } from '../../support/cards/mcp.ts'
import { corpus } from '../../support/cards/reference.ts'
import { failure, fetched, prepareDocument, receiptOf } from '../../support/registrations.ts'
import { openSql } from '../../support/storage.ts'

const openTables = (): SqlStorage => {
  const sql = openSql()
  createTables(sql)
  return sql
}

const prepare = async (id: string, manifest: JsonObject, more: Partial<Registration> = {}): Promise<Registration> => {
  const registration = await prepareDocument(manifest, { id, requestOrigin: 'https://host.example' })
  return { ...registration, ...more }
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

const importLines = (sql: SqlStorage, text: string, withTokens = true) => {
  const staging = new Staging(sql, withTokens)
  try {
    // Not at the bounds of the pages.
    for (let lines = text; lines !== ''; ) {
      const end = lines.indexOf('\n', 100_000) + 1 || lines.length
      staging.add(lines.slice(0, end))
      lines = lines.slice(end)
    }
    return staging.commit('admin', 'f'.repeat(64))
  } catch (error) {
    if (error instanceof Rejected) return error.rejection
    throw error
  }
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

const AGENTS = 20
const tokenId = 'abcdefgh2345'

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
  const record = {
    id: tokenId,
    note: '',
    scopes: ['read' as const],
    agents: ['*'],
    tiers: [],
    created: 1,
    expires: null,
  }
  issueToken(sql, record, 'a'.repeat(64), 'admin')
})

describe('an export', () => {
  it('has every table, except those that another host makes itself or does not need', () => {
    const made = {
      audit: 'moved as its entries',
      search: 'the index of what is registered',
      internal_search: 'the same',
      search_documents: 'the same',
      refusals: 'counts the refused writes of an hour, which do not move',
      outbox: 'what this host has yet to publish: a new one publishes everything',
      reserve: 'room for removals from a full database',
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
    const card = JSON.stringify({ name: 'New' })
    const added = { op: 'add' as const, pointer: '/x', after: 1 }
    const drift = [added, { op: 'more' as const, pointer: '' as const, count: 2 }]
    const widens = [{ pointer: '/security', message: 'is gone' }]
    recordRefresh(sql, 'remote', {}, { pending: { etag: '"e"', card, validators: { etag: 'W/"é"' }, widens, drift } })
    recordRefresh(sql, 'remote', {}, { failure: { ...failure(), code: 'invalid-card', errors: widens } })
    recordRefusal(target, { actor: 'anonymous', code: 'no-token', status: 401, omitted: 0 })
    expect(importLines(target, exportLines(sql))).toEqual({ outcome: 'imported', agents: 2, revisions: 5, tokens: 1 })
    for (const id of ['a', 'remote']) indexStored(target, id)
    const read = (from: SqlStorage) => TABLES.map(table => [table, readTable(from, table)])
    const hosts = ({ id }: JsonObject) => id !== null
    expect(read(target)).toEqual(read(sql).map(([table, rows]) => [table, (rows as JsonObject[]).filter(hosts)]))
    const query = "SELECT id FROM search JOIN search_documents ON number = search.rowid WHERE search MATCH 'agent'"
    expect(target.exec(query).toArray()).toEqual([{ id: 'a' }])
  })

  it('continues the audit with an entry for the import', () => {
    const target = openTables()
    recordRefusal(target, { actor: 'anonymous', code: 'no-token', status: 401, omitted: 0 })
    importLines(target, exportLines(sql))
    const read = (from: SqlStorage) => selectPage(from, { before: Number.MAX_SAFE_INTEGER, limit: 100 }).entries
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
    for (const table of ['agents', 'documents', 'fetched', 'revisions'] as const)
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
    for (let page = exportPage(sql, undefined); ; page = exportPage(sql, page.next)) {
      lengths.push(page.lines.length)
      if (!page.next) break
    }
    expect(Math.max(...lengths)).toBeLessThan(600 * 1024)
    expect(lengths.length).toBeGreaterThan(2)
    const target = openTables()
    expect(importLines(target, exportLines(sql))).toMatchObject({ agents: AGENTS + 2 })
    expect(readTable(target, 'documents')).toEqual(readTable(sql, 'documents'))
  })
})

it('an export of any cards is imported', async () => {
  const [source, target] = [openTables(), openTables()]
  const published = corpus.flatMap(({ text }) => {
    const parsed = parseJson(text)
    return 'value' in parsed && isJsonObject(parsed.value) ? [parsed.value] : []
  })
  const cards = [...Object.values(completeCards), ...published, ...fc.sample(authoredCard, numRuns)]
  const tiers = { extended: { description: 'More' }, tiers: { gold: { description: 'Gold' } } }
  const mcp = { card: {}, upstream: mcpUpstream, gate: { tasks: 'owner' } }
  const manifests: [JsonObject, JsonObject?][] = [
    ...cards.map((card, index): [JsonObject] => [index % 4 === 0 ? { card, route: 'gateway', ...tiers } : card]),
    [mcp, mcpServerCard({ skillId: 'a', name: 'a', inputSchema: {}, id: 'a', description: 'A' })],
  ]
  let count = 0
  for (const [document, fetched] of manifests) {
    const id = `agent-${count}`
    const context = { id, requestOrigin: 'http://127.0.0.1:8787' }
    if ('errors' in compileDocument(document, { ...context, fetched })) continue
    put(source, { ...(await prepareDocument(document, context, { fetched })), hosts: [] })
    count++
  }
  expect(count).toBeGreaterThan(80)
  expect(importLines(target, exportLines(source))).toMatchObject({ outcome: 'imported', agents: count })
})

describe('an import', () => {
  /** Changes the first row of a kind. */
  const edit = (text: string, matches: (line: string) => boolean, change: (row: JsonObject) => void): string => {
    const lines = text.split('\n')
    const index = lines.findIndex(matches)
    const line = JSON.parse(lines[index] ?? '') as { row: JsonObject }
    change(line.row)
    return lines.with(index, JSON.stringify(line)).join('\n')
  }
  const ofTable = (name: string) => (line: string) => line.startsWith(`{"table":"${name}"`)
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
  const auditOf = (from: SqlStorage) => selectPage(from, { before: 1000, limit: 100 }).entries.reverse()

  it('of anything but an unchanged export is refused, and nothing is changed', () => {
    const editRow = (table: string, change: object) => (text: string) =>
      edit(text, ofTable(table), row => Object.assign(row, change))
    const resealed = (change: object) => (text: string) =>
      withAudit(text, reseal(auditOf(sql).map(entry => ({ ...entry, ...change }))))
    const exported = exportLines(sql)
    const token = exported.split('\n').find(line => line.includes('"table":"tokens"'))
    const time = /entry of the audit, does not fit: \/time must be a time such as 2027-01-31T12:00:00.000Z/
    for (const [title, change, message] of [
      ['no export', () => '{"a":1}\n', /no export of a Calling Card host/],
      ['text', () => 'hello\n', /Line 1 is not a JSON object/],
      ['no lines', () => '', /empty/],
      ['another table', text => `${text}{"table":"outbox","row":{}}\n`, /unknown table/],
      ['a line without a row', text => `${text}{"table":"agents"}\n`, /no line of an export/],
      ['another body', editRow('documents', { body: 'KLUv_SACEQAAe30' }), /column body: must be documents/],
      ['another manifest', editRow('revisions', { manifest: '{}' }), /no entry for/],
      ['an edited audit', editRow('audit', { actor: 'x' }), /its hash is not/],
      ['no audit', text => withAudit(text, []), /no entry for revision 1 of agent "a"/],
      ['an audit sealed again without an agent', resealed({ agent: 'b' }), /no entry for/],
      ['an audit sealed again with other times', resealed({ time: '2027-01-01' }), time],
      ['two equal hashes', text => `${text}${token?.replaceAll(tokenId, 'abcdefgh2222')}\n`, /have the same hash/],
    ] as [string, (text: string) => string, RegExp][]) {
      const target = openTables()
      const rejection = importLines(target, change(exported))
      expect({ title, ...rejection }).toEqual({ title, outcome: 'invalid', message: expect.stringMatching(message) })
      expect([...TABLES.flatMap(table => readTable(target, table)), ...auditOf(target)], title).toEqual([])
    }
  })

  /** A change of a row and what is wrong with it. */
  type Defect = [table: ExportedTable, change: JsonObject, message: RegExp]
  const RELATIVE = 'is relative: it must be absolute, such as https://agent.example.com/a2a'
  const oneDocument = (length: number) => JSON.stringify([[['1.0'], `"${'0'.repeat(64)}"`, length]])
  const defects: Defect[] = [
    ['agents', { more: 1 }, /column more: is not a known column/],
    ['agents', { seq: '1' }, /column seq: must be a whole number from 1 to/],
    ['agents', { seq: undefined }, /column seq: is missing/],
    ['agents', { id: 'a:b' }, /column id: must be the id of an agent/],
    ['agents', { visibility: 'secret' }, /column visibility: must be public or internal/],
    ['agents', { set_name: 'A B' }, /column set_name: must be 1 to 63 lowercase letters/],
    ['agents', { modified: 8.7e15 }, /must be a whole number from 0 to 6911049599000/],
    ['agents', { manifest_etag: '"a' }, /column manifest_etag: must be an entity tag/],
    ['agents', { manifest_etag: `"${'0'.repeat(64)}"` }, /newest revision of agent "a" is missing/],
    ['agents', { seq: 9 }, /newest revision of agent "a" is missing/],
    ['agents', { summary: '{' }, /column summary: must be JSON/],
    ['agents', { summary: '{}' }, /column summary: \/name is missing/],
    ['agents', { summary: '{"name":"a"}' }, /column summary: \/description is missing/],
    ['agents', { search_fields: '{"provider":"","tags":"a"}' }, /column search_fields: \/skillIds is missing/],
    ['revisions', { origin: null }, /must have a manifest and an origin, unless it is a removal/],
    ['revisions', { made_by: 'me' }, /column made_by: must be manifest, fetch or removal/],
    ['revisions', { class: 'bad' }, /column class: must be breaking, additive or cosmetic/],
    ['revisions', { manifest: '5' }, /column manifest: must be an object/],
    ['revisions', { drift: '5' }, /column drift: must be a list/],
    ['revision_cards', { tier: 'A' }, /column tier: must be the name of a tier/],
    ['revision_cards', { card: '{}' }, /column card: \/name is missing/],
    ['agents', { listed: 2 }, /column listed: must be 0 or 1/],
    ['agents', { published: 0 }, /column published: must be a whole number from 1 to/],
    ['agents', { published: undefined }, /column published: is missing/],
    ['agents', { published_seq: 1 }, /column published_seq: is not a known column/],
    ['agents', { profile: '{}' }, /column profile: \/visibility is missing/],
    ['documents', { tier: 'A' }, /column tier: must be the name of a tier/],
    ['documents', { parts: '[[["profile"],"",2]]' }, /column parts: \/0\/0\/0 must be the name of a document/],
    ['documents', { parts: oneDocument(99e6) }, /column parts: must have at most/],
    ['documents', { parts: oneDocument(2) }, /column body: must be documents of the length of `parts`/],
    ['documents', { parts: oneDocument(2), body: 'KLUv_SACEQAAe30' }, /column body: 1.0 does not match its entity tag/],
    ['documents', { parts: '{}' }, /column parts: must be a list/],
    ['documents', { parts: '[[[],"",2]]' }, /column parts: \/0\/0 must name a document/],
    ['documents', { parts: '[[["1.0"],"a",2]]' }, /column parts: \/0\/1 must be an entity tag/],
    ['documents', { parts: oneDocument(-1) }, /column parts: \/0\/2 must be a whole number from 0 to/],
    ['documents', { body: '' }, /column body: must be documents of the length of `parts`/],
    ['documents', { body: undefined }, /column body: is missing/],
    ['card_signatures', { resigned: -1 }, /column resigned: must be a whole number from 0 to/],
    ['documents', { body: '+' }, /column body: must be base64url/],
    ['card_signatures', { signatures: '[]' }, /column signatures: must be an object/],
    ['sources', { source: '{"kind":"card"}' }, /column source: \/url is missing/],
    ['sources', { failure: '{"status":500}' }, /column failure: \/status must be 502, 503 or 504/],
    ['sources', { failures: -1 }, /column failures: must be a whole number from 0 to/],
    ['fetched', { name: 'other' }, /column name: must be served or pending/],
    ['fetched', { name: 'pending' }, /must have the review of a pending card/],
    ['fetched', { validators: '{"etag":"a\\nb"}' }, /column validators: \/etag must be the value of a header/],
    ['fetched', { review: '{"verification":{}}' }, /column review: \/verification\/at is missing/],
    ['hosts', { hostname: 'A' }, /column hostname: must be a host name in lower case/],
    ['hosts', { automatic: 2 }, /column automatic: must be 0 or 1/],
    ['hosts', { id: 'other' }, /table hosts has agent "other", which is not in the table agents/],
    ['observations', { counts: '5' }, /column counts: must be an object/],
    ['receipts', { receipt: '{"receipt":{}}' }, /column receipt: \/receipt\/agent is missing/],
    ['tokens', { record: '{}' }, /column record: \/id is missing/],
    ['tokens', { id: 'other' }, /column id: must be the id of a token/],
    ['tokens', { id: 'abcdefgh2222' }, /must have a record with its id and expires/],
    ['tokens', { hash: 'h' }, /column hash: must be a SHA-256 in hexadecimal/],
    ['tokens', { expires: 1 }, /must have a record with its id and expires/],
    ['changes', { kind: 'gone' }, /column kind: must be registered, changed or removed/],
  ]

  it('with a value that no write could have stored is refused, with the line, the column and what is expected', () => {
    const [text, target] = [exportLines(sql), openTables()]
    for (const [table, change, message] of defects) {
      const edited = edit(text, ofTable(table), row => Object.assign(row, change))
      const expected = { outcome: 'invalid', message: expect.stringMatching(message) }
      expect([table, change, importLines(target, edited)]).toEqual([table, change, expected])
    }
    const line = text.split('\n').findIndex(line => line.includes('"table":"agents"')) + 1
    const edited = edit(text, ofTable('agents'), row => Object.assign(row, { origin: '/' }))
    expect(importLines(target, edited)).toEqual({
      ...{ outcome: 'invalid', message: `Line ${line}, table agents, column origin: ${RELATIVE}` },
    })
    expect(TABLES.flatMap(table => readTable(target, table))).toEqual([])
  })

  it('without tokens brings all but them, and checks them all the same', () => {
    const [text, target] = [exportLines(sql), openTables()]
    expect(importLines(target, text, false)).toEqual({ outcome: 'imported', agents: 2, revisions: 5, tokens: 0 })
    expect(readTable(target, 'tokens')).toEqual([])
    expect(readTable(target, 'hosts')).toHaveLength(2)
    const edited = edit(text, ofTable('tokens'), row => Object.assign(row, { record: '{}' }))
    expect(importLines(openTables(), edited, false)).toMatchObject({ outcome: 'invalid' })
  })

  it('keeps the indexes of the tables, whether it ends or is given up', () => {
    const indexes = (of: SqlStorage) =>
      of.exec("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index' ORDER BY name").toArray()
    const [expected, target] = [indexes(openTables()), openTables()]
    new Staging(target)
    createTables(target)
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

  it('into a host with agents, or with a history of some, is refused', () => {
    const target = openTables()
    put(target, first)
    for (let time = 0; time < 2; time++) {
      const before = readTable(target, 'revisions')
      expect(importLines(target, exportLines(sql))).toEqual({ outcome: 'not-empty' })
      expect(readTable(target, 'revisions')).toEqual(before)
      remove(target, 'a', {}, 'admin')
    }
  })
})
