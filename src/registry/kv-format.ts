import type { RepresentationName } from '../card/model/constants.ts'

/** One document ready to be sent. `etag` is quoted. */
export type Representation = { etag: string; bytes: Uint8Array<ArrayBuffer> }

/** The documents of one agent: what is served, and `profile`, which the gate checks calls against and nobody is sent. */
export type DocumentName = RepresentationName | 'profile'

/** The documents of one agent by their names; several names may share one. */
export type Representations = Partial<Record<DocumentName, Representation>>

/** What the edge keeps of one agent, as KV has it under `card:{id}`. `modified` is an HTTP date. */
export type Envelope = {
  seq: number
  modified: string
  representations: Representations
  /** How the source of the card stands, where it is from elsewhere. */
  source?: SourceHealth
}

type Header = Omit<Envelope, 'representations'> & { parts: [names: DocumentName[], etag: string, length: number][] }

/** Each document once, with the names that it goes by. */
export const groupByEtag = (representations: Representations): (Representation & { names: DocumentName[] })[] => {
  const found = new Map<string, Representation & { names: DocumentName[] }>()
  for (const [name, { etag, bytes }] of Object.entries(representations) as [DocumentName, Representation][]) {
    const same = found.get(etag)
    if (same) same.names.push(name)
    else found.set(etag, { etag, bytes, names: [name] })
  }
  return [...found.values()]
}

/** An envelope as bytes: one line of JSON that lists the parts, then the parts themselves, to be sliced and never parsed. */
export const encodeEnvelope = ({ representations, ...rest }: Envelope): Uint8Array<ArrayBuffer> => {
  const documents = groupByEtag(representations)
  const parts = documents.map(({ names, etag, bytes }): Header['parts'][number] => [names, etag, bytes.byteLength])
  const line = new TextEncoder().encode(`${JSON.stringify({ ...rest, parts } satisfies Header)}\n`)
  const encoded = new Uint8Array(line.byteLength + documents.reduce((size, { bytes }) => size + bytes.byteLength, 0))
  encoded.set(line)
  let at = line.byteLength
  for (const { bytes } of documents) {
    encoded.set(bytes, at)
    at += bytes.byteLength
  }
  return encoded
}

/** Reads an envelope. Its representations are views into `buffer`: copy what is to outlive it. */
export const decodeEnvelope = (buffer: ArrayBuffer): Envelope => {
  const all = new Uint8Array(buffer)
  const end = all.indexOf(0x0a)
  const { parts, ...rest }: Header = JSON.parse(new TextDecoder().decode(all.subarray(0, end)))
  const representations: Representations = {}
  let at = end + 1
  for (const [names, etag, length] of parts) {
    const bytes = all.subarray(at, at + length)
    for (const name of names) representations[name] = { etag, bytes }
    at += length
  }
  return { ...rest, representations }
}

/** What KV says of what it has not heard of. */
const unheardOf: Envelope = { seq: 0, modified: '', representations: {} }

/** Reads the envelope under a key of KV; copy what is to outlive it. */
export const readEnvelope = async (key: string, env: Env): Promise<Envelope> => {
  const buffer = await env.CARDS.get(key, { type: 'arrayBuffer', cacheTtl: kvCacheSeconds })
  return buffer ? decodeEnvelope(buffer) : unheardOf
}

/** KV's key of the documents of an agent. */
export const cardKey = (id: string): string => `card:${id}`

/** KV's key of who a host name stands for. */
export const hostKey = (hostname: string): string => `host:${hostname}`

/** KV's key of the extended card of a tier. */
export const extendedKey = (id: string, tier: string): string => `extended:${id}:${tier}`

/** KV's key of the token whose text has this SHA-256, in hexadecimal. */
export const tokenKey = (hash: string): string => `token:${hash}`

/** KV's keys of an agent, of host names and of the tiers of its extended cards. */
export const keysOf = (id: string, hostnames: readonly string[], tiers: readonly string[]): string[] => [
  cardKey(id),
  ...hostnames.map(hostKey),
  ...tiers.map(tier => extendedKey(id, tier)),
]

/** A key as the log may show it: without what a token is found by. */
export const redactKey = (key: string): string => key.replace(/[0-9a-f]{64}/, '…')

export const kvCacheSeconds = 30

export type ChangesText = { since: number; seqs: [id: string, seq: number][] }

/**
 * What the edge knows of the source of a card. `checked`: when the card was known to be the source's, in ms since 1970, 0 for
 * never; while the source is well that may be long ago, as not every good word is passed on. `failing`: what a client is told
 * once the card is too old.
 */
export type SourceHealth = {
  checked: number
  /** In seconds. */
  ttl: number
  staleIfError: number
  failing?: 502 | 503 | 504
}
