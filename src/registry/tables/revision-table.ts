import * as v from 'valibot'
import type { Drift } from '../../card/diff/index.ts'
import { AgentCard, baseTier, type ChangeClass, httpUrl, jsonObject, timestamp } from '../../card/model/index.ts'
import { MAX_PAGE_SIZE, MAX_REVISIONS } from '../../limits.ts'
import type { RevisionRow, StoredRevision } from '../compare.ts'
import { publicTier } from '../documents.ts'
import type { Registration } from '../prepare.ts'
import { defineTable, deleteRows, insertRow, type Row, selectAll, selectFirst, selectValue } from '../sql.ts'
import { type Agent, agents, isListed, nextPublication, selectAgent, storeAgent, versionOf } from './agent-table.ts'
import { changeClass, json, ofRevision, text, tier } from './column-formats.ts'
import { observations } from './conformance-tables.ts'
import { documents } from './document-table.ts'
import { indexAgent, unindexAgent } from './search-index.ts'
import { StoredDrift, serializeDrift } from './source-table.ts'

/** Every registration of an agent, and its removals. */
export const revisions = defineTable(
  'revisions',
  {
    ...{ id: 'text', seq: 'integer', created: 'integer', origin: 'text?', manifest: 'text?' },
    ...{ made_by: 'text', author: 'text', class: 'text?', drift: 'text?' },
  },
  {
    keys: 'PRIMARY KEY (id, seq)',
    formats: () => ({
      // A manifest may be invalid by the rules of today.
      ...{ ...ofRevision, created: timestamp, origin: httpUrl, manifest: json(jsonObject()), author: text },
      made_by: v.picklist(['manifest', 'fetch', 'removal'], 'must be manifest, fetch or removal'),
      ...{ class: changeClass, drift: json(StoredDrift) },
    }),
    check: v.check(({ made_by, manifest, origin }) => {
      const isRemoval = made_by === 'removal'
      return (manifest === null) === isRemoval && (origin === null) === isRemoval
    }, 'must have a manifest and an origin, unless it is a removal'),
  },
)

/** The canonical cards of a revision, in rows of their own: one row is too small for a manifest and a card. */
export const revision_cards = defineTable(
  'revision_cards',
  { id: 'text', seq: 'integer', tier: 'text', card: 'text' },
  { keys: 'PRIMARY KEY (id, seq, tier)', formats: () => ({ ...ofRevision, tier, card: json(AgentCard) }) },
)

/** Returns the date of a change: in a later second than the last one, as `Last-Modified` has no fractions. */
export const changeTime = (before: Pick<Agent, 'modified'> | undefined): number =>
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
  return row ? toStored(sql, id, row) : null
}

/** Returns the newest revision of an agent with the signatures of its documents; null for no agent. */
export const selectLatestRevision = (sql: SqlStorage, id: string): StoredRevision | null => {
  const query = `SELECT ${ROW_COLUMNS}, revisions.origin, manifest, signatures
    FROM agents JOIN revisions USING (id, seq) LEFT JOIN card_signatures USING (id) WHERE id = ?`
  const row = selectFirst<StoredRow & { signatures: string | null }>(sql, query, id)
  if (!row) return null
  const { signatures } = row
  return { ...toStored(sql, id, row), ...(signatures !== null && { signatures: JSON.parse(signatures) }) }
}

const toStored = (sql: SqlStorage, id: string, row: StoredRow): StoredRevision => {
  const { origin, manifest } = row
  const query = 'SELECT tier, card FROM revision_cards WHERE id = ? AND seq = ? ORDER BY tier <> ?, tier'
  const cards = selectAll<{ tier: string; card: string }>(sql, query, id, row.seq, baseTier)
  const publicCard = cards.find(({ tier }) => tier === publicTier)
  return {
    ...toRevisionRow(row),
    ...(origin !== null && { origin }),
    ...(manifest !== null && { manifest }),
    ...(publicCard && { card: publicCard.card }),
    tiers: cards.filter(({ tier }) => tier !== publicTier),
  }
}

/** Makes a registration, without the documents of its cards, the newest revision after `before`. Returns its `seq`. */
export const appendRevision = (
  sql: SqlStorage,
  registration: Registration,
  modified: number,
  before = selectAgent(sql, registration.id),
): number => {
  const { id, set, origin, manifest, cards, source, actor, changeClass } = registration
  const seq = nextPublication(sql, id, before)
  insertRow(sql, revisions, {
    ...{ id, seq, created: modified, origin, manifest, made_by: source?.by ?? 'manifest', author: actor },
    class: changeClass ?? null,
    drift: source?.drift?.length ? serializeDrift(source.drift) : null,
  })
  for (const { tier, card } of cards) insertRow(sql, revision_cards, { id, seq, tier, card })
  // Another version of the agent may behave differently.
  if (before && versionOf(before) !== registration.summary.version) deleteRows(sql, [observations], id)
  storeAgent(sql, registration, { before, seq, modified })
  const listed = isListed(registration)
  indexAgent(sql, { ...registration, set, listed, wasListed: before ? before.listed === 1 : listed })
  pruneRevisions(sql, id, seq)
  return seq
}

/** Ends an agent with a revision that marks its removal. Returns its `seq`. */
export const appendTombstone = (sql: SqlStorage, before: Agent, author: string, created: number): number => {
  const { id } = before
  const seq = nextPublication(sql, id, before)
  // First what makes room: an agent can be removed from a database that is full.
  deleteRows(sql, [documents, agents], id)
  unindexAgent(sql, id)
  insertRow(sql, revisions, { id, seq, created, made_by: 'removal', author })
  pruneRevisions(sql, id, seq)
  return seq
}

/** Deletes the revisions of an agent beyond the newest ones. `last` is the number of the newest. */
const pruneRevisions = (sql: SqlStorage, id: string, last: number): void => {
  // No number is used twice, so most agents never had that many.
  if (last <= MAX_REVISIONS) return
  const query = 'SELECT seq FROM revisions WHERE id = ? ORDER BY seq DESC LIMIT 1 OFFSET ?'
  const pruned = selectValue<number>(sql, query, id, MAX_REVISIONS)
  if (pruned === undefined) return
  for (const { name } of [revision_cards, revisions])
    sql.exec(`DELETE FROM ${name} WHERE id = ? AND seq <= ?`, id, pruned)
}
