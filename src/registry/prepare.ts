import type { Compiled, ParsedManifest } from '../card/compile/index.ts'
import { missingCardProfile } from '../card/index.ts'
import type { Manifest } from '../card/manifest/index.ts'
import { type AgentCard, type ChangeClass, signedNames } from '../card/model/index.ts'
import { type CardSigner, signCard } from '../card/signatures/index.ts'
import { type Precondition, strongEtag } from '../http/index.ts'
import type { JsonObject } from '../json/index.ts'
import type { Signing } from '../signing/index.ts'
import { type PackedDocuments, packDocuments, publicTier } from './documents.ts'
import type { Representation, Representations } from './kv-format.ts'
import type { SearchFields, Summary } from './search-fields.ts'
import { collectSearchFields, noSearchFields } from './search-terms.ts'
import type { SourceRecord } from './source-record.ts'

/** A manifest compiled and hashed, ready to be stored and published. */
export type Registration = {
  id: string
  /** The manifest as JSON text, and its entity tag. */
  manifest: string
  manifestEtag: string
  visibility: Manifest['visibility']
  /** The set of agents that the manifest names; undefined for none. */
  set: string | undefined
  hosts: readonly string[]
  /** The origin that absolute URLs of this host start with. */
  origin: string
  summary: Summary
  search: SearchFields
  /** The public card, then the extended ones, the lowest tier first; empty while a remote card was never fetched. */
  cards: PreparedCard[]
  /** Absent while a remote card has never been fetched. */
  signing?: StoredSigning
  /** The CallProfile as JSON. It is published next to the documents of the public card and never served. */
  profile: string
  /** Set for an agent with a remote card. */
  source?: SourceRecord
} & WriteTerms

/** A card of an agent: its documents, and `card`, the canonical one as JSON text, for the history. */
export type PreparedCard = PackedDocuments & { tier: string; card: string }

/**
 * The signatures of this host in an agent's documents, by the digest of what each signs, and the names of the keys for
 * which it was decided how they are signed (`nameSigners`).
 */
export type StoredSigning = { signers: string; signatures: Readonly<Record<string, string>> }

/** The terms of a write: it is rejected unless `expected` still describes what is stored. */
type WriteTerms = {
  expected: Expected
  /** `admin`, the id of a token, or `host` for a refresh that nobody requested. */
  actor: string
  /** Absent for a registration that is just that. */
  cause?: WriteCause
  /** The class of what changes for clients; absent for a new agent, and where nothing can be compared. */
  changeClass?: ChangeClass
}

/**
 * The state that a write expects (optimistic concurrency): the client's precondition, and what the write was computed
 * from. `seq` is the agent's newest revision, null for no agent; `checked` is that of its source record, null where it
 * has none.
 */
export type Expected = Precondition & { seq?: number | null; checked?: number | null }

/** The cause of a special write: it accepts a pending card by its entity tag, or restores the revision `seq`. */
export type WriteCause = { accepted: string } | { restored: number }

/** Without a compiled card, the remote card of the agent has never been fetched. */
type PreparedAgent = { compiled: Compiled | undefined; record?: SourceRecord | undefined; signing: Signing }

/** Turns what is compiled into the bytes to be served, signed where this host signs, and their entity tags. */
export const prepareRegistration = async (
  { id, document, manifest, origin }: Pick<ParsedManifest, 'id' | 'document' | 'manifest' | 'origin'>,
  { compiled, record, signing }: PreparedAgent,
  terms: WriteTerms,
): Promise<Registration> => {
  const text = JSON.stringify(document)
  const { visibility, set, hosts } = manifest
  return {
    ...{ id, manifest: text, manifestEtag: (await encode(text)).etag, visibility, set, hosts, origin },
    profile: JSON.stringify(compiled?.profile ?? missingCardProfile(manifest)),
    ...(compiled ? await prepareCard(compiled, signing) : prepareMissingCard(id, manifest)),
    ...terms,
    ...(record && { source: record }),
  }
}

const prepareCard = async ({ card, documents, profile, extended }: Compiled, signing: Signing) => {
  const encoder = createEncoder('signer' in signing ? signing.signer : undefined)
  const cards: PreparedCard[] = []
  for (const { tier, ...compiled } of [{ tier: publicTier, card, documents }, ...extended])
    cards.push({
      ...{ tier, card: JSON.stringify(compiled.card) },
      ...packDocuments(await encoder.encodeDocuments(compiled.documents)),
    })
  return {
    summary: { ...summarize(card, documents), ...(!profile.mcpServer && { mcp: 'off' as const }) },
    search: {
      ...collectSearchFields(card),
      // The policy of the manifest may leave the signatures of the author out of all documents that clients verify.
      signed: signedNames.some(name => documents[name].signatures !== undefined),
    },
    cards,
    signing: { signers: signing.signers, signatures: encoder.signatures },
  }
}

/** Prepares an agent that is known and listed, but has no card to serve. */
const prepareMissingCard = (id: string, manifest: Manifest) => ({
  summary: {
    ...{ name: textOr(id, manifest.card.name), description: '', version: '', url: '' },
    ...{ protocol: 'a2a', shaman: { url: '', preferredTransport: 'JSONRPC' } },
  },
  search: noSearchFields,
  cards: [],
})

/** Encodes the documents of one agent. Dialects and tiers often have equal ones: each is signed and encoded once. */
const createEncoder = (signer: CardSigner | undefined) => {
  const [signedTexts, texts] = [new Map<string, Promise<Representation>>(), new Map<string, Promise<Representation>>()]
  const signatures: Record<string, string> = {}
  const encodeSigned = async (document: JsonObject, signer: CardSigner): Promise<Representation> => {
    const signed = await signCard(document, signer)
    Object.assign(signatures, signed.signatures)
    return encode(JSON.stringify(signed.document))
  }
  const encodeDocument = (name: string, document: JsonObject): Promise<Representation> => {
    // Not where the signatures of the author are kept.
    const isSigner = signer && document.signatures === undefined && signedNames.some(signed => signed === name)
    const text = JSON.stringify(document)
    const encoded = isSigner ? signedTexts : texts
    const representation = encoded.get(text) ?? (isSigner ? encodeSigned(document, signer) : encode(text))
    encoded.set(text, representation)
    return representation
  }
  return {
    /** The signatures that were made or used again, by the digest of what they sign. */
    signatures,
    encodeDocuments: async (documents: Compiled['documents']): Promise<Representations> => {
      const entries = Object.entries(documents).map(
        async ([name, document]) => [name, await encodeDocument(name, document)] as const,
      )
      return Object.fromEntries(await Promise.all(entries))
    },
  }
}

const encode = async (text: string): Promise<Representation> => {
  const bytes = new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  return { etag: await strongEtag(bytes), bytes }
}

/** Summarizes a card for lists; a list in a dialect shows values of the card's document in that dialect. */
const summarize = (card: AgentCard, { shaman, superx }: Compiled['documents']): Summary => {
  const { name, description, version, supportedInterfaces, documentationUrl } = card
  const url = supportedInterfaces[0]?.url ?? ''
  return {
    ...{ name, description, version, url, protocol: textOr('a2a', superx.protocol) },
    // The card may have any text there.
    ...(documentationUrl !== undefined && /^https?:/i.test(documentationUrl) && { documentationUrl }),
    shaman: { url: textOr(url, shaman.url), preferredTransport: textOr('JSONRPC', shaman.preferredTransport) },
  }
}

const textOr = (fallback: string, value: unknown): string => (typeof value === 'string' ? value : fallback)
