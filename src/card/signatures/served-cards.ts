import { parseUrl } from '../../http/shared.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { endpointFields } from '../read/index.ts'

/** The documents of a card that clients get: without a version, and for A2A 1.0, which may get none. */
export type ServedCards = { plain: JsonObject; current?: JsonObject | undefined }

/** Fetches a JSON document; `url` is its address after redirects. The error completes a sentence about the URL. */
export type FetchJson = (url: string) => Promise<{ document: Json; url?: string } | { error: string }>

/** Checks that a document has a name and an endpoint, as a card of any dialect. Many other documents have a name. */
export const isAgentCard = (document: JsonObject): boolean =>
  typeof document.name === 'string' && endpointFields.some(name => Object.hasOwn(document, name))

/** Returns the URL of a card: of a bare origin, that of the well-known card. */
export const resolveCardUrl = (url: string): string => {
  const parsed = parseUrl(url)
  return parsed?.pathname === '/' && parsed.search === '' ? `${parsed.origin}/.well-known/agent-card.json` : url
}

/**
 * Fetches what clients get of a card, with the URLs and headers that `fetchWith` is given: the document for A2A 1.0
 * from where the first was found, so that redirects are followed once. `url` is that address. `missing` is why there is
 * none for A2A 1.0; the error completes a sentence about the address.
 */
export const fetchServedCards = async (
  address: string,
  fetchWith: (url: string, headers: Record<string, string>) => ReturnType<FetchJson>,
): Promise<{ served: ServedCards; url: string; missing?: string } | { error: string }> => {
  type Fetched = { card: JsonObject; url: string } | { error: string }
  const fetchCard = async (from: string, headers: Record<string, string>): Promise<Fetched> => {
    const fetched = await fetchWith(from, { Accept: 'application/json', ...headers })
    if ('error' in fetched) return fetched
    const { document, url = from } = fetched
    return isJsonObject(document) && isAgentCard(document)
      ? { card: document, url }
      : { error: 'responded with JSON that is not an Agent Card' }
  }
  const plain = await fetchCard(address, {})
  if ('error' in plain) return plain
  const { card, url } = plain
  const current = await fetchCard(url, { 'A2A-Version': '1.0' })
  if ('card' in current) return { served: { plain: card, current: current.card }, url }
  return { served: { plain: card }, url, missing: `For A2A 1.0, the address ${current.error}.` }
}
