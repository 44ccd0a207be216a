import { type RepresentationName, representationNames } from '../../card/model/representation-names.ts'
import { cardKey } from '../keys.ts'
import { type Envelope, readEnvelope } from '../kv-format.ts'
import type { PublishedHealth, SourceHealth } from '../source-health.ts'
import { getOrRevalidate, unchangedAt } from './changes.ts'
import { KvCache } from './kv-cache.ts'

/**
 * A document as this isolate serves it. `etag` is quoted, `modified` an HTTP date; `source` is there where the card is from
 * elsewhere: how old it may get, and how old it is.
 */
export type CachedDocument = { etag: string; modified: string; body: Uint8Array<ArrayBuffer>; source?: SourceHealth }

/** An agent whose card is from elsewhere, and has never come. */
export type PendingDocument = { etag?: never; body?: never; source: SourceHealth }

/** What is from elsewhere: it may have to be read again, or be too old. */
export type RemoteDocument = (CachedDocument & { source: SourceHealth }) | PendingDocument

/** Whether a card is from elsewhere. */
export const isRemote = (found: CachedDocument | PendingDocument): found is RemoteDocument => found.source !== undefined

/** The most that an isolate of 128 MB should spend on cards. */
const memoryBytes = 32 * 1024 * 1024
/** What an entry takes besides its bytes: the objects around them. */
const entryOverhead = 256

const cards = new KvCache<CachedDocument | PendingDocument>(
  memoryBytes,
  (key, served) => entryOverhead + key.length + (served?.body ? served.body.byteLength + served.etag.length : 0),
  (key, ...known) => unchangedAt(key.slice(0, key.indexOf('/')), ...known),
)

const keyOf = (id: string, name: RepresentationName): string => `${id}/${name}`

/** A document that this isolate holds and may serve at once; null: known to be absent; undefined: ask `readDocument`. */
export const getCachedDocument = (
  id: string,
  name: RepresentationName,
): CachedDocument | PendingDocument | null | undefined => cards.getFresh(keyOf(id, name))

/** A document that was held too long ago, if it has not changed since, or from KV; null where there is none. */
export const readDocument = (
  id: string,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | PendingDocument | null> =>
  getOrRevalidate(cards, keyOf(id, name), () => loadDocument(id, name, env), env, ctx)

const loadDocument = async (id: string, name: RepresentationName, env: Env) => {
  const envelope = await readEnvelope(cardKey(id), env)
  const served = servedOf(envelope, name)
  return { value: served?.body ? detach(served) : served, seq: envelope.seq }
}

/** A document of an envelope as it is served; null where it holds none of that name, and none is to come. */
export const servedOf = (
  { modified, representations, source }: Envelope,
  name: RepresentationName,
): CachedDocument | PendingDocument | null => {
  const representation = representations[name]
  if (!representation) return source ? { source } : null
  return { etag: representation.etag, modified, body: representation.bytes, ...(source && { source }) }
}

/** The same, copied, so that the rest of the envelope can go. */
export const detach = (served: CachedDocument): CachedDocument => ({ ...served, body: served.body.slice() })

/** Makes a write visible in this isolate at once: the new documents, or that there are none any more. */
export const cacheEnvelope = (id: string, written: Envelope): void => {
  for (const name of representationNames)
    cards.put(keyOf(id, name), { value: servedOf(written, name), seq: written.seq })
}

/**
 * Makes what was learned of a card's source visible in this isolate at once: beside a card that it knows, and that is of revision
 * `revision`. What it knows of an older one it reads anew by itself.
 */
export const putHealth = (id: string, revision: number, { seq, health }: PublishedHealth): void => {
  for (const name of representationNames) {
    const known = cards.peek(keyOf(id, name))
    if (known?.value && known.seq >= revision)
      cards.put(keyOf(id, name), { value: { ...known.value, source: health }, seq })
  }
}
