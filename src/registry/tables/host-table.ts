import * as v from 'valibot'
import { hostname } from '../../card/model/index.ts'
import type { Registration } from '../prepare.ts'
import { defineTable, exists, type Row, selectAll, selectFirst, storeRow } from '../sql.ts'
import { flag, ofRevision } from './column-formats.ts'

/** The owners of host names. A name that nobody owns keeps its row, so that `seq` goes on counting. */
export const hosts = defineTable(
  'hosts',
  { hostname: 'text', id: 'text?', seq: 'integer', automatic: 'integer' },
  {
    keys: 'PRIMARY KEY (hostname)',
    indexes: { hosts_by_agent: '(id)' },
    formats: () => ({ ...ofRevision, hostname, automatic: flag }),
    // A name without an agent is not exported.
    check: v.check(({ id }) => id !== null, 'must have the id of an agent'),
  },
)

type HostRow = Row<typeof hosts>

/** The host names that are an agent's after a write, and those that changed hands. */
export type HostChanges = { hosts: string[]; changed: HostChange[]; becameRoot: boolean }

/** The new owner of a host name; null for none. `seq` orders the changes of one name. */
export type HostChange = { hostname: string; id: string | null; seq: number }

/** The reason why a claim of a host name is rejected. */
export type ClaimRejection =
  | { outcome: 'host-taken'; hostname: string; owner: string }
  | { outcome: 'host-not-owned'; hostname: string }

/** Assigns host names to an agent. Names of other agents are taken, but the automatic root name yields to a claim. */
export const claimHosts = (
  sql: SqlStorage,
  { id, visibility, hosts }: Pick<Registration, 'id' | 'visibility' | 'hosts'>,
  mayClaim: boolean,
): HostChanges | ClaimRejection => {
  for (const hostname of hosts) {
    const row = hostRow(sql, hostname)
    if (!mayClaim && (row?.id !== id || row.automatic)) return { outcome: 'host-not-owned', hostname }
    if (row && row.id !== null && row.id !== id && !row.automatic)
      return { outcome: 'host-taken', hostname, owner: row.id }
  }
  const own = ownHosts(sql, id)
  const isPublic = visibility === 'public'
  const becameRoot = isPublic && !hosts.includes('*') && !hostRow(sql, '*')?.id && isFirstPublicAgent(sql, id)
  const staysRoot = isPublic && own.some(({ automatic }) => automatic)
  const claimed = [...new Set([...hosts, ...(becameRoot || staysRoot ? ['*'] : [])])]
  const released = own.map(({ hostname }) => hostname).filter(hostname => !claimed.includes(hostname))
  return {
    hosts: claimed,
    becameRoot,
    changed: [
      ...released.map(hostname => assignHost(sql, hostname, null)),
      ...claimed.flatMap(hostname => {
        const automatic = !hosts.includes(hostname)
        const row = own.find(row => row.hostname === hostname)
        return row && Boolean(row.automatic) === automatic ? [] : [assignHost(sql, hostname, id, automatic)]
      }),
    ],
  }
}

/** Returns the host names of an agent as the result of a write that claims none and gives none up. */
export const keepHosts = (sql: SqlStorage, id: string): HostChanges => ({
  hosts: ownHosts(sql, id).map(({ hostname }) => hostname),
  becameRoot: false,
  changed: [],
})

/** Takes all host names from an agent. */
export const releaseHosts = (sql: SqlStorage, id: string): HostChange[] =>
  ownHosts(sql, id).map(({ hostname }) => assignHost(sql, hostname, null))

const isFirstPublicAgent = (sql: SqlStorage, id: string): boolean =>
  !exists(sql, "agents WHERE visibility = 'public' AND id <> ?", id)

const hostRow = (sql: SqlStorage, hostname: string): HostRow | undefined =>
  selectFirst<HostRow>(sql, 'SELECT * FROM hosts WHERE hostname = ?', hostname)

const ownHosts = (sql: SqlStorage, id: string): HostRow[] => selectAll(sql, 'SELECT * FROM hosts WHERE id = ?', id)

const assignHost = (sql: SqlStorage, hostname: string, id: string | null, automatic = false): HostChange => {
  const seq = (hostRow(sql, hostname)?.seq ?? 0) + 1
  storeRow(sql, hosts, { hostname, id, seq, automatic: automatic ? 1 : 0 })
  return { hostname, id, seq }
}
