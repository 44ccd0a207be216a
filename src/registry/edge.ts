import { type RepresentationName, representationNames } from '../card/representations.ts'
import { readUnlessUnchanged, unchangedAt } from './changes.ts'
import { EdgeMemory } from './edge-memory.ts'
import { type Envelope, readEnvelope } from './envelope.ts'

/** A document as this isolate serves it. `etag` is quoted, `modified` an HTTP date. */
export type Served = { etag: string; modified: string; body: Uint8Array<ArrayBuffer> }

/** The most that an isolate of 128 MB should spend on cards. */
const memoryBytes = 32 * 1024 * 1024
/** What an entry takes besides its bytes: the objects around them. */
const entryOverhead = 256

const cards = new EdgeMemory<Served>(
  memoryBytes,
  (key, served) => entryOverhead + key.length + (served ? served.body.byteLength + served.etag.length : 0),
  (key, ...known) => unchangedAt(key.slice(0, key.indexOf('/')), ...known),
)

const keyOf = (id: string, name: RepresentationName): string => `${id}/${name}`

/** A document that this isolate holds and may serve at once; null: known to be absent; undefined: ask `readDocument`. */
export const heldDocument = (id: string, name: RepresentationName): Served | null | undefined =>
  cards.held(keyOf(id, name))

/** A document that was held too long ago, if it has not changed since, or from KV; null where there is none. */
export const readDocument = (
  id: string,
  name: RepresentationName,
  env: Env,
  ctx: ExecutionContext,
): Promise<Served | null> => readUnlessUnchanged(cards, keyOf(id, name), () => loadDocument(id, name, env), env, ctx)

const loadDocument = async (id: string, name: RepresentationName, env: Env) => {
  const envelope = await readEnvelope(`card:${id}`, env)
  const served = servedOf(envelope, name)
  // Copied, so that the rest of the envelope can go.
  return { value: served && { ...served, body: served.body.slice() }, seq: envelope.seq }
}

/** A document of an envelope as it is served; null where it holds none of that name. */
export const servedOf = ({ modified, representations }: Envelope, name: RepresentationName): Served | null => {
  const representation = representations[name]
  return representation ? { etag: representation.etag, modified, body: representation.bytes } : null
}

/** Makes a write visible in this isolate at once: the new documents, or that there are none any more. */
export const remember = (id: string, written: Envelope): void => {
  for (const name of representationNames)
    cards.learn(keyOf(id, name), { value: servedOf(written, name), seq: written.seq })
}
