import { KvCache, kvCacheSeconds, type Versioned } from './kv-cache.ts'

/** KV's key for what changed lately, and its value: the newest `seq` of every agent written since a moment, in ms since 1970. */
export const changesKey = 'changes:agents'
export type ChangesText = { since: number; seqs: [id: string, seq: number][] }

/** What changed lately, as this isolate read it at `asOf`. */
type Changes = { since: number; seqs: ReadonlyMap<string, number>; asOf: number }

/** How long word of a write may take to all places, with a wide margin for clocks. In ms. */
const margin = 5 * 60_000

const memory = new KvCache<Changes>(1024 * 1024, (_, changes) => 100 + 64 * (changes?.seqs.size ?? 0))

/**
 * Whether what was known of an agent at a moment is known to be the newest at a later one: that moment, in ms. Many agents
 * are so kept fresh by one read, instead of one each.
 */
export const unchangedAt = (id: string, seq: number, asOf: number): number | undefined => {
  const changes = memory.getFresh(changesKey)
  return changes && changes.since <= asOf - margin && (changes.seqs.get(id) ?? 0) <= seq ? changes.asOf : undefined
}

/** A value from memory, where what changed lately says that it is fresh still; else read. What was never known is read at once. */
export const getOrRevalidate = async <Value>(
  values: KvCache<Value>,
  key: string,
  read: () => Promise<Versioned<Value>>,
  env: Env,
  ctx: ExecutionContext,
): Promise<Value | null> => {
  if (values.has(key)) {
    await readChanges(env, ctx)
    const held = values.getFresh(key)
    if (held !== undefined) return held
  }
  return values.fetch(key, read, ctx)
}

/** Reads what changed lately, unless this isolate did so a moment ago. Where KV does not tell, nothing is known of it. */
export const readChanges = async (env: Env, ctx: ExecutionContext): Promise<void> => {
  if (memory.getFresh(changesKey) !== undefined) return
  const read = async () => {
    const asOf = Date.now()
    const options = { type: 'json', cacheTtl: kvCacheSeconds } as const
    const text = await env.CARDS.get<ChangesText>(changesKey, options)
    const value = text && { since: text.since, seqs: new Map(text.seqs), asOf }
    return { value, seq: asOf }
  }
  await memory.fetch(changesKey, read, ctx).catch(() => undefined)
}
