import type { Compiled } from '../card/compile/index.ts'
import { missingCardProfile } from '../card/index.ts'
import type { Manifest } from '../card/manifest/index.ts'
import { type RepresentationName, signedNames } from '../card/model/index.ts'
import { type CardSigner, signCard } from '../card/signatures/index.ts'
import { strongEtag } from '../http/index.ts'
import type { Json, JsonObject } from '../json/index.ts'
import type { Signing } from '../signing/index.ts'
import type { Representation } from './kv-format.ts'
import type { Registration, Summary, WriteTerms } from './records.ts'
import { collectSearchFields, noSearchFields } from './search-fields.ts'

/** A row of the Registry's database is limited to 2 MB; the rest is for the columns next to a document. */
const MAX_ROW_BYTES = 1_900_000

/** A compiled manifest, the document that it was compiled from, and how its cards are signed. */
type Prepared = { id: string; document: Json; compiled: Compiled; signing: Signing }

/** Turns a compiled manifest into the exact bytes to be served, signed where this host signs, and their entity tags. */
export const prepareRegistration = async (
  { id, document, compiled, signing }: Prepared,
  terms: WriteTerms,
): Promise<Registration> => {
  const { manifest, card, documents, profile, origin } = compiled
  const encoder = createEncoder('signer' in signing ? signing.signer : undefined)
  const representations = await encoder.encodeDocuments(documents)
  return {
    ...(await prepareManifest(id, document, manifest)),
    origin,
    summary: summarize(compiled),
    card: JSON.stringify(card),
    search: { ...collectSearchFields(compiled.card), signed: hasAuthorSignatures(documents) },
    representations,
    profile: await encode(JSON.stringify(profile)),
    extended: await Promise.all(
      compiled.extended.map(async ({ tier, card, documents }) => ({
        ...{ tier, card: JSON.stringify(card) },
        representations: await encoder.encodeDocuments(documents),
      })),
    ),
    signing: { signers: signing.signers, signatures: encoder.signatures },
    ...terms,
  }
}

/** Whether a document that clients verify has the signatures of the author: the policy of the manifest may leave them out of all. */
const hasAuthorSignatures = (documents: Compiled['documents']): boolean =>
  signedNames.some(name => documents[name].signatures !== undefined)

/** Prepares an agent whose remote card has never been fetched: it is known and listed, but has no card to serve. */
export const prepareWithoutCard = async (
  id: string,
  document: Json,
  { manifest, origin }: { manifest: Manifest; origin: string },
  terms: WriteTerms,
): Promise<Registration> => {
  const { name } = manifest.card
  return {
    ...(await prepareManifest(id, document, manifest)),
    origin,
    summary: {
      ...{ name: typeof name === 'string' ? name : id, description: '', version: '', url: '' },
      ...{ protocol: 'a2a', shaman: { url: '', preferredTransport: 'JSONRPC' } },
    },
    search: noSearchFields,
    representations: {},
    profile: await encode(JSON.stringify(missingCardProfile(manifest))),
    extended: [],
    ...terms,
  }
}

/** Whether each of these texts fits in a row of the Registry's database. */
export const fitsInRow = (texts: readonly string[]): boolean =>
  // In UTF-8 a UTF-16 unit takes three bytes at most.
  texts.every(text => text.length * 3 <= MAX_ROW_BYTES || new TextEncoder().encode(text).byteLength <= MAX_ROW_BYTES)

const prepareManifest = async (id: string, document: Json, { visibility, set, hosts }: Manifest) => {
  const manifest = JSON.stringify(document)
  return { id, manifest, manifestEtag: (await encode(manifest)).etag, visibility, set, hosts }
}

/** Encodes the documents of one agent. Dialects and tiers often have equal ones: each is signed and encoded once. */
const createEncoder = (signer: CardSigner | undefined) => {
  const encoded = new Map<string, Promise<Representation>>()
  const signatures: Record<string, string> = {}
  const encodeSigned = async (document: JsonObject, signer: CardSigner): Promise<Representation> => {
    const signed = await signCard(document, signer)
    Object.assign(signatures, signed.signatures)
    return encode(JSON.stringify(signed.document))
  }
  const encodeDocument = (name: string, document: JsonObject): Promise<Representation> => {
    const isSigner = signer !== undefined && isSignedByHost(name, document)
    const text = JSON.stringify(document)
    const key = `${isSigner} ${text}`
    const representation = encoded.get(key) ?? (isSigner ? encodeSigned(document, signer) : encode(text))
    encoded.set(key, representation)
    return representation
  }
  return {
    /** The signatures that were made or used again, by the digest of what they sign. */
    signatures,
    encodeDocuments: async (documents: Compiled['documents']): Promise<Record<RepresentationName, Representation>> => {
      const entries = Object.entries(documents).map(
        async ([name, document]) => [name, await encodeDocument(name, document)] as const,
      )
      return Object.fromEntries(await Promise.all(entries)) as Record<RepresentationName, Representation>
    },
  }
}

/** Whether this host signs a document: not where the signatures of its author are kept. */
const isSignedByHost = (name: string, { signatures }: JsonObject): boolean =>
  signatures === undefined && signedNames.some(signed => signed === name)

const encode = async (text: string): Promise<Representation> => {
  const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  return { etag: await strongEtag(bytes), bytes }
}

/** Summarizes a card for lists; a list in a dialect shows values of the card's document in that dialect. */
const summarize = ({ card, documents }: Compiled): Summary => {
  const { name, description, version, supportedInterfaces, documentationUrl } = card
  const url = supportedInterfaces[0]?.url ?? ''
  const { shaman, superx } = documents
  return {
    name,
    description,
    version,
    url,
    protocol: textOr('a2a', superx.protocol),
    // The card may have any text there.
    ...(documentationUrl !== undefined && /^https?:/i.test(documentationUrl) && { documentationUrl }),
    shaman: { url: textOr(url, shaman.url), preferredTransport: textOr('JSONRPC', shaman.preferredTransport) },
  }
}

const textOr = (fallback: string, value: unknown): string => (typeof value === 'string' ? value : fallback)
