import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { DocumentName, Envelope, Part, Representations, SourceHealth } from './kv-format.ts'
import { concatenate, readParts, toParts } from './kv-format.ts'

/** The documents of one card, each once. `body` has the bytes of all, compressed: they have nearly all in common. */
export type PackedDocuments = { parts: Part[]; body: Uint8Array<ArrayBuffer> }

/** The tier of the public card, next to those of the extended cards. */
export const publicTier = ''

/** A row of the Registry's database is limited to 2 MB; the rest is for the columns next to a document. */
const MAX_ROW_BYTES = 1_900_000

/** Checks whether each of these texts fits in a row of the Registry's database. */
export const fitsInRow = (texts: readonly string[]): boolean =>
  // In UTF-8 a UTF-16 unit takes three bytes at most.
  texts.every(text => text.length * 3 <= MAX_ROW_BYTES || new TextEncoder().encode(text).byteLength <= MAX_ROW_BYTES)

/** Packs the documents of a card for one row. */
export const packDocuments = (representations: Representations): PackedDocuments => {
  const { parts, pieces } = toParts(representations)
  const bytes = concatenate(pieces)
  const compressed = zstdCompressSync(bytes, { params: bytes.byteLength > MAX_ROW_BYTES ? FAR : NEAR })
  // A copy without the rest of the buffer, which would be sent to the Registry, too.
  return { parts, body: new Uint8Array(compressed) }
}

const NEAR = { [constants.ZSTD_c_compressionLevel]: 1 }

/** Finds what large documents have in common in the last 16 MiB: otherwise they would not fit in a row. */
const FAR = { ...NEAR, [constants.ZSTD_c_enableLongDistanceMatching]: 1, [constants.ZSTD_c_windowLog]: 24 }

/** Returns the documents of a card by name, all of them in one buffer. Throws if `body` does not have their bytes. */
export const unpackDocuments = ({ parts, body }: PackedDocuments): Representations => {
  const length = lengthOf(parts)
  const limits = { maxOutputLength: length + MAX_BLOCK_BYTES, chunkSize: Math.max(length, MIN_CHUNK_BYTES) }
  const bytes = zstdDecompressSync(body, limits)
  if (bytes.byteLength !== length) throw new Error('stored documents do not have the length of their parts')
  return readParts(parts, bytes)
}

/** Returns the length in bytes of all documents of a card. */
export const lengthOf = (parts: readonly Part[]): number => parts.reduce((sum, [, , length]) => sum + length, 0)

/** A block of Zstandard (RFC 8878 §3.1.1.2.4): workerd needs room for another one behind the last. */
const MAX_BLOCK_BYTES = 128 * 1024

/** The least that Node decompresses at once. */
const MIN_CHUNK_BYTES = 64

/** Returns the entity tags of the documents of a card by name. */
export const etagsByName = (parts: readonly Part[]): Partial<Record<DocumentName, string>> =>
  Object.fromEntries(parts.flatMap(([names, etag]) => names.map(name => [name, etag])))

/** What is published of an agent with each of its cards. `modified` is in ms since 1970. */
type Published = { seq: number; modified: number; source?: SourceHealth | undefined }

/** Returns the envelope of a card; without documents while a remote card was never fetched. */
export const toEnvelope = ({ seq, modified, source }: Published, card: PackedDocuments | undefined): Envelope => ({
  ...{ seq, modified: new Date(modified).toUTCString() },
  representations: card ? unpackDocuments(card) : {},
  ...(source && { source }),
})

/** Returns the envelope of a public card with the call profile; of an internal agent, the edge has only that. */
export const toAgentEnvelope = (
  { visibility, profile, source, ...published }: Published & { visibility: string; profile: string },
  card: PackedDocuments | undefined,
): Envelope => {
  const isPublic = visibility === 'public'
  const envelope = isPublic ? toEnvelope({ ...published, source }, card) : toEnvelope(published, undefined)
  const bytes = new TextEncoder().encode(profile) as Uint8Array<ArrayBuffer>
  return { ...envelope, representations: { ...envelope.representations, profile: { etag: '', bytes } } }
}
