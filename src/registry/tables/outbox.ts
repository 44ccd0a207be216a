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

/** Returns the key for the object that refreshes an agent's remote card. */
export const refreshKey = (id: string): string => `refresh:${id}`

/** Returns the key for an imported agent that is not in the search index yet. */
export const indexKey = (id: string): string => `index:${id}`

/** Returns the key for the object that knows who started the tasks of an agent that was removed. */
export const taskOwnersKey = (id: string): string => `task-owners:${id}`

/** Returns the key for an agent whose tasks lose their owners. */
export const tasksKey = (id: string): string => `tasks:${id}`
