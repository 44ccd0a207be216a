import { anyObject, array, boolean, map, object, oneOf, type Schema, string } from './json-schema.ts'

// A2A 0.3.0 §5.5. Security schemes are those of OpenAPI 3.0; arrays may be empty.

const scopes = map(string)
const flows = object(
  {},
  {
    authorizationCode: object({ authorizationUrl: string, tokenUrl: string, scopes }, { refreshUrl: string }),
    clientCredentials: object({ tokenUrl: string, scopes }, { refreshUrl: string }),
    implicit: object({ authorizationUrl: string, scopes }, { refreshUrl: string }),
    password: object({ tokenUrl: string, scopes }, { refreshUrl: string }),
  },
)

const schemeOfType = (type: string, required: Record<string, Schema>, optional: Record<string, Schema> = {}) =>
  object({ type: oneOf(type), ...required }, { description: string, ...optional })

const securityScheme = {
  anyOf: [
    schemeOfType('apiKey', { name: string, in: oneOf('query', 'header', 'cookie') }),
    schemeOfType('http', { scheme: string }, { bearerFormat: string }),
    schemeOfType('oauth2', { flows }, { oauth2MetadataUrl: string }),
    schemeOfType('openIdConnect', { openIdConnectUrl: string }),
    schemeOfType('mutualTLS', {}),
  ],
}

const security = array(map(array(string)))

const skill = object(
  { id: string, name: string, description: string, tags: array(string) },
  { examples: array(string), inputModes: array(string), outputModes: array(string), security },
)

const capabilities = object(
  {},
  {
    streaming: boolean,
    pushNotifications: boolean,
    stateTransitionHistory: boolean,
    extensions: array(object({ uri: string }, { description: string, required: boolean, params: anyObject })),
  },
)

/** The Agent Card of A2A 0.3. */
export const agentCardV03 = object(
  {
    name: string,
    description: string,
    url: string,
    version: string,
    protocolVersion: string,
    capabilities,
    defaultInputModes: array(string),
    defaultOutputModes: array(string),
    skills: array(skill),
  },
  {
    preferredTransport: string,
    additionalInterfaces: array(object({ url: string, transport: string })),
    provider: object({ url: string, organization: string }),
    documentationUrl: string,
    iconUrl: string,
    supportsAuthenticatedExtendedCard: boolean,
    securitySchemes: map(securityScheme),
    security,
    signatures: array(object({ protected: string, signature: string }, { header: anyObject })),
  },
)
