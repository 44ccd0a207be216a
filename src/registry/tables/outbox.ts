import { defineTable } from '../sql.ts'

/** The keys that are not published yet: of KV, and of the other work below. */
export const outbox = defineTable(
  'outbox',
  { key: 'text', version: 'integer', attempts: 'count', due: 'count' },
  'PRIMARY KEY (key)',
  { outbox_by_due: '(due)' },
)

/** The key for the changes that `Events` has not read yet. */
export const EVENTS_KEY = 'events:'
