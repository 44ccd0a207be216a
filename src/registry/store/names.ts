/** Who has a name, or is of that id: the public agent, and the internal ones that come before it. */
export type NamedAgents = { open: string | null; internal: string[] }

/** Internal agents of one name beyond so many are not found by it. */
const mostInternal = 10

/**
 * The agents of an id, else of a name, in lower case. Of several of one name it is who has had it longest: else who may write one
 * agent could take another's calls by its name. Which of the internal ones there are, nobody is to learn who may not read them.
 */
export const findNamed = (sql: SqlStorage, name: string): NamedAgents => {
  const rows = sql
    .exec<{ id: string; visibility: string }>(
      `SELECT id, visibility FROM agents WHERE lower(json_extract(summary, '$.name')) = ?1 OR id = ?1
        ORDER BY id <> ?1, json_extract(summary, '$.named'), id`,
      name,
    )
    .toArray()
  const open = rows.findIndex(({ visibility }) => visibility === 'public')
  const before = open === -1 ? rows : rows.slice(0, open)
  return { open: rows[open]?.id ?? null, internal: before.slice(0, mostInternal).map(({ id }) => id) }
}

/** Since when an agent that is being registered has its name, in ms; `now`, where it is new to it. */
export const namedSince = (sql: SqlStorage, id: string, name: string, now: number): number => {
  const [row] = sql
    .exec<{ since: number }>(
      // Before this was kept is longest ago.
      `SELECT COALESCE(json_extract(summary, '$.named'), 0) AS since FROM agents WHERE id = ? AND lower(json_extract(summary, '$.name')) = lower(?)`,
      ...[id, name],
    )
    .toArray()
  return row?.since ?? now
}

/** So that a name is found without reading every agent. */
export const namesIndex = `
  CREATE INDEX IF NOT EXISTS agents_by_name ON agents (lower(json_extract(summary, '$.name')));
`
