import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { noSearchFields } from '../../src/registry/search-terms.ts'
import { selectAgents } from '../../src/registry/tables/agent-table.ts'
import { createTables } from '../../src/registry/tables/create.ts'
import { indexAgent, search } from '../../src/registry/tables/search-index.ts'
import type { Setting } from '../compare.ts'
import { createDescriber, numberedId } from '../registry-agents.ts'
import { type Figure, interval, median } from '../stats.ts'
import { SEARCHES } from './searches.ts'

const AGENTS_PER_TRANSACTION = 10_000
const TIMES = 5

/**
 * CPU time of searches and lists over more agents than a benchmark can register: the tables that these read, filled directly, with
 * SQLite in Node instead of a Durable Object.
 */
export const simulatedRegistry = ({ directory, effort }: Setting, agents: number): Figure[] => {
  const database = new DatabaseSync(join(directory(), 'registry.sqlite'))
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF')
  const sql = toSqlStorage(database)
  createTables(sql)
  fill(database, sql, agents)
  const samples = Object.values(SEARCHES).map(query => measure(effort.rounds, () => search(sql, query)))
  const perRound = Array.from({ length: effort.rounds }, (_, round) =>
    median(samples.map(each => each[round] ?? Number.NaN)),
  )
  const list = measure(effort.rounds, round => {
    const after = numberedId(Math.floor((agents * round) / effort.rounds))
    return selectAgents(sql, { after, limit: 101, covered: [] })
  })
  database.close()
  const note = Object.keys(SEARCHES).map((name, index) => `${name} ${median(samples[index] ?? []).toFixed(2)} ms`)
  return [
    { name: 'simulated search, median of a mix', unit: 'ms', value: interval(perRound), note: note.join('; ') },
    { name: 'simulated page of a list', unit: 'ms', value: interval(list) },
  ]
}

const measure = (rounds: number, work: (round: number) => unknown): number[] => {
  work(0)
  return Array.from({ length: rounds }, (_, round) => {
    const before = process.cpuUsage()
    for (let time = 0; time < TIMES; time++) work(round)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000 / TIMES
  })
}

const fill = (database: DatabaseSync, sql: SqlStorage, agents: number): void => {
  const describe = createDescriber()
  const insertAgent = database.prepare(
    `INSERT INTO agents (id, seq, published, visibility, listed, origin, modified, manifest_etag, summary, search_fields, profile)
      VALUES (?, 1, 1, 'public', 1, 'https://host.example', 0, '""', ?, ?, '{}')`,
  )
  for (let from = 0; from < agents; from += AGENTS_PER_TRANSACTION) {
    database.exec('BEGIN')
    for (let number = from; number < Math.min(agents, from + AGENTS_PER_TRANSACTION); number++) {
      const { id, ...described } = describe(number)
      const summary = { version: '1.0.0', url: '', protocol: 'a2a', ...described.summary, shaman: noShamanFields }
      const fields = { ...noSearchFields, ...described.search }
      const { text: _, ...stored } = fields
      insertAgent.run(id, JSON.stringify(summary), JSON.stringify(stored))
      indexAgent(sql, { id, listed: true, set: undefined, summary, search: fields })
    }
    database.exec('COMMIT')
  }
}

const noShamanFields = { url: '', preferredTransport: 'JSONRPC' }

/** Returns a database behind the interface of a Durable Object's: rows are read as they are taken. */
const toSqlStorage = (database: DatabaseSync): SqlStorage => {
  const statements = new Map<string, StatementSync>()
  const exec = (query: string, ...values: SQLInputValue[]) => {
    if (query.includes(';')) return database.exec(query)
    const statement = statements.get(query) ?? database.prepare(query)
    statements.set(query, statement)
    if (statement.columns().length === 0) return statement.run(...values)
    return {
      toArray: () => statement.all(...values),
      one: () => statement.get(...values),
      [Symbol.iterator]: () => statement.iterate(...values),
    }
  }
  return { exec } as unknown as SqlStorage
}
