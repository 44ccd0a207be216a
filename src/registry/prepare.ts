import type { Compiled } from '../card/compile/index.ts'
import type { RepresentationName } from '../card/model/representation-names.ts'
import type { Precondition } from '../http/conditional.ts'
import { strongEtag } from '../http/etag.ts'
import type { Json } from '../json/json.ts'
import type { Representation } from './kv-format.ts'
import type { Registration } from './records.ts'
import { summaryOf } from './summary.ts'

/** Turns what was compiled into the exact bytes to be served and their entity tags. */
export const prepareRegistration = async (
  id: string,
  document: Json,
  compiled: Compiled,
  condition: Precondition,
): Promise<Registration> => {
  const { manifest, documents, profile, origin } = compiled
  const text = JSON.stringify(document)
  const once = new Map<string, Promise<Representation>>()
  const { etag: manifestEtag } = await represented(text)
  return {
    id,
    manifest: text,
    manifestEtag,
    visibility: manifest.visibility,
    hosts: manifest.hosts,
    origin,
    summary: summaryOf(compiled),
    representations: await allRepresented(documents, once),
    profile: await represented(JSON.stringify(profile)),
    extended: await Promise.all(
      compiled.extended.map(async ({ tier, documents }) => ({
        tier,
        representations: await allRepresented(documents, once),
      })),
    ),
    condition,
  }
}

/** Dialects, and tiers, often come out the same: such a document is made once. */
const allRepresented = async (
  documents: Compiled['documents'],
  once: Map<string, Promise<Representation>>,
): Promise<Record<RepresentationName, Representation>> => {
  const made = Object.entries(documents).map(async ([name, document]) => {
    const text = JSON.stringify(document)
    const known = once.get(text) ?? represented(text)
    once.set(text, known)
    return [name, await known] as const
  })
  return Object.fromEntries(await Promise.all(made)) as Record<RepresentationName, Representation>
}

const represented = async (text: string): Promise<Representation> => {
  const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  return { etag: await strongEtag(bytes), bytes }
}
