/**
 * Creates the tables of the Registry. The object does it itself, so that a deployment needs no further step. docs/storage.md
 * describes every column.
 */
export const createTables = (sql: SqlStorage): void => {
  // No import survives a restart of the object. One that was cut off may have staged gigabytes, and has the indexes.
  const staged = sql.exec<{ name: string }>(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'staged_*'",
  )
  for (const { name } of staged.toArray()) sql.exec(`DROP TABLE ${name}`)
  sql.exec(TABLES)
}

/**
 * Creates an empty table beside each of these, as `staged_` and its name, and moves its indexes there. `replaceTables`
 * puts it in the place of the other, `createTables` drops it and restores the indexes.
 */
export const createStagedTables = (sql: SqlStorage, tables: readonly string[]): void => {
  for (const statement of TABLES.split(';')) {
    const [, index, table = ''] =
      /CREATE (?:INDEX IF NOT EXISTS (\w+) ON|TABLE IF NOT EXISTS) (\w+)/.exec(statement) ?? []
    if (!tables.includes(table)) continue
    if (index !== undefined) sql.exec(`DROP INDEX ${index}`)
    sql.exec(statement.replace(` ${table} (`, ` staged_${table} (`))
  }
}

/** Puts staged tables in the places of the others, which takes no longer for many rows. */
export const replaceTables = (sql: SqlStorage, tables: readonly string[]): void => {
  for (const table of tables) {
    sql.exec(`DROP TABLE ${table}`)
    sql.exec(`ALTER TABLE staged_${table} RENAME TO ${table}`)
  }
}

const TABLES = `
  CREATE TABLE IF NOT EXISTS agents (
    id TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    visibility TEXT NOT NULL,
    set_name TEXT,
    origin TEXT NOT NULL,
    modified INTEGER NOT NULL,
    manifest_etag TEXT NOT NULL,
    summary TEXT NOT NULL,
    search_fields TEXT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS agents_by_name ON agents (lower(json_extract(summary, '$.name')));
  CREATE INDEX IF NOT EXISTS agents_by_origin ON agents (origin, id);
  CREATE INDEX IF NOT EXISTS agents_by_visibility ON agents (visibility, id);
  CREATE INDEX IF NOT EXISTS agents_by_set ON agents (set_name, id);
  CREATE TABLE IF NOT EXISTS search_documents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    listed INTEGER NOT NULL,
    terms TEXT NOT NULL
  );
  CREATE VIRTUAL TABLE IF NOT EXISTS search USING fts5(
    name, description, skills, tags, details, provider, terms,
    content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
  );
  CREATE VIRTUAL TABLE IF NOT EXISTS internal_search USING fts5(
    name, description, skills, tags, details, provider, terms,
    content = '', contentless_delete = 1, tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
  );
  CREATE TABLE IF NOT EXISTS revisions (
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    created INTEGER NOT NULL,
    origin TEXT,
    manifest TEXT,
    made_by TEXT NOT NULL,
    author TEXT NOT NULL,
    class TEXT,
    drift TEXT,
    PRIMARY KEY (id, seq)
  );
  CREATE TABLE IF NOT EXISTS revision_cards (
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    tier TEXT NOT NULL,
    card TEXT NOT NULL,
    PRIMARY KEY (id, seq, tier)
  );
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
  CREATE TABLE IF NOT EXISTS card_signatures (
    id TEXT PRIMARY KEY,
    signers TEXT NOT NULL,
    signatures TEXT NOT NULL,
    published_seq INTEGER NOT NULL,
    resigned INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS card_signatures_by_signers ON card_signatures (signers);
  CREATE TABLE IF NOT EXISTS sources (
    id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    checked INTEGER,
    due INTEGER NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    failure TEXT,
    published_seq INTEGER NOT NULL
  );
  CREATE INDEX IF NOT EXISTS failing_sources ON sources (failure) WHERE failure IS NOT NULL;
  CREATE TABLE IF NOT EXISTS fetched (
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    card TEXT NOT NULL,
    validators TEXT NOT NULL,
    review TEXT,
    PRIMARY KEY (id, name)
  );
  CREATE TABLE IF NOT EXISTS hosts (
    hostname TEXT PRIMARY KEY,
    id TEXT,
    seq INTEGER NOT NULL,
    automatic INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS hosts_by_agent ON hosts (id);
  CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    expires INTEGER,
    record TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS observations (
    id TEXT NOT NULL,
    day INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY (id, day)
  );
  CREATE TABLE IF NOT EXISTS receipts (
    id TEXT PRIMARY KEY,
    checked INTEGER NOT NULL,
    receipt TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS changes (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    public_kind TEXT,
    class TEXT,
    at INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    time TEXT AS (json_extract(entry, '$.time')),
    actor TEXT AS (json_extract(entry, '$.actor')),
    agent TEXT AS (json_extract(entry, '$.agent')),
    what TEXT AS (json_extract(entry, '$.what'))
  );
  CREATE INDEX IF NOT EXISTS audit_by_actor ON audit (actor);
  CREATE INDEX IF NOT EXISTS audit_by_agent ON audit (agent) WHERE agent IS NOT NULL;
  CREATE INDEX IF NOT EXISTS audit_by_event ON audit (what);
  CREATE TABLE IF NOT EXISTS refusals (
    actor TEXT PRIMARY KEY,
    hour INTEGER NOT NULL,
    recorded INTEGER NOT NULL,
    omitted INTEGER NOT NULL
  );
  CREATE TABLE IF NOT EXISTS outbox (
    key TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX IF NOT EXISTS outbox_by_due ON outbox (due);
`
