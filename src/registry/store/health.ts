import type { RegistryHealth } from '../records.ts'

/** Returns the state of the Registry for monitors, without the id of any agent. */
export const selectHealth = (sql: SqlStorage, now = Date.now()): RegistryHealth => {
  const { unpublished } = sql
    .exec<{ unpublished: number }>('SELECT COUNT(*) AS unpublished FROM outbox WHERE attempts > 0')
    .one()
  const { oldest } = sql
    .exec<{ oldest: number | null }>(
      `SELECT MIN(COALESCE(checked, failing_since)) AS oldest FROM sources WHERE failure IS NOT NULL
        AND (checked IS NULL OR checked + 1000 * json_extract(source, '$.ttl') < ?)`,
      now,
    )
    .one()
  return { unpublished, oldestStaleCard: oldest }
}
