import { isJsonObject, type JsonObject } from '../json/json.ts'
import { collectStrings } from '../json/tree.ts'
import type { AgentCard } from './model/agent-card.ts'

/**
 * The discovery documents of the OpenID Connect issuers that count, each once: those that a card names and that are in what its
 * owner has written. Whose tokens open an agent at this host is never for the source of a fetched card to say.
 */
export const trustedIssuers = ({ securitySchemes = {} }: AgentCard, written: JsonObject): string[] => {
  const own = new Set(collectStrings(written).flatMap(({ name, value }) => (issuerField.test(name) ? [value] : [])))
  const urls = Object.values(securitySchemes).flatMap(scheme => {
    const issuer = scheme.openIdConnectSecurityScheme
    return isJsonObject(issuer) && typeof issuer.openIdConnectUrl === 'string' ? [issuer.openIdConnectUrl] : []
  })
  return [...new Set(urls)].filter(url => own.has(url))
}

const issuerField = /^open_?id_?connect_?url$/i
