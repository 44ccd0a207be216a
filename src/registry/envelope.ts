import type { RepresentationName } from '../card/representations.ts'

/** One document ready to be sent. `etag` is quoted. */
export type Representation = { etag: string; bytes: Uint8Array<ArrayBuffer> }

/** Everything public of one agent, as KV keeps it under `card:{id}`. `modified` is an HTTP date. */
export type Envelope = {
  seq: number
  modified: string
  representations: Partial<Record<RepresentationName, Representation>>
}

type Header = { seq: number; modified: string; parts: [RepresentationName, string, number][] }

/** An envelope as bytes: one line of JSON that lists the parts, then the parts themselves, to be sliced and never parsed. */
export const encodeEnvelope = ({ seq, modified, representations }: Envelope): Uint8Array<ArrayBuffer> => {
  const parts = Object.entries(representations) as [RepresentationName, Representation][]
  const header: Header = {
    seq,
    modified,
    parts: parts.map(([name, { etag, bytes }]) => [name, etag, bytes.byteLength]),
  }
  const line = new TextEncoder().encode(`${JSON.stringify(header)}\n`)
  const encoded = new Uint8Array(line.byteLength + parts.reduce((size, [, { bytes }]) => size + bytes.byteLength, 0))
  encoded.set(line)
  let at = line.byteLength
  for (const [, { bytes }] of parts) {
    encoded.set(bytes, at)
    at += bytes.byteLength
  }
  return encoded
}

/** Reads an envelope. Its representations are views into `buffer`: copy what is to outlive it. */
export const decodeEnvelope = (buffer: ArrayBuffer): Envelope => {
  const all = new Uint8Array(buffer)
  const end = all.indexOf(0x0a)
  const { seq, modified, parts }: Header = JSON.parse(new TextDecoder().decode(all.subarray(0, end)))
  const representations: Envelope['representations'] = {}
  let at = end + 1
  for (const [name, etag, length] of parts) {
    representations[name] = { etag, bytes: all.subarray(at, at + length) }
    at += length
  }
  return { seq, modified, representations }
}
