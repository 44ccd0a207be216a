/**
 * Creates the tables of the Registry, the record of truth, and what those of an older version of this host lack: the object
 * does it itself, so that a deployment needs no other step. docs/storage.md says what each holds.
 */
export const createTables = (sql: SqlStorage): void => {
  sql.exec(tables + namesIndex)
  for (const [table, name, type] of laterColumns)
    if (!hasColumn(sql, table, name)) sql.exec(`ALTER TABLE ${table} ADD COLUMN ${name} ${type}`)
}

/** What tables did not have at first. */
const laterColumns = [
  ['revisions', 'made_by', 'TEXT'],
  ['revisions', 'drift', 'TEXT'],
  ['sources', 'asked', 'INTEGER NOT NULL DEFAULT 0'],
] as const

const hasColumn = (sql: SqlStorage, table: string, name: string): boolean =>
  sql.exec(`SELECT 1 FROM pragma_table_info('${table}') WHERE name = ?`, name).toArray().length > 0

const tables = `
  CREATE TABLE IF NOT EXISTS agents (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    visibility TEXT NOT NULL,
    origin TEXT NOT NULL,
    modified INTEGER NOT NULL,
    manifest_etag TEXT NOT NULL,
    summary TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS revisions (
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created INTEGER NOT NULL,
    origin TEXT,
    manifest TEXT,
    made_by TEXT,
    drift TEXT,
    PRIMARY KEY (id, seq)
  );
  CREATE INDEX IF NOT EXISTS revisions_by_time ON revisions (created);
  CREATE TABLE IF NOT EXISTS representations (
    id TEXT NOT NULL,
    etag TEXT NOT NULL,
    names TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id, etag)
  );
  CREATE TABLE IF NOT EXISTS extended (
    id TEXT NOT NULL,
    tier TEXT NOT NULL,
    etag TEXT NOT NULL,
    names TEXT NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (id, tier, etag)
  );
  CREATE TABLE IF NOT EXISTS sources (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    checked INTEGER,
    due INTEGER NOT NULL,
    asked INTEGER NOT NULL DEFAULT 0,
    lease TEXT,
    leased_until INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    failure TEXT,
    told INTEGER NOT NULL,
    told_at INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS sources_by_due ON sources (due);
  CREATE INDEX IF NOT EXISTS sources_by_told ON sources (told_at);
  CREATE TABLE IF NOT EXISTS fetched (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    card TEXT NOT NULL,
    validators TEXT NOT NULL,
    about TEXT,
    PRIMARY KEY (id, name)
  );
  CREATE TABLE IF NOT EXISTS hosts (
    hostname TEXT PRIMARY KEY,
    id TEXT,
    seq INTEGER NOT NULL,
    automatic INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    expires INTEGER,
    record TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS pending (
    key TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0
  );
`

/** So that a name is found without reading every agent. */
export const namesIndex = `
  CREATE INDEX IF NOT EXISTS agents_by_name ON agents (lower(json_extract(summary, '$.name')));
`
