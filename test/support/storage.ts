import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** Opens an empty SQLite database in Node behind the interface of a Durable Object's. */
export const openSql = (): SqlStorage => {
  const database = new DatabaseSync(':memory:')
  const statements = new Map<string, StatementSync>()
  const prepare = (query: string): StatementSync => {
    const statement = statements.get(query) ?? database.prepare(query)
    statements.set(query, statement)
    return statement
  }
  const changes = () => Number(prepare('SELECT total_changes() AS count').get()?.count)
  const exec = (query: string, ...values: SQLInputValue[]) => {
    const before = changes()
    const rows = values.length === 0 ? many(query) : prepare(query).all(...values)
    return {
      toArray: () => rows,
      one: () => rows[0],
      raw: () => rows.map(row => Object.values(row)).values(),
      [Symbol.iterator]: () => rows[Symbol.iterator](),
      rowsWritten: changes() - before,
    }
  }
  /** Runs all statements but returns the rows of the last one only. */
  const many = (query: string) => {
    const end = query.trimEnd().replace(/;$/, '').lastIndexOf(';')
    database.exec(query.slice(0, end + 1))
    return database.prepare(query.slice(end + 1)).all()
  }
  return { exec } as unknown as SqlStorage
}

/**
 * The storage of a Durable Object in Node: a database, key-value pairs and one alarm. `alarms` has every time for which the alarm
 * was set, `alarm` the time for which it is set now.
 */
export type TestStorage = {
  storage: DurableObjectStorage
  values: Map<string, unknown>
  alarms: number[]
  alarm: number | null
}

/** Opens an empty storage. */
export const openStorage = (): TestStorage => {
  const values = new Map<string, unknown>()
  const sql = openSql()
  const storage = {
    sql,
    transactionSync: <Result>(work: () => Result): Result => {
      sql.exec('BEGIN')
      try {
        const result = work()
        sql.exec('COMMIT')
        return result
      } catch (error) {
        // SQLite may have done it already.
        try {
          sql.exec('ROLLBACK')
        } catch {}
        throw error
      }
    },
    get: async (key: string) => values.get(key),
    put: async (key: string, value: unknown) => void values.set(key, value),
    deleteAll: async () => {
      values.clear()
      const tables = [...sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")]
      for (const { name } of tables) sql.exec(`DROP TABLE "${name}"`)
    },
    getAlarm: async () => state.alarm,
    setAlarm: async (at: number) => {
      state.alarms.push(at)
      state.alarm = at
    },
    deleteAlarm: async () => {
      state.alarm = null
    },
  }
  const state: TestStorage = { storage: storage as unknown as DurableObjectStorage, values, alarms: [], alarm: null }
  return state
}
