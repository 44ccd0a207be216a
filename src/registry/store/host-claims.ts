import type { HostChange, HostChanges, Registration, Rejection } from '../records.ts'

type Row = { hostname: string; id: string | null; seq: number; automatic: number }

const rowOf = (sql: SqlStorage, hostname: string): Row | undefined =>
  sql.exec<Row>('SELECT hostname, id, seq, automatic FROM hosts WHERE hostname = ?', hostname).toArray()[0]

/** The names that an agent holds. */
const held = (sql: SqlStorage, id: string): Row[] =>
  sql.exec<Row>('SELECT hostname, id, seq, automatic FROM hosts WHERE id = ?', id).toArray()

/**
 * Makes the host names of a manifest the agent's; only those that are so already, where `mayClaim` is false. A name belongs to
 * one agent; but the root that a host gave to its first public agent by itself yields to whoever claims it.
 */
export const claimHosts = (sql: SqlStorage, registration: Registration, mayClaim: boolean): HostChanges | Rejection => {
  const { id, visibility, hosts } = registration
  for (const hostname of hosts) {
    const row = rowOf(sql, hostname)
    if (!mayClaim && (row?.id !== id || row.automatic)) return { outcome: 'host-not-held', hostname }
    if (row && row.id !== null && row.id !== id && !row.automatic)
      return { outcome: 'host-taken', hostname, holder: row.id }
  }
  const own = held(sql, id)
  const isPublic = visibility === 'public'
  const becameRoot = isPublic && !hosts.includes('*') && !rowOf(sql, '*')?.id && isFirstPublic(sql, id)
  const staysRoot = isPublic && own.some(({ automatic }) => automatic)
  const claimed = [...new Set([...hosts, ...(becameRoot || staysRoot ? ['*'] : [])])]
  const released = own.map(({ hostname }) => hostname).filter(hostname => !claimed.includes(hostname))
  return {
    hosts: claimed,
    becameRoot,
    changed: [
      ...released.map(hostname => assign(sql, hostname, null, false)),
      ...claimed.flatMap(hostname => {
        const automatic = !hosts.includes(hostname)
        const row = own.find(row => row.hostname === hostname)
        return row && Boolean(row.automatic) === automatic ? [] : [assign(sql, hostname, id, automatic)]
      }),
    ],
  }
}

/** The host names of an agent as they are: a card that was read anew claims none and gives none up. */
export const currentHosts = (sql: SqlStorage, id: string): HostChanges => ({
  hosts: held(sql, id).map(({ hostname }) => hostname),
  becameRoot: false,
  changed: [],
})

/** Frees every host name of an agent. */
export const releaseHosts = (sql: SqlStorage, id: string): HostChange[] =>
  held(sql, id).map(({ hostname }) => assign(sql, hostname, null, false))

const isFirstPublic = (sql: SqlStorage, id: string): boolean =>
  sql
    .exec<{ others: number }>(`SELECT COUNT(*) AS others FROM agents WHERE visibility = 'public' AND id <> ?`, id)
    .one().others === 0

/** A freed name keeps its row, so that its changes go on counting. */
const assign = (sql: SqlStorage, hostname: string, id: string | null, automatic: boolean): HostChange => {
  const seq = (rowOf(sql, hostname)?.seq ?? 0) + 1
  sql.exec(
    'INSERT OR REPLACE INTO hosts (hostname, id, seq, automatic) VALUES (?, ?, ?, ?)',
    ...[hostname, id, seq, automatic ? 1 : 0],
  )
  return { hostname, id, seq }
}
