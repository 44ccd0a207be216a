import { base64url } from 'jose'
import { readBytes } from '../../../http/shared.ts'

/** Characters of the compressed text in a link. Mail and chat programs cut longer links. */
const MAX_CODE_LENGTH = 16_000

/** Returns a link that carries a text in its fragment, which browsers never send; undefined if it is too long. */
export const linkWith = async (text: string): Promise<string | undefined> => {
  const compressed = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'))
  const code = base64url.encode(new Uint8Array(await new Response(compressed).arrayBuffer()))
  return code.length > MAX_CODE_LENGTH ? undefined : new URL(`#card=${code}`, location.href).href
}

const TOO_LARGE = { problem: 'The card in this link is too large.' }

/**
 * Returns the text in a fragment, or why it cannot be read; undefined for a fragment without one. A link may come from
 * anybody: reading stops at `maxBytes`, however far it would expand.
 */
export const readFragment = async (
  fragment: string,
  maxBytes: number,
): Promise<{ text: string } | { problem: string } | undefined> => {
  const code = new URLSearchParams(fragment.slice(1)).get('card')
  if (code === null) return undefined
  if (code.length > MAX_CODE_LENGTH) return TOO_LARGE
  try {
    const compressed = new Blob([new Uint8Array(base64url.decode(code))]).stream()
    const read = await readBytes(new Response(compressed.pipeThrough(new DecompressionStream('deflate-raw'))), maxBytes)
    return 'bytes' in read ? { text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) } : TOO_LARGE
  } catch {
    return { problem: 'The card in this link cannot be read: copy the whole link again, or paste the card.' }
  }
}
