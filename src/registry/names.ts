/**
 * The agent of an id, else of a name, in lower case. Of several of one name it is who has had it longest: else who may write one
 * agent could take another's calls by its name.
 */
export const idNamed = (sql: SqlStorage, name: string): string | null => {
  const [row] = sql
    .exec<{ id: string }>(
      `SELECT id FROM agents WHERE lower(json_extract(summary, '$.name')) = ?1 OR id = ?1 ORDER BY id <> ?1, json_extract(summary, '$.named'), id LIMIT 1`,
      name,
    )
    .toArray()
  return row?.id ?? null
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
