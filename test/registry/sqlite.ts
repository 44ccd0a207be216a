import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

/** An empty SQLite in Node, in the form of the Durable Object's. */
export const openSql = (): SqlStorage => {
  const database = new DatabaseSync(':memory:')
  const changes = () => Number(database.prepare('SELECT total_changes() AS count').get()?.count)
  const exec = (query: string, ...values: SQLInputValue[]) => {
    const before = changes()
    const rows = values.length === 0 ? many(query) : database.prepare(query).all(...values)
    return {
      toArray: () => rows,
      one: () => rows[0],
      [Symbol.iterator]: () => rows[Symbol.iterator](),
      rowsWritten: changes() - before,
    }
  }
  /** Of several statements, those before the last are for what they do alone. */
  const many = (query: string) => {
    const end = query.trimEnd().replace(/;$/, '').lastIndexOf(';')
    database.exec(query.slice(0, end + 1))
    return database.prepare(query.slice(end + 1)).all()
  }
  return { exec } as unknown as SqlStorage
}
