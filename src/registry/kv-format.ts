import type { RepresentationName } from '../card/model/index.ts'
import type { SourceHealth } from './source-record.ts'

export type { SourceHealth } from './source-record.ts'

/** One document as it is sent. `etag` is quoted. */
export type Representation = { etag: string; bytes: Uint8Array<ArrayBuffer> }

/** Names of an agent's documents: its representations, and the `profile` for checking calls, which is never served. */
export type DocumentName = RepresentationName | 'profile'

/** The documents of one agent by name; several names may share one document. */
export type Representations = Partial<Record<DocumentName, Representation>>

/** The value in KV of `card:{id}` or `extended:{id}:{tier}`. `modified` is an HTTP date. */
export type Envelope = {
  seq: number
  modified: string
  representations: Representations
  /** Set for a remote card. */
  source?: SourceHealth
}

/** The kinds of keys in KV. Their names are ids, but those of host names, and the SHA-256 of a token's text. */
export type KvKind = 'card' | 'extended' | 'host' | 'receipt' | 'token'

/**
 * The kinds of other work in the outbox: changes that `Events` has not read, an imported agent that is not in the
 * search index, the object that refreshes a remote card, documents to be signed with other keys, the object that knows
 * who started the tasks of an agent that was removed, and an agent whose tasks lose their owners.
 */
type WorkKind = 'events' | 'index' | 'refresh' | 'sign' | 'task-owners' | 'tasks'

/** Returns the key of a kind in KV or the outbox. The name for an extended card is an id, a colon and a tier. */
export const keyOf = (kind: KvKind | WorkKind, name: string): string => `${kind}:${name}`

/** The key for the changes that `Events` has not read yet. */
export const EVENTS_KEY = keyOf('events', '')

/** Returns KV's keys for an agent, for host names and for the tiers of its extended cards. */
export const agentKeys = (id: string, hostnames: readonly string[], tiers: readonly string[]): string[] => [
  keyOf('card', id),
  ...hostnames.map(hostname => keyOf('host', hostname)),
  ...tiers.map(tier => keyOf('extended', `${id}:${tier}`)),
]

/** Returns a key without the hash that a token is found by, for the log. */
export const redactKey = (key: string): string => key.replace(/[0-9a-f]{64}/, '…')

/** Lists each distinct document once, with all its names. */
export const groupByEtag = (representations: Representations): (Representation & { names: DocumentName[] })[] => {
  const groups = new Map<string, Representation & { names: DocumentName[] }>()
  for (const [name, { etag, bytes }] of Object.entries(representations) as [DocumentName, Representation][]) {
    const group = groups.get(etag)
    if (group) group.names.push(name)
    else groups.set(etag, { etag, bytes, names: [name] })
  }
  return [...groups.values()]
}

/** A document in a sequence of bytes: all its names, its entity tag, and its length in bytes. */
export type Part = [names: DocumentName[], etag: string, length: number]

/** The first line of an encoded envelope. */
type Header = Omit<Envelope, 'representations'> & { parts: Part[] }

/** Encodes an envelope: a line of JSON that lists the parts, then their bytes, which readers slice and never parse. */
export const encodeEnvelope = ({ representations, ...rest }: Envelope): Uint8Array<ArrayBuffer> => {
  const { parts, pieces } = toParts(representations)
  const header = new TextEncoder().encode(`${JSON.stringify({ ...rest, parts } satisfies Header)}\n`)
  return concatenate([header, ...pieces])
}

/** Returns the parts of documents, and the bytes of each. */
export const toParts = (representations: Representations): { parts: Part[]; pieces: Representation['bytes'][] } => {
  const documents = groupByEtag(representations)
  const parts = documents.map(({ names, etag, bytes }): Part => [names, etag, bytes.byteLength])
  return { parts, pieces: documents.map(({ bytes }) => bytes) }
}

/** Concatenates sequences of bytes. */
export const concatenate = (pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(pieces.reduce((length, { byteLength }) => length + byteLength, 0))
  let offset = 0
  for (const piece of pieces) {
    all.set(piece, offset)
    offset += piece.byteLength
  }
  return all
}

/** Decodes an envelope. Its representations are views into `buffer`: copy those that outlive it. */
export const decodeEnvelope = (buffer: ArrayBuffer): Envelope => {
  const encoded = new Uint8Array(buffer)
  const end = encoded.indexOf(0x0a)
  const { parts, ...rest }: Header = JSON.parse(new TextDecoder().decode(encoded.subarray(0, end)))
  return { ...rest, representations: readParts(parts, encoded.subarray(end + 1)) }
}

/** Returns the documents in a sequence of bytes by name. They are views into it. */
export const readParts = (parts: readonly Part[], all: Uint8Array<ArrayBuffer>): Representations => {
  const representations: Representations = {}
  let offset = 0
  for (const [names, etag, length] of parts) {
    const bytes = all.subarray(offset, offset + length)
    for (const name of names) representations[name] = { etag, bytes }
    offset += length
  }
  return representations
}

/** Checks whether the upstream fails and the card is older than its `ttl`. */
export const isStale = ({ failing, checked, ttl }: SourceHealth): boolean =>
  failing !== undefined && ageInSeconds(checked) > ttl

/** Checks whether the upstream has failed for so long that the card is no longer served. */
export const isExpired = ({ failing, checked, ttl, staleIfError }: SourceHealth): boolean =>
  failing !== undefined && ageInSeconds(checked) > ttl + staleIfError

/** Returns the header fields that mark a response as stale (RFC 9111 §5.1, RFC 7234 §5.5). */
export const staleHeaders = ({ checked }: SourceHealth): Record<string, string> => ({
  Age: String(ageInSeconds(checked)),
  Warning: '110 - "Response is Stale", 111 - "Revalidation Failed"',
})

const ageInSeconds = (checked: number): number => Math.floor((Date.now() - checked) / 1000)
