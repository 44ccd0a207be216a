import { type RepresentationName, representationNames } from '../card/representations.ts'
import { log } from '../http/log.ts'
import { decodeEnvelope, type Envelope } from './envelope.ts'
import { Memory } from './memory.ts'

/** A document as this isolate serves it. */
export type Served = { etag: string; modified: string; bytes: Uint8Array<ArrayBuffer> }

/** What is known of one document: null where the agent has none to show. `firmUntil`: only a newer revision counts before. */
type Known = { served: Served | null; seq: number; firmUntil: number }

/** How long a document is served from memory, and KV's own edge cache keeps it: together, a minute at most. */
const memoryMilliseconds = 30_000
const kvCacheSeconds = 30
/** KV may take about a minute to tell other places of a write; until then this isolate knows better. */
const firmMilliseconds = 90_000
/** The most that an isolate of 128 MB should spend on cards. */
const memoryBytes = 32 * 1024 * 1024
/** What an entry takes besides its bytes: keys, objects and buffers, by measurement rounded up. */
const entryOverhead = 256

const memory = new Memory<Known>(memoryBytes)
const loading = new Map<string, Promise<Envelope | null>>()

/** A document that this isolate holds and may serve at once; null: known to be absent; undefined: ask `readDocument`. */
export const heldDocument = (id: string, name: RepresentationName): Served | null | undefined => {
  const held = memory.get(`${id}/${name}`)
  return held && held.expires > Date.now() ? held.value.served : undefined
}

/** A document from KV, kept in memory on the way. Requests for one agent that arrive together share one read. */
export const readDocument = async (
  id: string,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<Served | null> => {
  let load = loading.get(id)
  if (!load) {
    load = loadEnvelope(id, env).finally(() => loading.delete(id))
    loading.set(id, load)
    // The first client may leave; those who wait for its read must not leave with it.
    ctx.waitUntil(load.catch(() => undefined))
  }
  const envelope = await load.catch(error => lastResort(`${id}/${name}`, error))
  const known = heldDocument(id, name)
  if (known !== undefined) return known
  const representation = envelope?.representations[name]
  if (!envelope || !representation) return hold(`${id}/${name}`, { served: null, seq: 0, firmUntil: 0 })
  const { etag, bytes } = representation
  const served = { etag, modified: envelope.modified, bytes: bytes.slice() }
  return hold(`${id}/${name}`, { served, seq: envelope.seq, firmUntil: 0 })
}

/** While KV is away, what was served last is served on. */
const lastResort = (key: string, error: unknown): null => {
  const held = memory.get(key)
  if (!held) throw error
  log('error', 'kv-read-failed', { key, error: String(error) })
  held.expires = Date.now() + memoryMilliseconds
  return null
}

const loadEnvelope = async (id: string, env: Env): Promise<Envelope | null> => {
  const buffer = await env.CARDS.get(`card:${id}`, { type: 'arrayBuffer', cacheTtl: kvCacheSeconds })
  return buffer && decodeEnvelope(buffer)
}

/** Keeps what was read, unless what this isolate knows is newer; returns what is to be served. */
const hold = (key: string, known: Known): Served | null => {
  const now = Date.now()
  const before = memory.get(key)
  const expires = now + memoryMilliseconds
  if (before && isNewer(before.value, known, now)) {
    before.expires = expires
    return before.value.served
  }
  memory.set(key, { value: known, expires, bytes: sizeOf(key, known.served) })
  return known.served
}

const isNewer = (before: Known, after: Known, now: number): boolean =>
  before.seq > after.seq && (after.served !== null || before.firmUntil > now)

/** What takes memory: the bytes, the key and the entity tag in UTF-16 at worst, and the objects around them. */
const sizeOf = (key: string, served: Served | null): number =>
  entryOverhead + 2 * key.length + (served ? served.bytes.byteLength + 2 * served.etag.length : 0)

/** Makes a write visible in this isolate at once: the new documents, or that there are none any more. */
export const remember = (id: string, written: Envelope | { seq: number }): void => {
  const now = Date.now()
  for (const name of representationNames) {
    const key = `${id}/${name}`
    const representation = 'representations' in written ? written.representations[name] : undefined
    const served = representation && 'modified' in written ? { ...representation, modified: written.modified } : null
    memory.set(key, {
      value: { served, seq: written.seq, firmUntil: now + firmMilliseconds },
      expires: now + memoryMilliseconds,
      bytes: sizeOf(key, served),
    })
  }
}
