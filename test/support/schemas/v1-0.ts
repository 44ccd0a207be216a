import { anyObject, array, boolean, exactlyOne, map, nonEmptyArray, object, oneOf, string } from './json-schema.ts'

// A2A 1.0 §4.4 and §4.5, and a2a.proto: a REQUIRED repeated field has at least one item.

const description = { description: string }

const scopes = map(string)
const flows = exactlyOne({
  authorizationCode: object(
    { authorizationUrl: string, tokenUrl: string, scopes },
    { refreshUrl: string, pkceRequired: boolean },
  ),
  clientCredentials: object({ tokenUrl: string, scopes }, { refreshUrl: string }),
  deviceCode: object({ deviceAuthorizationUrl: string, tokenUrl: string, scopes }, { refreshUrl: string }),
  // Deprecated, without required fields.
  implicit: object({}, { authorizationUrl: string, refreshUrl: string, scopes }),
  password: object({}, { tokenUrl: string, refreshUrl: string, scopes }),
})

const securityScheme = exactlyOne({
  // The proto has a string, its comment names the three values.
  apiKeySecurityScheme: object({ name: string, location: oneOf('query', 'header', 'cookie') }, description),
  httpAuthSecurityScheme: object({ scheme: string }, { ...description, bearerFormat: string }),
  oauth2SecurityScheme: object({ flows }, { ...description, oauth2MetadataUrl: string }),
  openIdConnectSecurityScheme: object({ openIdConnectUrl: string }, description),
  mtlsSecurityScheme: object({}, description),
})

const securityRequirements = array(object({}, { schemes: map(object({}, { list: array(string) })) }))

const skill = object(
  { id: string, name: string, description: string, tags: nonEmptyArray(string) },
  { examples: array(string), inputModes: array(string), outputModes: array(string), securityRequirements },
)

const capabilities = object(
  {},
  {
    streaming: boolean,
    pushNotifications: boolean,
    extendedAgentCard: boolean,
    extensions: array(object({}, { uri: string, description: string, required: boolean, params: anyObject })),
  },
)

/** The Agent Card of A2A 1.0. */
export const agentCardV1 = object(
  {
    name: string,
    description: string,
    supportedInterfaces: nonEmptyArray(
      object({ url: string, protocolBinding: string, protocolVersion: string }, { tenant: string }),
    ),
    version: string,
    capabilities,
    defaultInputModes: nonEmptyArray(string),
    defaultOutputModes: nonEmptyArray(string),
    skills: nonEmptyArray(skill),
  },
  {
    provider: object({ url: string, organization: string }),
    documentationUrl: string,
    iconUrl: string,
    securitySchemes: map(securityScheme),
    securityRequirements,
    signatures: array(object({ protected: string, signature: string }, { header: anyObject })),
  },
)
