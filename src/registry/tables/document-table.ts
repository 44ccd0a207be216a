import * as v from 'valibot'
import { record, representationNames, timestamp } from '../../card/model/index.ts'
import { isJsonObject, type JsonObject, jsonEquals, omit } from '../../json/index.ts'
import { etagsByName, lengthOf, type PackedDocuments, publicTier, unpackDocuments } from '../documents.ts'
import type { Part } from '../kv-format.ts'
import type { StoredSigning } from '../prepare.ts'
import { defineTable, type Row, selectAll, selectColumn, selectFirst, storeRow } from '../sql.ts'
import { agentId, count, etag, json, text, tier } from './column-formats.ts'

/** More than the documents of the largest card. */
const MAX_DOCUMENTS_BYTES = 16 * 1024 * 1024

const documentName = v.picklist(representationNames, 'must be the name of a document')

const Parts = v.pipe(
  v.array(v.tuple([v.pipe(v.array(documentName), v.nonEmpty('must name a document')), etag, count])),
  v.check(parts => lengthOf(parts) <= MAX_DOCUMENTS_BYTES, `must have at most ${MAX_DOCUMENTS_BYTES} bytes`),
)

/** The documents of an agent's public card, and those of its extended cards, in one row for each. */
export const documents = defineTable(
  'documents',
  { id: 'text', tier: 'text', parts: 'text', body: 'blob' },
  {
    keys: 'PRIMARY KEY (id, tier)',
    formats: () => ({
      id: agentId,
      tier,
      parts: json(Parts),
      body: v.pipe(text, v.regex(/^[\w-]*$/, 'must be base64url')),
    }),
  },
)

/** The documents of the card of a tier; that of the public card is ''. */
export type TierDocuments = PackedDocuments & { tier: string }

type DocumentsRow = Pick<Row<typeof documents>, 'parts' | 'body'>

const toDocuments = ({ parts, body }: DocumentsRow): PackedDocuments => ({
  parts: JSON.parse(parts) as Part[],
  body: new Uint8Array(body),
})

/** Returns the documents of a card of an agent; undefined for none. */
export const selectDocuments = (sql: SqlStorage, id: string, tier = publicTier): PackedDocuments | undefined => {
  const query = 'SELECT parts, body FROM documents WHERE id = ? AND tier = ?'
  const row = selectFirst<DocumentsRow>(sql, query, id, tier)
  return row && toDocuments(row)
}

/** Returns the documents of all cards of an agent. */
export const selectAllDocuments = (sql: SqlStorage, id: string): TierDocuments[] => {
  const rows = selectAll<Row<typeof documents>>(sql, 'SELECT * FROM documents WHERE id = ?', id)
  return rows.map(({ tier, ...row }) => ({ tier, ...toDocuments(row) }))
}

/** Returns the tiers of an agent that have an extended card. */
export const selectExtendedTiers = (sql: SqlStorage, id: string): string[] =>
  selectColumn(sql, 'SELECT tier FROM documents WHERE id = ? AND tier <> ?', id, publicTier)

/** Stores the documents of a card in place of any others. */
export const storeDocuments = (sql: SqlStorage, id: string, { tier, parts, body }: TierDocuments): void =>
  storeRow(sql, documents, { id, tier, parts: JSON.stringify(parts), body })

/** Deletes the documents of an agent's card in a tier. */
export const deleteDocuments = (sql: SqlStorage, id: string, tier: string): void => {
  sql.exec('DELETE FROM documents WHERE id = ? AND tier = ?', id, tier)
}

/** Parses a document without its signatures if all of them are this host's `own`; with them if one is of its author. */
export const withoutOwnSignatures = (body: Uint8Array, own: ReadonlySet<string>): JsonObject => {
  const document = JSON.parse(new TextDecoder().decode(body)) as JsonObject
  const { signatures } = document
  const isOwn =
    Array.isArray(signatures) && signatures.every(each => isJsonObject(each) && own.has(String(each.signature)))
  return isOwn ? omit(document, 'signatures') : document
}

/**
 * Returns what differs in the documents of cards from those that an agent has; undefined for nothing. `own` are the
 * signatures of this host: where only these differ, the agent offers the same.
 */
export const compareDocuments = (
  stored: readonly TierDocuments[],
  given: readonly TierDocuments[],
  own: ReadonlySet<string>,
): 'signatures' | 'content' | undefined => {
  const pairs = given.map(card => ({ card, before: stored.find(({ tier }) => tier === card.tier) }))
  const changed = pairs.filter(
    // One document may have several names, in any order.
    ({ card, before }) => !before || !jsonEquals(etagsByName(card.parts), etagsByName(before.parts)),
  )
  if (changed.length === 0 && stored.length === given.length) return undefined
  const areSame = ({ card, before }: (typeof pairs)[number]) =>
    before !== undefined && jsonEquals(toContents(card, own), toContents(before, own))
  return stored.length === given.length && changed.every(areSame) ? 'signatures' : 'content'
}

/** Returns the documents of a card by name, without signatures of this host. */
const toContents = (card: PackedDocuments, own: ReadonlySet<string>): JsonObject =>
  Object.fromEntries(
    Object.entries(unpackDocuments(card)).map(([name, { bytes }]) => [name, withoutOwnSignatures(bytes, own)]),
  )

/** The signatures of this host in the documents of an agent. */
export const card_signatures = defineTable(
  'card_signatures',
  { id: 'text', signers: 'text', signatures: 'text', resigned: 'integer' },
  {
    keys: 'PRIMARY KEY (id)',
    indexes: { card_signatures_by_signers: '(signers)' },
    formats: () => ({ id: agentId, signers: text, signatures: json(record(text)), resigned: timestamp }),
  },
)

/** Returns how an agent's documents are signed; undefined where that was never decided. */
export const selectSigning = (sql: SqlStorage, id: string): StoredSigning | undefined => {
  const query = 'SELECT signers, signatures FROM card_signatures WHERE id = ?'
  const row = selectFirst<{ signers: string; signatures: string }>(sql, query, id)
  return row && { ...row, signatures: JSON.parse(row.signatures) as StoredSigning['signatures'] }
}

/** Stores how the documents of an agent are signed, and when other keys have begun to sign them; 0 for never. */
export const saveSigning = (sql: SqlStorage, id: string, { signers, signatures }: StoredSigning): void => {
  const query = `INSERT INTO card_signatures (id, signers, signatures, resigned) VALUES (?1, ?2, ?3, 0)
    ON CONFLICT (id) DO UPDATE SET signers = ?2, signatures = ?3, resigned = iif(signers = ?2, resigned, ?4)
    WHERE signers <> ?2 OR signatures <> ?3`
  sql.exec(query, id, signers, JSON.stringify(signatures), Date.now())
}

/** The SQL for whether this host signs the documents of the agent in a row of `agents`: 1 or 0. */
export const IS_SIGNED_BY_HOST =
  "EXISTS (SELECT 1 FROM card_signatures AS s WHERE s.id = agents.id AND s.signatures <> '{}')"
