import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { parseUrl } from '../../net/urls.ts'
import { endpointFields } from '../read/interfaces.ts'

/** The documents of one card that clients get: of a request without a version, and of one for A2A 1.0, which may get none. */
export type ServedCards = { plain: JsonObject; current?: JsonObject | undefined }

/** Fetches a JSON document. The error completes a sentence that begins with the URL. */
export type FetchJson = (url: string) => Promise<{ document: Json } | { error: string }>

/** Whether a document has what a card of any dialect has: a name and an endpoint. Many other documents have a name. */
export const isAgentCard = (document: JsonObject): boolean =>
  typeof document.name === 'string' && endpointFields.some(name => Object.hasOwn(document, name))

/** Returns the URL of a card: of a bare origin, that of the well-known card. */
export const resolveCardUrl = (url: string): string => {
  const parsed = parseUrl(url)
  return parsed?.pathname === '/' && parsed.search === '' ? `${parsed.origin}/.well-known/agent-card.json` : url
}

/**
 * Fetches what clients get of a card, with the headers that `fetchWith` is given. `missing` is why there is none for A2A 1.0; the error
 * completes a sentence about the address.
 */
export const fetchServedCards = async (
  fetchWith: (headers: Record<string, string>) => ReturnType<FetchJson>,
): Promise<{ served: ServedCards; missing?: string } | { error: string }> => {
  const fetchCard = async (headers: Record<string, string>): Promise<{ card: JsonObject } | { error: string }> => {
    const fetched = await fetchWith({ Accept: 'application/json', ...headers })
    if ('error' in fetched) return fetched
    return isJsonObject(fetched.document) && isAgentCard(fetched.document)
      ? { card: fetched.document }
      : { error: 'responded with JSON that is not an Agent Card' }
  }
  const [plain, current] = await Promise.all([fetchCard({}), fetchCard({ 'A2A-Version': '1.0' })])
  if ('error' in plain) return plain
  if ('card' in current) return { served: { plain: plain.card, current: current.card } }
  return { served: { plain: plain.card }, missing: `For A2A 1.0, the address ${current.error}.` }
}
