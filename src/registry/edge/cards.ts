import type { CallProfile } from '../../card/call-profile.ts'
import { agentIdPattern, type RepresentationName, representationNames } from '../../card/model/constants.ts'

import {
  cardKey,
  type Envelope,
  extendedKey,
  type Representation,
  readEnvelope,
  type SourceHealth,
} from '../kv-format.ts'
import type { PublishedHealth } from '../records.ts'

import { getOrRevalidate, KvCache, unchangedAt } from './kv-cache.ts'

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
const servedOf = (
  { modified, representations, source }: Envelope,
  name: RepresentationName,
): CachedDocument | PendingDocument | null => {
  const representation = representations[name]
  if (!representation) return source ? { source } : null
  return { etag: representation.etag, modified, body: representation.bytes, ...(source && { source }) }
}

/** The same, copied, so that the rest of the envelope can go. */
const detach = (served: CachedDocument): CachedDocument => ({ ...served, body: served.body.slice() })

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

/** Apart from the cards that anyone may read, so that no read of those ever meets these. */
const extendedMemoryBytes = 4 * 1024 * 1024
const extendedOverhead = 256

const extendedCards = new KvCache<CachedDocument>(
  extendedMemoryBytes,
  (key, served) => extendedOverhead + key.length + (served ? served.body.byteLength + served.etag.length : 0),
)

const extendedCacheKey = (id: string, tier: string, name: RepresentationName): string => `${id}/${tier}/${name}`

/** A document of the extended card of a tier, for a caller that may read it; null where there is none. */
export const readExtended = async (
  id: string,
  tier: string,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | null> => {
  const key = extendedCacheKey(id, tier, name)
  const held = extendedCards.getFresh(key)
  if (held !== undefined) return held
  const read = async () => {
    const envelope = await readEnvelope(extendedKey(id, tier), env)
    const served = documentOf(envelope, name)
    return { value: served && detach(served), seq: envelope.seq }
  }
  return extendedCards.fetch(key, read, ctx)
}

/** Makes a write visible in this isolate at once: the new documents of a tier, or that there are none any more. */
export const cacheExtended = (id: string, tier: string, written: Envelope): void => {
  for (const name of representationNames)
    extendedCards.put(extendedCacheKey(id, tier, name), { value: documentOf(written, name), seq: written.seq })
}

/** Of a card that has never come there is no extended one. */
const documentOf = (envelope: Envelope, name: RepresentationName): CachedDocument | null => {
  const served = servedOf(envelope, name)
  return served?.body ? served : null
}

/** Profiles are parsed once, when they are read; in memory they take some times what their text does. */
const profileMemoryBytes = 16 * 1024 * 1024
const timesItsText = 3
const profileOverhead = 400

type Parsed = { profile: CallProfile; bytes: number }

const profiles = new KvCache<Parsed>(
  profileMemoryBytes,
  (id, parsed) => profileOverhead + id.length + timesItsText * (parsed?.bytes ?? 0),
  unchangedAt,
)

/**
 * What calls of an agent are checked against, internal ones included; null where there is no such agent. What this isolate holds
 * need not be waited for.
 */
export const readProfile = (
  id: string,
  env: Env,
  ctx: ExecutionContext,
): CallProfile | null | Promise<CallProfile | null> => {
  const held = profiles.getFresh(id)
  if (held !== undefined) return profileOf(held)
  return getOrRevalidate(profiles, id, () => loadProfile(id, env), env, ctx).then(profileOf)
}

/** The same of any text that should be an id; undefined while KV is away, which the log has been told. */
export const lookUpProfile = (
  id: string,
  env: Env,
  ctx: ExecutionContext,
): CallProfile | null | undefined | Promise<CallProfile | null | undefined> => {
  if (!agentIdPattern.test(id)) return null
  const found = readProfile(id, env, ctx)
  return found instanceof Promise ? found.catch(() => undefined) : found
}

const profileOf = (parsed: Parsed | null): CallProfile | null => parsed?.profile ?? null

/** Makes a write visible in this isolate at once. */
export const cacheProfile = (id: string, { seq, representations }: Envelope): void => {
  profiles.put(id, { value: parsed(representations.profile), seq })
}

const parsed = (document: Representation | undefined): Parsed | null =>
  document ? { profile: JSON.parse(new TextDecoder().decode(document.bytes)), bytes: document.bytes.byteLength } : null

const loadProfile = async (id: string, env: Env) => {
  const { seq, representations } = await readEnvelope(cardKey(id), env)
  return { value: parsed(representations.profile), seq }
}
