import type { RepresentationName } from '../card/model/representation-names.ts'
import { kvCacheSeconds } from './edge/kv-cache.ts'
import type { SourceHealth } from './source-health.ts'

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
