import { openSql } from '../registry/sqlite.ts'

/** The storage of a Durable Object in Node: a database, and when its alarm goes off. */
export type TestStorage = { storage: DurableObjectStorage; alarms: number[] }

/** An empty storage; transactions are those of whoever has it alone. */
export const openStorage = (): TestStorage => {
  const alarms: number[] = []
  const storage = {
    sql: openSql(),
    transactionSync: <Result>(work: () => Result): Result => work(),
    setAlarm: async (at: number) => void alarms.push(at),
  }
  return { storage: storage as unknown as DurableObjectStorage, alarms }
}
