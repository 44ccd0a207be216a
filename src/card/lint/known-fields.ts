const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Where fields stand in a card. */
export type Place = 'card' | 'capabilities' | 'provider' | 'skill' | 'interface'

/** The fields that A2A and GopherHole name: what an owner most likely meant. */
export const namedFields: Record<Place, readonly string[]> = {
  card: words(`name description url version protocolVersion provider iconUrl documentationUrl termsOfServiceUrl
    privacyPolicyUrl capabilities securitySchemes security securityRequirements defaultInputModes defaultOutputModes
    supportedInputModes supportedOutputModes skills supportsAuthenticatedExtendedCard preferredTransport
    additionalInterfaces supportedInterfaces signatures`),
  capabilities: words('streaming pushNotifications extendedAgentCard multiTurn stateTransitionHistory extensions'),
  provider: words('organization url'),
  skill: words('id name description tags examples inputModes outputModes security securityRequirements'),
  interface: words('url transport protocolBinding protocolVersion tenant'),
}

/** The fields that only SuperX, Shaman, Telex or a draft of A2A knows. */
export const dialectFields: Record<Place, readonly string[]> = {
  card: words(`protocol authentication interfaces supportedProtocols metadata tags icon supportUrl inputSchema
    outputSchema additionalCapabilities rateLimits resources prompts`),
  capabilities: words(`stateHistory multiModal parallelToolCalls authentication rateLimit contextWindow tools resources
    prompts sampling`),
  provider: words('name email contactEmail'),
  skill: words('inputSchema outputSchema parameters'),
  interface: [],
}

/** Fields that are found on top of cards, and where they belong. */
export const misplaced: Record<string, string> = {
  streaming: 'capabilities.streaming',
  pushNotifications: 'capabilities.pushNotifications',
  extendedAgentCard: 'capabilities.extendedAgentCard',
  multiTurn: 'capabilities.multiTurn',
  stateTransitionHistory: 'capabilities.stateTransitionHistory',
  extensions: 'capabilities.extensions',
  inputModes: 'defaultInputModes',
  outputModes: 'defaultOutputModes',
  organization: 'provider.organization',
}
