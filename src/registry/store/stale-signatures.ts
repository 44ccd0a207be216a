import { log } from '../../http/index.ts'
import { keySecrets } from '../../variables.ts'
import { selectColumn, selectValue } from '../sql.ts'
import type { Publisher } from './publisher.ts'

/** The pause after a change of the keys, or a failure, until the Registry looks for agents to sign again. */
const RECHECK_MS = 60_000

/** The number of agents that wait for new signatures, and when other keys last began to sign one, in ms since 1970. */
export type SigningState = { unsigned: number; resigned: number }

/**
 * Adds the agents whose documents are not signed with the current keys to the outbox, as `sign:` and their ids, which
 * are not KV keys. Sets the alarm for when another key begins to sign, and once more a minute later.
 */
export const enqueueStaleSignatures = async (publisher: Publisher, env: Env): Promise<void> => {
  const { signers, checkAt } = await readSigners(env)
  if (checkAt !== undefined) publisher.wakeAt(checkAt)
  try {
    publisher.enqueueMissing(`SELECT 'sign:' || id AS key FROM (${STALE})`, signers)
  } catch (error) {
    // There is no room: the object must still start, to be read and to make room.
    log('error', 'publication-failed', { 'calling_card.key': 'sign:', 'exception.message': String(error) })
    publisher.wakeAt(Date.now() + RECHECK_MS)
  }
}

/** Selects the agents that are not signed with the keys `?1`. One whose card was never fetched has nothing to sign. */
const STALE = `SELECT id FROM card_signatures WHERE signers < ?1 OR signers > ?1
  UNION ALL SELECT id FROM agents WHERE ?1 <> '' AND id NOT IN (SELECT id FROM card_signatures)
    AND id IN (SELECT id FROM documents)`

/** Counts the agents that are not signed with the keys `signers`, or whose documents are not in KV yet. */
export const selectSigningState = (sql: SqlStorage, signers: string): SigningState => {
  const unpublished = "SELECT substr(key, instr(key, ':') + 1) FROM outbox WHERE key GLOB 'card:*' OR key GLOB 'sign:*'"
  const ids = selectColumn<string>(sql, `${STALE} UNION ${unpublished}`, signers)
  const resigned = selectValue<number | null>(sql, 'SELECT MAX(resigned) FROM card_signatures')
  return { unsigned: ids.length, resigned: resigned ?? 0 }
}

/** Loads what reads keys only for a host that has some. */
const readSigners = async (env: Env): Promise<{ signers: string; checkAt?: number }> => {
  if (!keySecrets.some(secret => env[secret])) return { signers: '' }
  const { getSigningKeys, nameSigners } = await import('../../signing/signing-keys.ts')
  const now = Date.now()
  const keys = await getSigningKeys(env, now)
  if ('misconfigured' in keys) return { signers: '' }
  const times = [keys.current.signsFrom + RECHECK_MS, ...(keys.next ? [keys.next.signsFrom] : [])]
  const coming = times.filter(time => time > now)
  return { signers: nameSigners(keys), ...(coming.length > 0 && { checkAt: Math.min(...coming) }) }
}
