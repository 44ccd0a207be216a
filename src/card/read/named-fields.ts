const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** The fields that A2A and GopherHole name, by the object that holds them. */
export const knownFields = {
  card: words(`name description url version protocolVersion provider iconUrl documentationUrl termsOfServiceUrl
    privacyPolicyUrl capabilities securitySchemes security securityRequirements defaultInputModes defaultOutputModes
    supportedInputModes supportedOutputModes skills supportsAuthenticatedExtendedCard preferredTransport
    additionalInterfaces supportedInterfaces signatures`),
  capabilities: words('streaming pushNotifications extendedAgentCard multiTurn stateTransitionHistory extensions'),
  provider: words('organization url'),
  skill: words('id name description tags examples inputModes outputModes security securityRequirements'),
  interface: words('url transport protocolBinding protocolVersion tenant'),
  scheme: words('type description in name scheme bearerFormat flows oauth2MetadataUrl openIdConnectUrl'),
} as const

/** An object of a card whose fields have names. */
export type Level = keyof typeof knownFields
