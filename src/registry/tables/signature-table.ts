import { record, timestamp } from '../../card/model/index.ts'
import type { StoredSigning } from '../prepare.ts'
import { defineTable, selectFirst } from '../sql.ts'
import { agentId, json, text } from './column-formats.ts'

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
