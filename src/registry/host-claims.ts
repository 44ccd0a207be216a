import type { Declined, Registration } from './write.ts'

/** The host names of an agent after a registration, and those that it gave up. */
export type Claim = { hosts: string[]; released: string[]; becameRoot: boolean }

type Row = { hostname: string; id: string; automatic: number }

/**
 * Makes the host names of a manifest the agent's. A name belongs to one agent; but the root that an empty registry gave
 * to its first agent by itself yields to whoever claims it.
 */
export const claimHosts = (sql: SqlStorage, registration: Registration, seq: number): Claim | Declined => {
  const { id, visibility, hosts } = registration
  const first = sql.exec<{ agents: number }>('SELECT COUNT(*) AS agents FROM agents').one().agents === 0
  const own = sql.exec<Row>('SELECT hostname, id, automatic FROM hosts WHERE id = ?', id).toArray()
  for (const hostname of hosts) {
    const [holder] = sql.exec<Row>('SELECT hostname, id, automatic FROM hosts WHERE hostname = ?', hostname).toArray()
    if (holder && holder.id !== id && !holder.automatic) return { outcome: 'host-taken', hostname, holder: holder.id }
  }
  const becameRoot = first && visibility === 'public' && !hosts.includes('*')
  const staysRoot = visibility === 'public' && own.some(({ automatic }) => automatic)
  const claimed = [...new Set([...hosts, ...(becameRoot || staysRoot ? ['*'] : [])])]
  const released = own.map(({ hostname }) => hostname).filter(hostname => !claimed.includes(hostname))
  for (const hostname of released) sql.exec('DELETE FROM hosts WHERE hostname = ?', hostname)
  for (const hostname of claimed)
    sql.exec(
      'INSERT OR REPLACE INTO hosts (hostname, id, seq, automatic) VALUES (?, ?, ?, ?)',
      hostname,
      id,
      seq,
      hosts.includes(hostname) ? 0 : 1,
    )
  return { hosts: claimed, released, becameRoot }
}

/** Frees every host name of an agent, and says which those were. */
export const releaseHosts = (sql: SqlStorage, id: string): string[] =>
  sql
    .exec<{ hostname: string }>('DELETE FROM hosts WHERE id = ? RETURNING hostname', id)
    .toArray()
    .map(({ hostname }) => hostname)
