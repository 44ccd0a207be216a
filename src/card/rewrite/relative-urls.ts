import { parseUrl } from '../../http/shared.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, type Pointer } from '../../json/index.ts'
import type { Note } from '../model/index.ts'
import { endpointFields, interfaceTransports } from '../read/index.ts'

/** A reference that is clearly relative: a name alone may be a host without a scheme, or a placeholder. */
const relativeReference = /^(?:\.{0,2}\/)[^\s\p{Cc}<>{}\\]*$/u

/**
 * Resolves the relative URLs of a card's interfaces against the address from which the card was fetched, as links of a document are
 * (RFC 3986 §5.1.3). Returns a note on each.
 */
export const resolveInterfaceUrls = (card: JsonObject, base: string): { card: JsonObject; notes: Note[] } => {
  const notes: Note[] = []
  const resolve = (value: Json | undefined, pointer: Pointer): Json | undefined => {
    const url = typeof value === 'string' && relativeReference.test(value) ? parseUrl(value, base) : null
    if (url === null) return value
    notes.push({ pointer, message: `relative, resolved against the address of the card: ${url.href}` })
    return url.href
  }
  const resolved = endpointFields.flatMap((name): [string, Json | undefined][] => {
    const field = card[name]
    const pointer = formatPointer(name)
    if (!Array.isArray(field)) return typeof field === 'string' ? [[name, resolve(field, pointer)]] : []
    const items = field.map((item, index) =>
      isJsonObject(item) && item.url !== undefined && (name !== 'interfaces' || interfaceTransports(item).length > 0)
        ? { ...item, url: resolve(item.url, pointer + formatPointer(index, 'url')) }
        : item,
    )
    return [[name, items]]
  })
  return notes.length > 0 ? { card: { ...card, ...Object.fromEntries(resolved) }, notes } : { card, notes }
}
