import { matchesGlob } from '../../card/model/index.ts'
import { MAX_STORED_CHANGES } from '../../limits.ts'
import { createTable, defineTable, exists, insertRow, selectJson, selectValue } from '../sql.ts'
import type { StoredChange } from '../tables/index.ts'

const changeTable = defineTable(
  'changes',
  { number: 'integer', id: 'text', is_public: 'integer', record: 'text' },
  { keys: 'PRIMARY KEY (number)', indexes: { changes_by_agent: '(id, number)' } },
)

/** Opens the newest changes of the Registry, which streams resume from and the webhook delivers. */
export const openChangeFeed = (sql: SqlStorage) => {
  createTable(sql, changeTable)
  let newest = selectValue<number | null>(sql, 'SELECT MAX(number) FROM changes') ?? 0
  return {
    /** Stores changes, and deletes the oldest beyond the limit. Returns those that it did not have yet. */
    append(changes: readonly StoredChange[], limit = MAX_STORED_CHANGES): StoredChange[] {
      const added = changes.filter(({ number }) => number > newest)
      for (const change of added) {
        const { number, id, publicKind } = change
        insertRow(sql, changeTable, { number, id, is_public: publicKind ? 1 : 0, record: JSON.stringify(change) })
      }
      newest = added.at(-1)?.number ?? newest
      sql.exec('DELETE FROM changes WHERE number <= ?', newest - limit)
      return added
    },

    /** Returns at most `limit` changes after a number, the oldest first; those of one agent, or of all. */
    after(number: number, limit: number, agent = ''): StoredChange[] {
      const query = `SELECT record FROM changes WHERE number > ?1 ${agent && 'AND id = ?3'} ORDER BY number LIMIT ?2`
      return selectJson(sql, query, number, limit, ...(agent ? [agent] : []))
    },

    /** Returns the number of the newest change; 0 for none. */
    newest: (): number => newest,

    /** Returns the number that the oldest stored change follows: nothing before it is known. */
    floor: (): number => selectValue<number | null>(sql, 'SELECT MIN(number) - 1 FROM changes') ?? 0,

    /** Checks whether a change of an agent is stored; with `publicOnly`, one that everybody sees. */
    knows: (agent: string, publicOnly: boolean): boolean =>
      exists(sql, `changes WHERE id = ? ${publicOnly ? 'AND is_public = 1' : ''}`, agent),
  }
}

/** The changes that are stored. */
export type ChangeFeed = ReturnType<typeof openChangeFeed>

/** The data of a change, which streams and the webhook have in common. */
export const toEventData = ({ id, seq, at, class: changeClass }: StoredChange, withClass = true) => ({
  agent: id,
  seq,
  ...(withClass && changeClass && { class: changeClass }),
  time: new Date(at).toISOString(),
})

/**
 * Writes a page of changes as one message: the number up to which it is complete, then server-sent events for a reader
 * of the agents in `covered`. All others see the public agents only: for them an agent that becomes internal is
 * removed, and one that becomes public is registered.
 */
export const writePage = (last: number, changes: readonly StoredChange[], covered: readonly string[]): string => {
  const events = changes.map(change => {
    const { number, id, kind, publicKind } = change
    const event = covered.some(glob => matchesGlob(glob, id)) ? kind : publicKind
    if (event === undefined) return ''
    return `id: ${number}\nevent: ${event}\ndata: ${JSON.stringify(toEventData(change, event === 'changed'))}\n\n`
  })
  return `${last}\n${events.join('')}`
}

/** Reads a page that `writePage` has written. */
export const readPage = (message: string): { last: number; events: string } => {
  const end = message.indexOf('\n')
  return { last: Number(message.slice(0, end)), events: message.slice(end + 1) }
}

/** Writes a heartbeat: no event, but where a client resumes that gets none before it reconnects. */
export const sseId = (number: number): string => `id: ${number}\n\n`
