/** Returns the key in the outbox for an agent whose documents are to be signed again. It is none of KV's keys. */
const signKey = (id: string): string => `sign:${id}`

/**
 * Lists the agents whose documents are not signed with the keys of now as keys of the outbox. `changesAt` is when another key begins to
 * sign, in ms since 1970.
 */
export const findStaleSignatures = async (
  sql: SqlStorage,
  env: Env,
): Promise<{ keys: string[]; changesAt?: number }> => {
  const { signers, changesAt } = await readSigners(env)
  const stale = sql.exec<{ id: string }>(
    `SELECT id FROM card_signatures WHERE signers < ?1 OR signers > ?1
      UNION ALL SELECT id FROM agents WHERE ?1 <> '' AND id NOT IN (SELECT id FROM card_signatures)`,
    signers,
  )
  const keys = stale.toArray().map(({ id }) => signKey(id))
  return { keys, ...(changesAt !== undefined && { changesAt }) }
}

/** Returns how many agents wait for being signed with the keys of now. */
export const countUnsigned = (sql: SqlStorage): number =>
  sql.exec<{ count: number }>(`SELECT COUNT(*) AS count FROM outbox WHERE key GLOB 'sign:*'`).one().count

/** Loads what reads keys only for a host that has some. */
const readSigners = async (env: Env): Promise<{ signers: string; changesAt?: number }> => {
  if (!env.SIGNING_KEY && !env.SIGNING_KEY_2) return { signers: '' }
  const { getSigningKeys, nameSigners } = await import('../../signing/keys.ts')
  const keys = await getSigningKeys(env)
  return { signers: nameSigners(keys), ...('next' in keys && keys.next && { changesAt: keys.next.signsFrom }) }
}
