import type { ChangeClass, Drift } from '../../card/diff/index.ts'
import { baseTier } from '../../card/model/index.ts'
import { isJsonObject, type JsonObject, omit } from '../../json/index.ts'
import { MAX_PAGE_SIZE, MAX_REVISIONS } from '../../limits.ts'
import { groupByEtag, type Representations } from '../kv-format.ts'
import type { Extended, Registration, RevisionRow, SourceRecord, StoredRevision } from '../records.ts'
import { matchesFetched, selectLastSeq, selectSigning, serializeDrift } from '../tables/index.ts'
import { namedSince } from './agents.ts'
import { indexAgent, unindexAgent } from './search.ts'

/** What is registered of an agent now. */
export type Revision = { seq: number; origin: string; modified: number; manifestEtag: string }

/** Returns the newest revision of an agent; undefined for no agent. */
export const selectNewestRevision = (sql: SqlStorage, id: string): Revision | undefined =>
  sql
    .exec<Revision>('SELECT seq, origin, modified, manifest_etag AS manifestEtag FROM agents WHERE id = ?', id)
    .toArray()[0]

/**
 * Returns the date of a change of an agent: in a later second than the last one, as `Last-Modified` has no fractions.
 */
export const changeTime = (before: Revision | undefined): number =>
  Math.max(Date.now(), before === undefined ? 0 : (Math.floor(before.modified / 1000) + 1) * 1000)

type Row = {
  seq: number
  created: number
  by: RevisionRow['by']
  author: string
  class: ChangeClass | null
  drift: string | null
}

const ROW_COLUMNS = 'seq, created, made_by AS "by", author, class, drift'

const toRevisionRow = ({ seq, created, by, author, class: changeClass, drift }: Row): RevisionRow => ({
  ...{ seq, created, by, author },
  ...(changeClass !== null && { class: changeClass }),
  ...(drift !== null && { drift: JSON.parse(drift) as Drift }),
})

/** Returns a page of an agent's revisions before a `seq`, newest first. */
export const selectRevisions = (sql: SqlStorage, id: string, before: number, limit: number): RevisionRow[] =>
  sql
    .exec<Row>(
      `SELECT ${ROW_COLUMNS} FROM revisions WHERE id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
      ...[id, before, Math.min(limit, MAX_PAGE_SIZE + 1)],
    )
    .toArray()
    .map(toRevisionRow)

/** Returns one revision of an agent, which may have been removed since; null for none. */
export const selectRevision = (sql: SqlStorage, id: string, seq: number): StoredRevision | null => {
  const [row] = sql
    .exec<Row & { origin: string | null; manifest: string | null }>(
      `SELECT ${ROW_COLUMNS}, origin, manifest FROM revisions WHERE id = ? AND seq = ?`,
      ...[id, seq],
    )
    .toArray()
  if (!row) return null
  const { origin, manifest } = row
  const cards = sql
    .exec<{ tier: string; card: string }>(
      'SELECT tier, card FROM revision_cards WHERE id = ? AND seq = ? ORDER BY tier <> ?, tier',
      ...[id, seq, baseTier],
    )
    .toArray()
  const publicCard = cards.find(({ tier }) => tier === PUBLIC)
  return {
    ...toRevisionRow(row),
    ...(origin !== null && { origin }),
    ...(manifest !== null && { manifest }),
    ...(publicCard && { card: publicCard.card }),
    tiers: cards.filter(({ tier }) => tier !== PUBLIC),
  }
}

/** The tier of the public card, next to those of the extended cards. */
const PUBLIC = ''

/** Returns the newest revision of an agent as `selectRevision` does, with the signatures of its documents; null for no agent. */
export const selectLatestRevision = (sql: SqlStorage, id: string): StoredRevision | null => {
  const newest = selectNewestRevision(sql, id)
  const revision = newest && selectRevision(sql, id, newest.seq)
  if (!revision) return null
  const signing = selectSigning(sql, id)
  return { ...revision, ...(signing && { signatures: signing.signatures }) }
}

/** Returns what made a revision that is no removal. */
export const madeBy = (sql: SqlStorage, id: string, seq: number): SourceRecord['by'] =>
  sql.exec<{ by: SourceRecord['by'] }>('SELECT made_by AS "by" FROM revisions WHERE id = ? AND seq = ?', id, seq).one()
    .by

/** Returns the tiers of an agent that have an extended card. */
export const selectTiers = (sql: SqlStorage, id: string): string[] =>
  sql
    .exec<{ tier: string }>('SELECT DISTINCT tier FROM extended WHERE id = ?', id)
    .toArray()
    .map(({ tier }) => tier)

/** Returns the entity tags of all that is served of an agent, its manifest included. */
export const etagsOf = (sql: SqlStorage, id: string, { manifestEtag }: Revision): string[] => {
  const rows = sql
    .exec<{ etag: string }>(`SELECT etag FROM representations WHERE id = ? AND names <> '["profile"]'`, id)
    .toArray()
  return [manifestEtag, ...rows.map(({ etag }) => etag)]
}

/** A document of an agent: of a tier, or with '' of its public card. */
type DocumentRow = { tier: string; etag: string; names: string; body: ArrayBuffer }

/** Returns all documents of an agent, the call profile included. */
export const selectDocuments = (sql: SqlStorage, id: string): DocumentRow[] =>
  sql
    .exec<DocumentRow>(
      `SELECT '' AS tier, etag, names, body FROM representations WHERE id = ?1
        UNION ALL SELECT tier, etag, names, body FROM extended WHERE id = ?1`,
      id,
    )
    .toArray()

/** Returns the documents of a registration by tier, those of the public card first. */
export const listTiers = ({
  representations,
  profile,
  extended,
}: Registration): { tier: string; representations: Representations }[] => [
  { tier: PUBLIC, representations: { ...representations, profile } },
  ...extended,
]

/**
 * Returns how a registration differs from the newest revision; undefined if it is equal. Signatures of this host depend
 * on its keys: if only they differ, what the agent offers is the same, and the registration makes no new revision.
 */
export const findDifference = (
  sql: SqlStorage,
  newest: Revision,
  registration: Registration,
): 'content' | 'signatures' | undefined => {
  const { id, origin, manifestEtag, source, signing } = registration
  if (origin !== newest.origin || manifestEtag !== newest.manifestEtag) return 'content'
  if (!matchesFetched(sql, id, source?.card)) return 'content'
  const stored = selectDocuments(sql, id).flatMap(({ names, body, ...document }) =>
    // One document may have several names, in any order.
    (JSON.parse(names) as string[]).map((name): NamedDocument => ({ ...document, name, body: new Uint8Array(body) })),
  )
  const given = listTiers(registration).flatMap(({ tier, representations }) =>
    Object.entries(representations).map(
      ([name, { etag, bytes }]): NamedDocument => ({ tier, name, etag, body: bytes }),
    ),
  )
  const describe = (documents: readonly NamedDocument[], contentOf: (document: NamedDocument) => unknown): string =>
    documents
      .map(document => JSON.stringify([document.tier, document.name, contentOf(document)]))
      .sort()
      .join()
  const areEqual = (contentOf: (document: NamedDocument) => unknown): boolean =>
    describe(stored, contentOf) === describe(given, contentOf)
  if (areEqual(({ etag }) => etag)) return undefined
  const own = new Set([selectSigning(sql, id), signing].flatMap(each => Object.values(each?.signatures ?? {})))
  return areEqual(({ body }) => withoutOwnSignatures(body, own)) ? 'signatures' : 'content'
}

type NamedDocument = { tier: string; name: string; etag: string; body: Uint8Array }

/** Parses a document without its signatures if all of them are this host's `own`; with them if one is of its author. */
export const withoutOwnSignatures = (body: Uint8Array, own: ReadonlySet<string>): JsonObject => {
  const document = JSON.parse(new TextDecoder().decode(body)) as JsonObject
  const { signatures } = document
  const isOwn =
    Array.isArray(signatures) && signatures.every(each => isJsonObject(each) && own.has(String(each.signature)))
  return isOwn ? omit(document, 'signatures') : document
}

/** Stores documents that this host has signed again. This is no revision: what the agent offers is the same. */
export const storeSigned = (
  sql: SqlStorage,
  id: string,
  tiers: readonly { tier: string; representations: Representations }[],
  modified: number,
): void => {
  for (const { tier, representations } of tiers)
    if (tier === PUBLIC) storeRepresentations(sql, id, representations)
    else storeTier(sql, id, tier, representations)
  sql.exec('UPDATE card_signatures SET published_seq = ? WHERE id = ?', selectLastSeq(sql, id) + 1, id)
  sql.exec('UPDATE agents SET modified = ? WHERE id = ?', modified, id)
}

/** Makes a registration the newest revision of its agent. Returns its `seq`. */
export const appendRevision = (sql: SqlStorage, registration: Registration, modified: number): number => {
  const { id, visibility, set = null, origin, manifest, card, source } = registration
  const seq = selectLastSeq(sql, id) + 1
  const summary = { ...registration.summary, named: namedSince(sql, id, registration.summary.name, modified) }
  sql.exec(
    'INSERT INTO revisions (id, seq, created, origin, manifest, made_by, author, class, drift) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ...[
      id,
      seq,
      modified,
      origin,
      manifest,
      source?.by ?? 'manifest',
      registration.actor,
      registration.changeClass ?? null,
    ],
    source?.drift?.length ? serializeDrift(source.drift) : null,
  )
  // Rows of their own, as one row is too small for a manifest and a card.
  const cards = card === undefined ? [] : [{ tier: PUBLIC, card }, ...registration.extended]
  for (const { tier, card } of cards)
    sql.exec('INSERT INTO revision_cards (id, seq, tier, card) VALUES (?, ?, ?, ?)', id, seq, tier, card)
  const { text: _, ...fields } = registration.search
  sql.exec(
    `INSERT OR REPLACE INTO agents (id, seq, visibility, set_name, origin, modified, manifest_etag, summary, search_fields)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, seq, visibility, set, origin, modified, registration.manifestEtag],
    ...[JSON.stringify(summary), JSON.stringify(fields)],
  )
  indexAgent(sql, registration)
  storeRepresentations(sql, id, { ...registration.representations, profile: registration.profile })
  storeExtended(sql, id, registration.extended)
  pruneRevisions(sql, id, seq)
  return seq
}

/** Ends an agent with a revision that marks its removal. Returns its `seq`. */
export const appendTombstone = (sql: SqlStorage, id: string, author: string, created: number): number => {
  const seq = selectLastSeq(sql, id) + 1
  // First what makes room: an agent can be removed from a database that is full.
  storeRepresentations(sql, id, {})
  storeExtended(sql, id, [])
  sql.exec('DELETE FROM agents WHERE id = ?', id)
  unindexAgent(sql, id)
  sql.exec(
    `INSERT INTO revisions (id, seq, created, made_by, author) VALUES (?, ?, ?, 'removal', ?)`,
    ...[id, seq, created, author],
  )
  pruneRevisions(sql, id, seq)
  return seq
}

/** Stores the documents of an agent's public card in place of all others. */
const storeRepresentations = (sql: SqlStorage, id: string, representations: Representations): void => {
  sql.exec('DELETE FROM representations WHERE id = ?', id)
  for (const { names, etag, bytes } of groupByEtag(representations))
    sql.exec(
      'INSERT INTO representations (id, etag, names, body) VALUES (?, ?, ?, ?)',
      ...[id, etag, JSON.stringify(names), bytes],
    )
}

const storeExtended = (sql: SqlStorage, id: string, extended: readonly Extended[]): void => {
  sql.exec('DELETE FROM extended WHERE id = ?', id)
  for (const { tier, representations } of extended) storeTier(sql, id, tier, representations)
}

/** Stores the documents of one tier in place of all others. */
const storeTier = (sql: SqlStorage, id: string, tier: string, representations: Representations): void => {
  sql.exec('DELETE FROM extended WHERE id = ? AND tier = ?', id, tier)
  for (const { names, etag, bytes } of groupByEtag(representations))
    sql.exec(
      'INSERT INTO extended (id, tier, etag, names, body) VALUES (?, ?, ?, ?, ?)',
      ...[id, tier, etag, JSON.stringify(names), bytes],
    )
}

/** Deletes the revisions of an agent beyond the newest ones. `last` is the number of the newest. */
const pruneRevisions = (sql: SqlStorage, id: string, last: number): void => {
  // No number is used twice, so most agents never had that many.
  if (last <= MAX_REVISIONS) return
  const [pruned] = sql
    .exec<{ seq: number }>(
      'SELECT seq FROM revisions WHERE id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?',
      id,
      MAX_REVISIONS,
    )
    .toArray()
  if (!pruned) return
  for (const table of ['revision_cards', 'revisions'])
    sql.exec(`DELETE FROM ${table} WHERE id = ? AND seq <= ?`, id, pruned.seq)
}
