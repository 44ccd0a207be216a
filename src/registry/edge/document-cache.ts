import type { CallProfile } from '../../card/index.ts'
import { agentIdPattern, type RepresentationName, representationNames } from '../../card/model/start.ts'
import { type Envelope, keyOf, type Representation, readEnvelope, type SourceHealth } from '../kv-format.ts'
import type { PublishedHealth } from '../source-record.ts'
import { KvCache } from './kv-cache.ts'

/** A document as an isolate serves it. `etag` is quoted, `modified` an HTTP date; `source` is set for a remote card. */
export type CachedDocument = { etag: string; modified: string; body: Uint8Array<ArrayBuffer>; source?: SourceHealth }

/** An agent whose remote card has never been fetched. */
export type UnfetchedDocument = { etag?: never; body?: never; source: SourceHealth }

/** A document of a remote card, which may be due for a refresh, or expired. */
export type RemoteDocument = (CachedDocument & { source: SourceHealth }) | UnfetchedDocument

/** Checks whether a document is that of a remote card. */
export const isRemote = (document: CachedDocument | UnfetchedDocument): document is RemoteDocument =>
  document.source !== undefined

/** Together less than half of the 128 MB of an isolate. */
const CARD_CACHE_BYTES = 32 * 1024 * 1024
const EXTENDED_CACHE_BYTES = 4 * 1024 * 1024
const PROFILE_CACHE_BYTES = 16 * 1024 * 1024
/** The objects around the bytes of an entry. */
const ENTRY_OVERHEAD = 256
/** The memory of a parsed profile, relative to that of its text. */
const PARSED_FACTOR = 3

const sizeOfDocument = (key: string, document: CachedDocument | UnfetchedDocument | null): number =>
  ENTRY_OVERHEAD + key.length + (document?.body ? document.body.byteLength + document.etag.length : 0)

const cards = new KvCache<CachedDocument | UnfetchedDocument>(CARD_CACHE_BYTES, sizeOfDocument, async (key, env) => {
  const [id, name] = key.split('/') as [id: string, name: RepresentationName]
  const envelope = await readEnvelope(keyOf('card', id), env)
  const document = toDocument(envelope, name)
  return { value: document?.body ? detach(document) : document, seq: envelope.seq }
})

/** Separate from the public cards, so that no public read ever finds one of these. */
const extendedCards = new KvCache<CachedDocument>(EXTENDED_CACHE_BYTES, sizeOfDocument, async (key, env) => {
  const [id, tier, name] = key.split('/') as [id: string, tier: string, name: RepresentationName]
  const envelope = await readEnvelope(keyOf('extended', `${id}:${tier}`), env)
  const document = toExtendedDocument(envelope, name)
  return { value: document && detach(document), seq: envelope.seq }
})

/** Profiles are parsed once, when they are read. */
const profiles = new KvCache<ParsedProfile>(
  PROFILE_CACHE_BYTES,
  (id, parsed) => ENTRY_OVERHEAD + id.length + PARSED_FACTOR * (parsed?.bytes ?? 0),
  async (id, env) => {
    const { seq, representations } = await readEnvelope(keyOf('card', id), env)
    return { value: parseProfile(representations.profile), seq }
  },
)

type ParsedProfile = { profile: CallProfile; bytes: number }

/** Returns a document from memory; null where it is known to be absent, undefined: call `readDocument`. */
export const getCachedDocument = (
  id: string,
  name: RepresentationName,
): CachedDocument | UnfetchedDocument | null | undefined => cards.getFresh(documentKey(id, name))

/** Returns a document from memory or KV; null for none. */
export const readDocument = (
  id: string,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | UnfetchedDocument | null> => cards.fetch(documentKey(id, name), env, ctx)

/** Makes a write visible in this isolate at once: the new documents and the profile, or their removal. */
export const cacheEnvelope = (id: string, envelope: Envelope): void => {
  for (const name of representationNames)
    cards.put(documentKey(id, name), { value: toDocument(envelope, name), seq: envelope.seq })
  profiles.put(id, { value: parseProfile(envelope.representations.profile), seq: envelope.seq })
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
): Promise<CachedDocument | null> => extendedCards.get(extendedDocumentKey(id, tier, name), env, ctx)

/** Makes a write visible in this isolate at once: the new documents of a tier, or their removal. */
export const cacheExtended = (id: string, tier: string, envelope: Envelope): void => {
  for (const name of representationNames)
    extendedCards.put(extendedDocumentKey(id, tier, name), {
      value: toExtendedDocument(envelope, name),
      seq: envelope.seq,
    })
}

/** Returns the call profile of an agent, internal ones included; null for no agent. A promise only if not cached. */
export const readProfile = (
  id: string,
  env: Env,
  ctx: ExecutionContext,
): CallProfile | null | Promise<CallProfile | null> => {
  const cached = profiles.getFresh(id)
  if (cached !== undefined) return cached?.profile ?? null
  return profiles.fetch(id, env, ctx).then(parsed => parsed?.profile ?? null)
}

/** Returns the same for a text that may not be an id; undefined while KV is unavailable (already logged). */
export const lookUpProfile = (
  id: string,
  env: Env,
  ctx: ExecutionContext,
): CallProfile | null | undefined | Promise<CallProfile | null | undefined> => {
  if (!agentIdPattern.test(id)) return null
  const profile = readProfile(id, env, ctx)
  return profile instanceof Promise ? profile.catch(() => undefined) : profile
}

const documentKey = (id: string, name: RepresentationName): string => `${id}/${name}`

const extendedDocumentKey = (id: string, tier: string, name: RepresentationName): string => `${id}/${tier}/${name}`

const toDocument = (
  { modified, representations, source }: Envelope,
  name: RepresentationName,
): CachedDocument | UnfetchedDocument | null => {
  const representation = representations[name]
  if (!representation) return source ? { source } : null
  return { etag: representation.etag, modified, body: representation.bytes, ...(source && { source }) }
}

/** While a remote card has never been fetched, there is no extended card either. */
const toExtendedDocument = (envelope: Envelope, name: RepresentationName): CachedDocument | null => {
  const document = toDocument(envelope, name)
  return document?.body ? document : null
}

/** Copies the body, so that the rest of the envelope can be collected. */
const detach = (document: CachedDocument): CachedDocument => ({ ...document, body: document.body.slice() })

const parseProfile = (document: Representation | undefined): ParsedProfile | null => {
  if (!document) return null
  const profile: CallProfile = JSON.parse(new TextDecoder().decode(document.bytes))
  return { profile, bytes: document.bytes.byteLength }
}
