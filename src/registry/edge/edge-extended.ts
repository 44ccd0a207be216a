import { type RepresentationName, representationNames } from '../../card/model/representation-names.ts'
import { extendedKey } from '../keys.ts'
import { type Envelope, readEnvelope } from '../kv-format.ts'
import { type CachedDocument, detach, servedOf } from './cards.ts'
import { KvCache } from './kv-cache.ts'

/** Apart from the cards that anyone may read, so that no read of those ever meets these. */
const memoryBytes = 4 * 1024 * 1024
const entryOverhead = 256

const cards = new KvCache<CachedDocument>(
  memoryBytes,
  (key, served) => entryOverhead + key.length + (served ? served.body.byteLength + served.etag.length : 0),
)

const keyOf = (id: string, tier: string, name: RepresentationName): string => `${id}/${tier}/${name}`

/** A document of the extended card of a tier, for a caller that may read it; null where there is none. */
export const readExtended = async (
  id: string,
  tier: string,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<CachedDocument | null> => {
  const key = keyOf(id, tier, name)
  const held = cards.getFresh(key)
  if (held !== undefined) return held
  const read = async () => {
    const envelope = await readEnvelope(extendedKey(id, tier), env)
    const served = documentOf(envelope, name)
    return { value: served && detach(served), seq: envelope.seq }
  }
  return cards.fetch(key, read, ctx)
}

/** Makes a write visible in this isolate at once: the new documents of a tier, or that there are none any more. */
export const cacheExtended = (id: string, tier: string, written: Envelope): void => {
  for (const name of representationNames)
    cards.put(keyOf(id, tier, name), { value: documentOf(written, name), seq: written.seq })
}

/** Of a card that has never come there is no extended one. */
const documentOf = (envelope: Envelope, name: RepresentationName): CachedDocument | null => {
  const served = servedOf(envelope, name)
  return served?.body ? served : null
}
