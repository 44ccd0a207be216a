import { isJsonObject, type JsonObject, omit } from '../../src/json/json.ts'

/** What says where an agent is, in a card and in `upstream`. */
const endpoints = {
  card: ['url', 'supportedInterfaces', 'additionalInterfaces', 'preferredTransport'],
  upstream: ['url', 'card', 'mcp', 'service'],
} as const

/**
 * A manifest with what it inherits from the folder's defaults. Objects merge member by member, the manifest's own values
 * win, and an own `null` takes an inherited member away. A card that says where its agent is inherits no endpoint, no
 * upstream and so no upstream's secret: calls would go to the wrong agent otherwise.
 */
export const inherit = (defaults: JsonObject, own: JsonObject): JsonObject => {
  const { card = {}, upstream = {} } = own
  const placed = names(card, endpoints.card) || names(upstream, endpoints.upstream)
  return merge(placed ? withoutEndpoint(defaults) : defaults, own)
}

const names = (value: unknown, fields: readonly string[]): boolean =>
  isJsonObject(value) && fields.some(field => value[field] !== undefined)

const withoutEndpoint = (defaults: JsonObject): JsonObject => {
  const { upstream: _, ...rest } = defaults
  return isJsonObject(rest.card) ? { ...rest, card: omit(rest.card, ...endpoints.card) } : rest
}

const merge = (inherited: JsonObject, own: JsonObject): JsonObject => {
  const merged: JsonObject = { ...inherited }
  for (const [name, value] of Object.entries(own)) {
    const below = inherited[name]
    if (value === null && below !== undefined) delete merged[name]
    else merged[name] = isJsonObject(value) && isJsonObject(below) ? merge(below, value) : value
  }
  return merged
}
