import type { CallProfile } from '../../card/index.ts'
import { agentIdPattern, type RepresentationName, representationNames } from '../../card/model/start.ts'
import { decodeEnvelope, type Envelope, keyOf, type SourceHealth } from '../kv-format.ts'
import type { PublishedHealth } from '../source-record.ts'
import { KvCache, type Versioned } from './kv-cache.ts'

/** A document as an isolate serves it. `etag` is quoted, `modified` an HTTP date; `source` is set for a remote card. */
export type CachedDocument = { etag: string; modified: string; body: Uint8Array<ArrayBuffer>; source?: SourceHealth }

/** An agent whose remote card has never been fetched. */
export type UnfetchedDocument = { etag?: never; body?: never; source: SourceHealth }

type ServedDocument = CachedDocument | UnfetchedDocument

/** A document of a remote card, which may be due for a refresh, or expired. */
export type RemoteDocument = (CachedDocument & { source: SourceHealth }) | UnfetchedDocument

/** Checks whether a document is that of a remote card. */
export const isRemote = (document: ServedDocument): document is RemoteDocument => document.source !== undefined

/** Together less than half of the 128 MB of an isolate. */
const CARD_CACHE_BYTES = 32 * 1024 * 1024
const EXTENDED_CACHE_BYTES = 4 * 1024 * 1024
const PROFILE_CACHE_BYTES = 16 * 1024 * 1024
/** The objects around the bytes of an entry. */
const ENTRY_OVERHEAD = 256
/** The memory of a parsed profile, relative to that of its text. */
const PARSED_FACTOR = 3

const sizeOfDocument = (key: string, document: ServedDocument | null): number =>
  ENTRY_OVERHEAD + key.length + (document?.body ? document.body.byteLength + document.etag.length : 0)

/** Creates a cache of documents, whose keys are `id/name`, and `id/tier/name` for an extended card. */
const createCache = (maxSize: number, kind: 'card' | 'extended') =>
  new KvCache<ServedDocument>(maxSize, sizeOfDocument, {
    keyOf: key => keyOf(kind, key.slice(0, key.lastIndexOf('/')).replace('/', ':')),
    parse: (bytes, key) => {
      const document = toDocument(decodeEnvelope(bytes), key.slice(key.lastIndexOf('/') + 1) as RepresentationName)
      // The body is copied, so that the rest of the envelope can be collected.
      return { value: document?.body ? { ...document, body: document.body.slice() } : document }
    },
  })

const cards = createCache(CARD_CACHE_BYTES, 'card')

/** Separate from the public cards, so that no public read ever finds one of these. */
const extendedCards = createCache(EXTENDED_CACHE_BYTES, 'extended')

/** Profiles are parsed once, when they are read. */
const profiles = new KvCache<CallProfile>(
  PROFILE_CACHE_BYTES,
  (id, _, length) => ENTRY_OVERHEAD + id.length + PARSED_FACTOR * length,
  { keyOf: id => keyOf('card', id), parse: bytes => toProfile(decodeEnvelope(bytes)) },
)

/** Returns a document from memory; null where it is known to be absent, undefined: call `readDocument`. */
export const getCachedDocument = (id: string, name: RepresentationName): ServedDocument | null | undefined =>
  cards.getFresh(documentKey(id, name))

/** Returns a document from memory or KV; null for none. */
export const readDocument = (id: string, name: RepresentationName, env: Env, ctx: ExecutionContext) =>
  cards.fetch(documentKey(id, name), env, ctx)

/** Makes a write visible in this isolate at once: the new documents and the profile, or their removal. */
export const cacheEnvelope = (id: string, envelope: Envelope): void => {
  putDocuments(cards, id, envelope)
  profiles.put(id, toProfile(envelope))
}

/**
 * Makes the health of an upstream visible in this isolate at once, on the cached documents of revision `revision`.
 * Older documents stay as they are: a newer `seq` would mark them as current.
 */
export const cacheHealth = (id: string, revision: number, { seq, health }: PublishedHealth): void => {
  for (const name of representationNames) {
    const cached = cards.peek(documentKey(id, name))
    if (cached?.value && cached.seq >= revision)
      cards.put(documentKey(id, name), { value: { ...cached.value, source: health }, seq })
  }
}

/** Returns a document of the extended card of a tier, for a caller that may read it; null for none. */
export const readExtended = async (
  { id, tier, name }: { id: string; tier: string; name: RepresentationName },
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | null> => {
  const document = await extendedCards.get(documentKey(`${id}/${tier}`, name), env, ctx)
  // While a remote card has never been fetched, there is no extended card either.
  return document?.body ? document : null
}

/** Makes a write visible in this isolate at once: the new documents of a tier, or their removal. */
export const cacheExtended = (id: string, tier: string, envelope: Envelope): void =>
  putDocuments(extendedCards, `${id}/${tier}`, envelope)

/** Returns the call profile of an agent, internal ones included; null for no agent. A promise only if not cached. */
export const readProfile = (id: string, env: Env, ctx: ExecutionContext) => profiles.get(id, env, ctx)

/** Returns the same for a text that may not be an id; undefined while KV is unavailable (already logged). */
export const lookUpProfile = (id: string, env: Env, ctx: ExecutionContext) => {
  if (!agentIdPattern.test(id)) return null
  const profile = readProfile(id, env, ctx)
  return profile instanceof Promise ? profile.catch(() => undefined) : profile
}

const documentKey = (card: string, name: RepresentationName): string => `${card}/${name}`

const putDocuments = (cache: KvCache<ServedDocument>, card: string, envelope: Envelope): void => {
  for (const name of representationNames)
    cache.put(documentKey(card, name), { value: toDocument(envelope, name), seq: envelope.seq })
}

const toDocument = (envelope: Envelope, name: RepresentationName): ServedDocument | null => {
  const { modified, representations, source } = envelope
  const representation = representations[name]
  if (!representation) return source ? { source } : null
  return { etag: representation.etag, modified, body: representation.bytes, ...(source && { source }) }
}

const toProfile = ({ seq, representations: { profile } }: Envelope): Versioned<CallProfile> => {
  if (!profile) return { value: null, seq }
  return { value: JSON.parse(new TextDecoder().decode(profile.bytes)), seq, length: profile.bytes.byteLength }
}
