import type { Compiled } from '../card/compile/index.ts'
import type { RepresentationName } from '../card/model/constants.ts'
import { type Precondition, strongEtag } from '../http/conditional.ts'
import type { Json } from '../json/json.ts'
import type { Representation } from './kv-format.ts'
import type { Registration, Summary } from './records.ts'

/** What lists tell of an agent, in the words of its own documents where a list is a dialect's. */
const summaryOf = ({ card, documents }: Pick<Compiled, 'card' | 'documents'>): Summary => {
  const { name, description, version, supportedInterfaces } = card
  const url = supportedInterfaces[0]?.url ?? ''
  const { shaman, superx } = documents
  return {
    name,
    description,
    version,
    url,
    protocol: textOr('a2a', superx.protocol),
    shaman: { url: textOr(url, shaman.url), preferredTransport: textOr('JSONRPC', shaman.preferredTransport) },
  }
}

const textOr = (otherwise: string, value: unknown): string => (typeof value === 'string' ? value : otherwise)

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

/** A row of a Durable Object's database holds 2 MB at most, besides what stands beside a document in it. */
const mostBytes = 1_900_000

/** Whether each of these texts can be kept. */
export const fitsInRow = (texts: readonly string[]): boolean =>
  // In UTF-8 a UTF-16 unit takes three bytes at most.
  texts.every(text => text.length * 3 <= mostBytes || new TextEncoder().encode(text).byteLength <= mostBytes)
