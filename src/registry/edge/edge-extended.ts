import { type RepresentationName, representationNames } from '../../card/model/representation-names.ts'
import { extendedKey } from '../keys.ts'
import { type Envelope, readEnvelope } from '../kv-format.ts'
import { outliving, type Served, servedOf } from './cards.ts'
import { EdgeMemory } from './kv-cache.ts'

/** Apart from the cards that anyone may read, so that no read of those ever meets these. */
const memoryBytes = 4 * 1024 * 1024
const entryOverhead = 256

const cards = new EdgeMemory<Served>(
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
): Promise<Served | null> => {
  const key = keyOf(id, tier, name)
  const held = cards.held(key)
  if (held !== undefined) return held
  const read = async () => {
    const envelope = await readEnvelope(extendedKey(id, tier), env)
    const served = documentOf(envelope, name)
    return { value: served && outliving(served), seq: envelope.seq }
  }
  return cards.get(key, read, ctx)
}

/** Makes a write visible in this isolate at once: the new documents of a tier, or that there are none any more. */
export const rememberExtended = (id: string, tier: string, written: Envelope): void => {
  for (const name of representationNames)
    cards.learn(keyOf(id, tier, name), { value: documentOf(written, name), seq: written.seq })
}

/** Of a card that has never come there is no extended one. */
const documentOf = (envelope: Envelope, name: RepresentationName): Served | null => {
  const served = servedOf(envelope, name)
  return served?.body ? served : null
}
