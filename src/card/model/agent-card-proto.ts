/**
 * The shape of a value in a2a.proto: anything, a list, or a message. A name ends with `?` where the field is neither
 * REQUIRED nor `optional`, and so has no presence of its own. A map has one field for all names, `*`.
 */
export type Shape = 'any' | readonly [Shape] | Message
export type Message = { readonly [name: string]: Shape }

const fields = (names: string): Message => Object.fromEntries(names.split(' ').map(name => [name, 'any']))

const requirements: Shape = [{ 'schemes?': { '*': fields('list?') } }]

/** A way to authenticate, wrapped in its type. */
export const securitySchemeMessage: Message = {
  apiKeySecurityScheme: fields('description? location name'),
  httpAuthSecurityScheme: fields('description? scheme bearerFormat?'),
  oauth2SecurityScheme: {
    ...fields('description? oauth2MetadataUrl?'),
    flows: {
      authorizationCode: fields('authorizationUrl tokenUrl refreshUrl? scopes pkceRequired?'),
      clientCredentials: fields('tokenUrl refreshUrl? scopes'),
      // Deprecated: the proto requires none of the fields of these two.
      implicit: fields('authorizationUrl? refreshUrl? scopes?'),
      password: fields('tokenUrl? refreshUrl? scopes?'),
      deviceCode: fields('deviceAuthorizationUrl tokenUrl refreshUrl? scopes'),
    },
  },
  openIdConnectSecurityScheme: fields('description? openIdConnectUrl'),
  mtlsSecurityScheme: fields('description?'),
}

/** The organization that runs an agent. */
export const providerMessage = fields('organization url')

/** The Agent Card of A2A 1.0, with the fields in the order of the proto. */
export const agentCardMessage: Message = {
  ...fields('name description'),
  supportedInterfaces: [fields('url protocolBinding tenant? protocolVersion')],
  provider: providerMessage,
  ...fields('version documentationUrl'),
  capabilities: {
    ...fields('streaming pushNotifications extendedAgentCard'),
    'extensions?': [fields('uri? description? required? params')],
  },
  'securitySchemes?': { '*': securitySchemeMessage },
  'securityRequirements?': requirements,
  ...fields('defaultInputModes defaultOutputModes'),
  skills: [
    {
      ...fields('id name description tags examples? inputModes? outputModes?'),
      'securityRequirements?': requirements,
    },
  ],
  signatures: [fields('protected signature header')],
  ...fields('iconUrl'),
}

/** Returns the shape of a field of a message; undefined if the message does not define it. */
export const getField = (message: Message, name: string): Shape | undefined => {
  const keys = name.endsWith('?') ? ['*'] : ['*', name, `${name}?`]
  const key = keys.find(key => Object.hasOwn(message, key))
  return key === undefined ? undefined : message[key]
}
