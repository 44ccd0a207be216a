import type { SigningState } from '../records.ts'

/** Returns the key in the outbox for an agent whose documents are to be signed again. It is none of KV's keys. */
const signKey = (id: string): string => `sign:${id}`

/** How long after a change of the signing keys the Registry looks for registrations that were signed just before it. */
const STRAGGLER_MS = 60_000

/**
 * Lists the agents whose documents are not signed with the keys of now as keys of the outbox. `checkAt` is when to look again, in ms since
 * 1970: when another key begins to sign, and once more a minute later.
 */
export const findStaleSignatures = async (sql: SqlStorage, env: Env): Promise<{ keys: string[]; checkAt?: number }> => {
  const { signers, checkAt } = await readSigners(env)
  return { keys: selectStale(sql, signers).map(signKey), ...(checkAt !== undefined && { checkAt }) }
}

const selectStale = (sql: SqlStorage, signers: string): string[] =>
  sql
    .exec<{ id: string }>(
      `SELECT id FROM card_signatures WHERE signers < ?1 OR signers > ?1
        UNION ALL SELECT id FROM agents WHERE ?1 <> '' AND id NOT IN (SELECT id FROM card_signatures)`,
      signers,
    )
    .toArray()
    .map(({ id }) => id)

/** Returns how far the agents are signed with the keys that `signers` names. Until KV has the documents, an agent counts as unsigned. */
export const selectSigningState = (sql: SqlStorage, signers: string): SigningState => {
  const unpublished = sql
    .exec<{ id: string }>(
      `SELECT substr(key, instr(key, ':') + 1) AS id FROM outbox WHERE key GLOB 'card:*' OR key GLOB 'sign:*'`,
    )
    .toArray()
  const unsigned = new Set([...selectStale(sql, signers), ...unpublished.map(({ id }) => id)])
  const { resigned } = sql
    .exec<{ resigned: number | null }>('SELECT MAX(resigned) AS resigned FROM card_signatures')
    .one()
  return { unsigned: unsigned.size, resigned: resigned ?? 0 }
}

/** Loads what reads keys only for a host that has some. */
const readSigners = async (env: Env): Promise<{ signers: string; checkAt?: number }> => {
  if (!env.SIGNING_KEY && !env.SIGNING_KEY_2) return { signers: '' }
  const { getSigningKeys, nameSigners } = await import('../../signing/keys.ts')
  const now = Date.now()
  const keys = await getSigningKeys(env, now)
  if ('misconfigured' in keys) return { signers: '' }
  const times = [keys.current.signsFrom + STRAGGLER_MS, ...(keys.next ? [keys.next.signsFrom] : [])]
  const coming = times.filter(time => time > now)
  return { signers: nameSigners(keys), ...(coming.length > 0 && { checkAt: Math.min(...coming) }) }
}
