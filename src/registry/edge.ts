import { type RepresentationName, representationNames } from '../card/representations.ts'
import { log } from '../http/log.ts'
import { decodeEnvelope, type Envelope } from './envelope.ts'
import { Memory } from './memory.ts'

/** A document as this isolate serves it: null where the agent has none to show. */
export type Served = { etag: string; modified: string; body: Uint8Array<ArrayBuffer> }

/** What is known of one document, until `expires`. Before `firmUntil` only a newer revision counts for more. Both in ms. */
type Known = { served: Served | null; seq: number; expires: number; firmUntil: number; size: number }

/** How long a document is served from memory, and KV's own edge cache keeps it: together, a minute at most. */
const memoryMilliseconds = 30_000
const kvCacheSeconds = 30
/** KV may take about a minute to tell other places of a write; until then this isolate knows better. */
const firmMilliseconds = 90_000
/** The most that an isolate of 128 MB should spend on cards. */
const memoryBytes = 32 * 1024 * 1024
/** What an entry takes besides its bytes: the objects around them, and the headers that are kept with it. */
const entryOverhead = 800

const memory = new Memory<Known>(memoryBytes)
const loading = new Map<string, Promise<Envelope | null>>()

const keyOf = (id: string, name: RepresentationName): string => `${id}/${name}`

/** A document that this isolate holds and may serve at once; null: known to be absent; undefined: ask `readDocument`. */
export const heldDocument = (id: string, name: RepresentationName): Served | null | undefined => {
  const known = memory.get(keyOf(id, name))
  return known !== undefined && known.expires > Date.now() ? known.served : undefined
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
  const envelope = await load.catch(error => lastResort(id, name, error))
  const known = heldDocument(id, name)
  if (known !== undefined) return known
  const representation = envelope?.representations[name]
  if (!envelope || !representation) return hold(id, name, null, 0)
  const { etag, bytes } = representation
  return hold(id, name, { etag, modified: envelope.modified, body: bytes.slice() }, envelope.seq)
}

/** While KV is away, what was served last is served on. */
const lastResort = (id: string, name: RepresentationName, error: unknown): null => {
  const known = memory.get(keyOf(id, name))
  if (!known) throw error
  log('error', 'kv-read-failed', { id, error: String(error) })
  known.expires = Date.now() + memoryMilliseconds
  return null
}

const loadEnvelope = async (id: string, env: Env): Promise<Envelope | null> => {
  const buffer = await env.CARDS.get(`card:${id}`, { type: 'arrayBuffer', cacheTtl: kvCacheSeconds })
  return buffer && decodeEnvelope(buffer)
}

/** Keeps what KV answered, unless what this isolate knows is newer; returns what is to be served. */
const hold = (id: string, name: RepresentationName, served: Served | null, seq: number): Served | null => {
  const now = Date.now()
  const before = memory.get(keyOf(id, name))
  if (before && before.seq > seq && (served !== null || before.firmUntil > now)) {
    before.expires = now + memoryMilliseconds
    return before.served
  }
  keep(id, name, served, seq, 0)
  return served
}

const keep = (id: string, name: RepresentationName, served: Served | null, seq: number, firmUntil: number): void => {
  const key = keyOf(id, name)
  const size = entryOverhead + key.length + (served ? served.body.byteLength + served.etag.length : 0)
  memory.set(key, { served, seq, expires: Date.now() + memoryMilliseconds, firmUntil, size })
}

/** Makes a write visible in this isolate at once: the new documents, or that there are none any more. */
export const remember = (id: string, written: Envelope | { seq: number }): void => {
  const firmUntil = Date.now() + firmMilliseconds
  for (const name of representationNames) {
    const representation = 'representations' in written ? written.representations[name] : undefined
    const served =
      representation && 'modified' in written
        ? { etag: representation.etag, modified: written.modified, body: representation.bytes }
        : null
    keep(id, name, served, written.seq, firmUntil)
  }
}
