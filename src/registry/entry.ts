/** What KV is to hold under a key, and for how long: for ever, unless `seconds` says otherwise. */
export type Entry = { value: string | Uint8Array; metadata: { seq: number; etag?: string }; seconds?: number }

/**
 * How long KV remembers that something is gone, which readers must be told rather than not find: longer than any isolate
 * lives, which may hold it still.
 */
export const tombstoneSeconds = 30 * 86_400
