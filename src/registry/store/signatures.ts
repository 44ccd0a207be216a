import { log } from '../../http/index.ts'
import { keySecrets } from '../../variables.ts'
import type { SigningState } from '../records.ts'
import type { Publisher } from './publisher.ts'

/** How long after a change of the signing keys the Registry looks for registrations that were signed just before it. */
const STRAGGLER_MS = 60_000

/** How long after a failure it looks for agents to sign again. */
const RETRY_MS = 60_000

/**
 * Adds the agents whose documents are not signed with the current keys to the outbox, as `sign:` and their ids, which
 * are not KV keys. Sets the alarm for when to look again: when another key begins to sign, and once more a minute
 * later.
 */
export const enqueueStaleSignatures = async (publisher: Publisher, env: Env): Promise<void> => {
  const { signers, checkAt } = await readSigners(env)
  if (checkAt !== undefined) publisher.wakeAt(checkAt)
  try {
    publisher.enqueueMissing(`SELECT 'sign:' || id AS key FROM (${STALE})`, signers)
  } catch (error) {
    // There is no room: the object must still start, to be read and to make room.
    log('error', 'publication-failed', { 'calling_card.key': 'sign:', 'exception.message': String(error) })
    publisher.wakeAt(Date.now() + RETRY_MS)
  }
}

/** Selects the agents that are not signed with the keys `?1`. One whose card was never fetched has no row. */
const STALE = 'SELECT id FROM card_signatures WHERE signers < ?1 OR signers > ?1'

/**
 * Returns how far the agents are signed with the keys that `signers` names. Until KV has the documents, an agent counts
 * as unsigned.
 */
export const selectSigningState = (sql: SqlStorage, signers: string): SigningState => {
  const unpublished = sql
    .exec<{ id: string }>(
      `SELECT substr(key, instr(key, ':') + 1) AS id FROM outbox WHERE key GLOB 'card:*' OR key GLOB 'sign:*'`,
    )
    .toArray()
  const stale = sql.exec<{ id: string }>(STALE, signers).toArray()
  const unsigned = new Set([...stale, ...unpublished].map(({ id }) => id))
  const { resigned } = sql
    .exec<{ resigned: number | null }>('SELECT MAX(resigned) AS resigned FROM card_signatures')
    .one()
  return { unsigned: unsigned.size, resigned: resigned ?? 0 }
}

/** Loads what reads keys only for a host that has some. */
const readSigners = async (env: Env): Promise<{ signers: string; checkAt?: number }> => {
  if (!keySecrets.some(secret => env[secret])) return { signers: '' }
  const { getSigningKeys, nameSigners } = await import('../../signing/signing-keys.ts')
  const now = Date.now()
  const keys = await getSigningKeys(env, now)
  if ('misconfigured' in keys) return { signers: '' }
  const times = [keys.current.signsFrom + STRAGGLER_MS, ...(keys.next ? [keys.next.signsFrom] : [])]
  const coming = times.filter(time => time > now)
  return { signers: nameSigners(keys), ...(coming.length > 0 && { checkAt: Math.min(...coming) }) }
}
