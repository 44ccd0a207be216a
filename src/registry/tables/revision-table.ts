import type { Drift } from '../../card/diff/index.ts'
import { baseTier, type ChangeClass } from '../../card/model/index.ts'
import { isJsonObject, type JsonObject, omit } from '../../json/index.ts'
import { MAX_PAGE_SIZE, MAX_REVISIONS } from '../../limits.ts'
import { groupByEtag, type Representations } from '../kv-format.ts'
import type { Registration } from '../prepare.ts'
import type { RevisionRow, StoredRevision } from '../revision-record.ts'
import { defineTable, deleteRows, insertRow, type Row, selectAll, selectColumn, selectFirst, storeRow } from '../sql.ts'
import { agents, namedSince } from './agent-table.ts'
import { indexAgent, unindexAgent } from './search-index.ts'
import { selectSigning } from './signature-table.ts'
import { matchesFetched, selectLastSeq, serializeDrift } from './source-table.ts'

/** Every registration of an agent, and its removals. */
export const revisions = defineTable(
  'revisions',
  {
    ...{ id: 'text', seq: 'integer', created: 'integer', origin: 'text?', manifest: 'text?' },
    ...{ made_by: 'text', author: 'text', class: 'text?', drift: 'text?' },
  },
  'PRIMARY KEY (id, seq)',
)

/** The canonical cards of a revision, in rows of their own: one row is too small for a manifest and a card. */
export const revision_cards = defineTable(
  'revision_cards',
  { id: 'text', seq: 'integer', tier: 'text', card: 'text' },
  'PRIMARY KEY (id, seq, tier)',
)

/** The documents of an agent's public card, and its call profile. */
export const representations = defineTable(
  'representations',
  { id: 'text', etag: 'text', names: 'text', body: 'blob' },
  'PRIMARY KEY (id, etag)',
)

/** The documents of the extended cards of an agent. */
export const extended = defineTable(
  'extended',
  { id: 'text', tier: 'text', etag: 'text', names: 'text', body: 'blob' },
  'PRIMARY KEY (id, tier, etag)',
)

/** The newest revision of an agent. */
export type Revision = { seq: number; origin: string; modified: number; manifestEtag: string }

/** Returns the newest revision of an agent; undefined for no agent. */
export const selectNewestRevision = (sql: SqlStorage, id: string): Revision | undefined =>
  selectFirst(sql, 'SELECT seq, origin, modified, manifest_etag AS manifestEtag FROM agents WHERE id = ?', id)

/** Returns the date of a change: in a later second than the last one, as `Last-Modified` has no fractions. */
export const changeTime = (before: Pick<Revision, 'modified'> | undefined): number =>
  Math.max(Date.now(), before === undefined ? 0 : (Math.floor(before.modified / 1000) + 1) * 1000)

type StoredRow = Omit<Row<typeof revisions>, 'made_by'> & { by: RevisionRow['by'] }

const ROW_COLUMNS = 'seq, created, made_by AS "by", author, class, drift'

const toRevisionRow = ({ seq, created, by, author, class: changeClass, drift }: StoredRow): RevisionRow => ({
  ...{ seq, created, by, author },
  ...(changeClass !== null && { class: changeClass as ChangeClass }),
  ...(drift !== null && { drift: JSON.parse(drift) as Drift }),
})

/** Returns a page of an agent's revisions before a `seq`, newest first. */
export const selectRevisions = (sql: SqlStorage, id: string, before: number, limit: number): RevisionRow[] => {
  const query = `SELECT ${ROW_COLUMNS} FROM revisions WHERE id = ? AND seq < ? ORDER BY seq DESC LIMIT ?`
  return selectAll<StoredRow>(sql, query, id, before, Math.min(limit, MAX_PAGE_SIZE + 1)).map(toRevisionRow)
}

/** Returns one revision of an agent, which may have been removed since; null for none. */
export const selectRevision = (sql: SqlStorage, id: string, seq: number): StoredRevision | null => {
  const query = `SELECT ${ROW_COLUMNS}, origin, manifest FROM revisions WHERE id = ? AND seq = ?`
  const row = selectFirst<StoredRow>(sql, query, id, seq)
  if (!row) return null
  const { origin, manifest } = row
  const cardsQuery = 'SELECT tier, card FROM revision_cards WHERE id = ? AND seq = ? ORDER BY tier <> ?, tier'
  const cards = selectAll<{ tier: string; card: string }>(sql, cardsQuery, id, seq, baseTier)
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

/** Returns the newest revision of an agent with the signatures of its documents; null for no agent. */
export const selectLatestRevision = (sql: SqlStorage, id: string): StoredRevision | null => {
  const newest = selectNewestRevision(sql, id)
  const revision = newest && selectRevision(sql, id, newest.seq)
  if (!revision) return null
  const signing = selectSigning(sql, id)
  return { ...revision, ...(signing && { signatures: signing.signatures }) }
}

/** Returns the tiers of an agent that have an extended card. */
export const selectTiers = (sql: SqlStorage, id: string): string[] =>
  selectColumn(sql, 'SELECT DISTINCT tier FROM extended WHERE id = ?', id)

/** Returns the entity tags of all that is served of an agent, its manifest included. */
export const etagsOf = (sql: SqlStorage, id: string, { manifestEtag }: Revision): string[] => [
  manifestEtag,
  ...selectColumn<string>(sql, `SELECT etag FROM representations WHERE id = ? AND names <> '["profile"]'`, id),
]

/** Returns all documents of an agent, the call profile included. The tier of the public card is ''. */
export const selectDocuments = (sql: SqlStorage, id: string): Omit<Row<typeof extended>, 'id'>[] => {
  const query = `SELECT '' AS tier, etag, names, body FROM representations WHERE id = ?1
    UNION ALL SELECT tier, etag, names, body FROM extended WHERE id = ?1`
  return selectAll(sql, query, id)
}

type TierDocuments = { tier: string; representations: Representations }

/** Returns the documents of a registration by tier, those of the public card first. */
export const listTiers = ({ representations, profile, extended }: Registration): TierDocuments[] => [
  { tier: PUBLIC, representations: { ...representations, profile } },
  ...extended,
]

/**
 * Returns what differs in a registration from the newest revision; undefined for nothing. If only signatures of this
 * host differ, the agent offers the same, and the registration makes no new revision.
 */
export const findDifference = (sql: SqlStorage, newest: Revision, registration: Registration) => {
  const { id, origin, manifestEtag, source, signing } = registration
  if (origin !== newest.origin || manifestEtag !== newest.manifestEtag) return 'content'
  if (!matchesFetched(sql, id, source?.card)) return 'content'
  const stored = selectDocuments(sql, id).flatMap(({ tier, names, etag, body }) =>
    // One document may have several names, in any order.
    (JSON.parse(names) as string[]).map(name => ({ key: [tier, name], etag, bytes: new Uint8Array(body) })),
  )
  const given = listTiers(registration).flatMap(({ tier, representations }) =>
    Object.entries(representations).map(([name, document]) => ({ key: [tier, name], ...document })),
  )
  type Content = (document: Pick<(typeof given)[number], 'etag' | 'bytes'>) => unknown
  const describe = (documents: typeof given, contentOf: Content): string =>
    documents
      .map(document => JSON.stringify([document.key, contentOf(document)]))
      .sort()
      .join()
  const areEqual = (contentOf: Content): boolean => describe(stored, contentOf) === describe(given, contentOf)
  if (areEqual(({ etag }) => etag)) return undefined
  const own = new Set([selectSigning(sql, id), signing].flatMap(each => Object.values(each?.signatures ?? {})))
  return areEqual(({ bytes }) => withoutOwnSignatures(bytes, own)) ? 'signatures' : 'content'
}

/** Parses a document without its signatures if all of them are this host's `own`; with them if one is of its author. */
export const withoutOwnSignatures = (body: Uint8Array, own: ReadonlySet<string>): JsonObject => {
  const document = JSON.parse(new TextDecoder().decode(body)) as JsonObject
  const { signatures } = document
  const isOwn =
    Array.isArray(signatures) && signatures.every(each => isJsonObject(each) && own.has(String(each.signature)))
  return isOwn ? omit(document, 'signatures') : document
}

/** Stores documents that this host has signed again. This is no revision: the agent offers the same. */
export const storeSigned = (sql: SqlStorage, id: string, tiers: readonly TierDocuments[], modified: number): void => {
  for (const documents of tiers) storeTier(sql, id, documents)
  sql.exec('UPDATE card_signatures SET published_seq = ? WHERE id = ?', selectLastSeq(sql, id) + 1, id)
  sql.exec('UPDATE agents SET modified = ? WHERE id = ?', modified, id)
}

/** Makes a registration the newest revision of its agent. Returns its `seq`. */
export const appendRevision = (sql: SqlStorage, registration: Registration, modified: number): number => {
  const { id, visibility, set = null, origin, manifest, manifestEtag, card, source, actor, changeClass } = registration
  const seq = selectLastSeq(sql, id) + 1
  insertRow(sql, revisions, {
    ...{ id, seq, created: modified, origin, manifest, made_by: source?.by ?? 'manifest', author: actor },
    class: changeClass ?? null,
    drift: source?.drift?.length ? serializeDrift(source.drift) : null,
  })
  const cards = card === undefined ? [] : [{ tier: PUBLIC, card }, ...registration.extended]
  for (const { tier, card } of cards) insertRow(sql, revision_cards, { id, seq, tier, card })
  const { text: _, ...fields } = registration.search
  const named = namedSince(sql, id, registration.summary.name, modified)
  storeRow(sql, agents, {
    ...{ id, seq, visibility, set_name: set, origin, modified, manifest_etag: manifestEtag },
    summary: JSON.stringify({ ...registration.summary, named }),
    search_fields: JSON.stringify(fields),
  })
  indexAgent(sql, registration)
  deleteRows(sql, [representations, extended], id)
  for (const documents of listTiers(registration)) storeTier(sql, id, documents)
  pruneRevisions(sql, id, seq)
  return seq
}

/** Ends an agent with a revision that marks its removal. Returns its `seq`. */
export const appendTombstone = (sql: SqlStorage, id: string, author: string, created: number): number => {
  const seq = selectLastSeq(sql, id) + 1
  // First what makes room: an agent can be removed from a database that is full.
  deleteRows(sql, [representations, extended, agents], id)
  unindexAgent(sql, id)
  insertRow(sql, revisions, { id, seq, created, made_by: 'removal', author })
  pruneRevisions(sql, id, seq)
  return seq
}

/** Stores the documents of one tier in place of all others. */
const storeTier = (sql: SqlStorage, id: string, { tier, representations: documents }: TierDocuments): void => {
  if (tier === PUBLIC) sql.exec('DELETE FROM representations WHERE id = ?', id)
  else sql.exec('DELETE FROM extended WHERE id = ? AND tier = ?', id, tier)
  for (const { names, etag, bytes } of groupByEtag(documents)) {
    const row = { id, etag, names: JSON.stringify(names), body: bytes }
    if (tier === PUBLIC) insertRow(sql, representations, row)
    else insertRow(sql, extended, { ...row, tier })
  }
}

/** Deletes the revisions of an agent beyond the newest ones. `last` is the number of the newest. */
const pruneRevisions = (sql: SqlStorage, id: string, last: number): void => {
  // No number is used twice, so most agents never had that many.
  if (last <= MAX_REVISIONS) return
  const pruned = 'SELECT seq FROM revisions WHERE id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2'
  for (const { name } of [revision_cards, revisions])
    sql.exec(`DELETE FROM ${name} WHERE id = ?1 AND seq <= (${pruned})`, id, MAX_REVISIONS)
}
