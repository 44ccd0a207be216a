/**
 * The tables of the Registry, the record of truth; created by the object itself, so that a deployment needs no other step.
 * docs/storage.md says what each holds.
 */
export const tables = `
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
