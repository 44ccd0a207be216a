import { isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../json/json.ts'

/**
 * Returns a card in the form of A2A 1.0, as the Python SDK reads cards of 0.3 (`parse_agent_card` of a2a-python 1.x): it converts
 * endpoints, requirements and security schemes before it verifies anything. Its signatures cover the result.
 */
export const toCurrentForm = (card: JsonObject): JsonObject => {
  const { url, preferredTransport, protocolVersion, additionalInterfaces, security, ...rest } = card
  const { supportsAuthenticatedExtendedCard, ...current } = rest
  return {
    ...current,
    ...(current.supportedInterfaces === undefined && url && { supportedInterfaces: readInterfaces(card) }),
    ...(supportsAuthenticatedExtendedCard && { capabilities: withExtendedCard(current.capabilities) }),
    ...(current.securityRequirements === undefined && {
      securityRequirements: readRequirements(security),
    }),
    ...(isJsonObject(current.securitySchemes) && {
      securitySchemes: Object.fromEntries(
        jsonEntries(current.securitySchemes).map(([name, scheme]) => [name, readScheme(scheme)]),
      ),
    }),
    ...(Array.isArray(current.skills) && { skills: current.skills.map(readSkill) }),
  }
}

const readInterfaces = ({ url, preferredTransport, protocolVersion, additionalInterfaces }: JsonObject): Json[] => {
  const version = protocolVersion ?? '0.3.0'
  const others = Array.isArray(additionalInterfaces) ? additionalInterfaces.filter(isJsonObject) : []
  return [
    { url, protocolBinding: preferredTransport ?? 'JSONRPC', protocolVersion: version },
    ...others.map(({ url, transport }) => ({ url, protocolBinding: transport, protocolVersion: version })),
  ]
}

const withExtendedCard = (capabilities: Json | undefined): JsonObject => ({
  extendedAgentCard: true,
  ...(isJsonObject(capabilities) && capabilities),
})

const readRequirements = (security: Json | undefined): Json | undefined =>
  Array.isArray(security)
    ? security.map(requirement => ({
        schemes: isJsonObject(requirement)
          ? Object.fromEntries(jsonEntries(requirement).map(([name, scopes]) => [name, { list: scopes }]))
          : {},
      }))
    : undefined

const readSkill = (skill: Json): Json => {
  if (!isJsonObject(skill) || skill.security === undefined) return skill
  const { security, ...rest } = skill
  return rest.securityRequirements === undefined ? { ...rest, securityRequirements: readRequirements(security) } : rest
}

const WRAPPERS = new Map([
  ['apiKey', 'apiKeySecurityScheme'],
  ['http', 'httpAuthSecurityScheme'],
  ['oauth2', 'oauth2SecurityScheme'],
  ['openIdConnect', 'openIdConnectSecurityScheme'],
  ['mutualTLS', 'mtlsSecurityScheme'],
])

const readScheme = (scheme: Json): Json => {
  if (!isJsonObject(scheme)) return scheme
  const { type, ...rest } = scheme
  const wrapper = typeof type === 'string' ? WRAPPERS.get(type) : undefined
  if (wrapper === undefined) return rest
  const inner = type === 'apiKey' && rest.in !== undefined ? { ...omit(rest, 'in'), location: rest.in } : rest
  return { [wrapper]: inner }
}
