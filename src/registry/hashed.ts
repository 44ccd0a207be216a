import type { Compiled } from '../card/compile.ts'
import type { Json } from '../card/json.ts'
import type { RepresentationName } from '../card/representations.ts'
import type { Condition } from '../http/condition.ts'
import { strongEtag } from '../http/etag.ts'
import type { Representation } from './envelope.ts'
import type { Registration } from './write.ts'

/** Turns what was compiled into the exact bytes to be served and their entity tags. */
export const hashed = async (
  id: string,
  document: Json,
  compiled: Compiled,
  condition: Condition,
): Promise<Registration> => {
  const { manifest, card, documents, profile, origin } = compiled
  const text = JSON.stringify(document)
  const texts = Object.entries(documents).map(([name, value]) => [name, JSON.stringify(value)] as const)
  // Dialects often come out the same: such a document is made once.
  const once = new Map([...new Set(texts.map(([, text]) => text))].map(text => [text, represented(text)]))
  const representations = texts.map(async ([name, text]) => [name, await once.get(text)] as const)
  const { etag: manifestEtag } = await represented(text)
  return {
    id,
    manifest: text,
    manifestEtag,
    visibility: manifest.visibility,
    hosts: manifest.hosts,
    origin,
    summary: {
      name: card.name,
      description: card.description,
      version: card.version,
      url: card.supportedInterfaces[0]?.url ?? '',
    },
    representations: Object.fromEntries(await Promise.all(representations)) as Record<
      RepresentationName,
      Representation
    >,
    profile: await represented(JSON.stringify(profile)),
    condition,
  }
}

const represented = async (text: string): Promise<Representation> => {
  const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  return { etag: await strongEtag(bytes), bytes }
}
