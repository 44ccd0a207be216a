import * as v from 'valibot'
import { isFieldName, parseUrl, toHttpUrl } from '../../http/shared.ts'
import { isJsonObject } from '../../json/index.ts'
import { httpUrl, link, looseObject, record } from './validation.ts'

const nonBlank = v.pipe(v.string(), v.regex(/\S/, 'must not be empty'))

/** Text that is not blank, on one line. */
export const singleLine = v.pipe(nonBlank, v.regex(/^\P{Cc}*$/u, 'must be one line, without control characters'))

/** A list of single-line strings. */
export const stringList = v.array(singleLine, 'must be a list of strings')

const grpcAddress = v.pipe(
  v.string('must be an address, as a string'),
  v.check(
    value => v.is(httpUrl, toHttpUrl(value)) && parseUrl(toHttpUrl(value))?.port !== '0',
    'must be host:port, such as grpc.example.com:443, or a URL with https',
  ),
)

const description = v.optional(v.string())

const oauthFlow = (...names: ('authorizationUrl' | 'deviceAuthorizationUrl' | 'tokenUrl')[]) =>
  v.optional(
    looseObject({
      ...Object.fromEntries(names.map(name => [name, httpUrl])),
      scopes: record(v.string()),
      refreshUrl: v.optional(httpUrl),
      pkceRequired: v.optional(v.boolean()),
    }),
  )

const OAuthFlows = looseObject({
  authorizationCode: oauthFlow('authorizationUrl', 'tokenUrl'),
  clientCredentials: oauthFlow('tokenUrl'),
  deviceCode: oauthFlow('deviceAuthorizationUrl', 'tokenUrl'),
  implicit: oauthFlow('authorizationUrl'),
  password: oauthFlow('tokenUrl'),
})

const ApiKey = v.pipe(
  looseObject({
    description,
    name: singleLine,
    location: v.picklist(['header', 'query', 'cookie'], 'must be header, query or cookie'),
  }),
  v.forward(
    v.check(
      ({ name, location }) => location !== 'header' || isFieldName(name),
      'is not a name that an HTTP header can have: use letters, digits and hyphens, such as "X-API-Key"',
    ),
    ['name'],
  ),
)
const HttpAuth = looseObject({ description, scheme: singleLine, bearerFormat: v.optional(singleLine) })
const OAuth2 = looseObject({ description, oauth2MetadataUrl: v.optional(httpUrl), flows: OAuthFlows })

const schemeEntries = {
  apiKeySecurityScheme: v.optional(ApiKey),
  httpAuthSecurityScheme: v.optional(HttpAuth),
  oauth2SecurityScheme: v.optional(OAuth2),
  openIdConnectSecurityScheme: v.optional(looseObject({ description, openIdConnectUrl: httpUrl })),
  mtlsSecurityScheme: v.optional(looseObject({ description })),
}

/** A way to authenticate, wrapped as in v1.0. Schemes of unknown types are kept as authored. */
const SecurityScheme = v.pipe(
  looseObject(schemeEntries),
  v.check(
    scheme => Object.keys(schemeEntries).filter(name => name in scheme).length < 2,
    'has several scheme types: give each its own name in `securitySchemes`',
  ),
)

/** The alternatives of a card or a skill, one of which a caller needs: schemes that are all required, with scopes. */
export const SecurityRequirements = v.array(
  looseObject({ schemes: record(looseObject({ list: v.optional(v.array(v.string())) })) }),
  'must be a list of requirements, such as [{ "bearer": [] }]',
)

const modes = v.pipe(stringList, v.nonEmpty('must name at least one media type'))

const interfaceAt = (url: v.GenericSchema<string>) =>
  looseObject({ url, protocolBinding: singleLine, protocolVersion: singleLine, tenant: v.optional(singleLine) })

/** An endpoint of an agent, with its protocol binding and version. */
export const AgentInterface = v.lazy(value =>
  isJsonObject(value) && value.protocolBinding === 'GRPC' ? interfaceAt(grpcAddress) : interfaceAt(httpUrl),
)
export type AgentInterface = v.InferOutput<typeof AgentInterface>

const AgentExtension = looseObject({
  uri: singleLine,
  description,
  required: v.optional(v.boolean()),
  params: v.optional(looseObject({})),
})

/** The optional features of an agent: the flags of v1.0, and those of other dialects that this host uses. */
const AgentCapabilities = looseObject(
  {
    streaming: v.optional(v.boolean()),
    pushNotifications: v.optional(v.boolean()),
    extendedAgentCard: v.optional(v.boolean()),
    multiTurn: v.optional(v.boolean()),
    stateTransitionHistory: v.optional(v.boolean()),
    extensions: v.optional(v.array(AgentExtension)),
  },
  'must be an object of flags, such as { "streaming": true }',
)

/** Values of undeclared capabilities, and the reason for the report. `isAssumed`: nothing shows that they are true. */
export type CapabilityDefaults = { flags: Readonly<Record<string, boolean>>; reason: string; isAssumed?: true }

/** Something that an agent can do. */
export const AgentSkill = looseObject({
  id: singleLine,
  name: singleLine,
  description: nonBlank,
  tags: v.pipe(stringList, v.nonEmpty('must have at least one tag')),
  examples: v.optional(v.array(nonBlank, 'must be a list of strings')),
  inputModes: v.optional(stringList),
  outputModes: v.optional(stringList),
  securityRequirements: v.optional(SecurityRequirements),
})
export type AgentSkill = v.InferOutput<typeof AgentSkill>

/** A signature of a card: a detached JWS (A2A 1.0 §8.4). */
const Signature = looseObject({ protected: singleLine, signature: singleLine, header: v.optional(looseObject({})) })

/** The canonical card: the v1.0 model, with every unknown field as authored. */
export const AgentCard = looseObject(
  {
    name: singleLine,
    description: nonBlank,
    version: singleLine,
    supportedInterfaces: v.pipe(v.array(AgentInterface), v.nonEmpty('must have at least one interface')),
    // The linter reports a URL of the provider that people cannot follow.
    provider: v.optional(looseObject({ organization: v.optional(singleLine), url: v.optional(v.string()) })),
    documentationUrl: v.optional(link),
    iconUrl: v.optional(link),
    capabilities: AgentCapabilities,
    securitySchemes: v.optional(record(SecurityScheme)),
    securityRequirements: v.optional(SecurityRequirements),
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: v.pipe(v.array(AgentSkill), v.nonEmpty('must have at least one skill')),
    signatures: v.optional(v.array(Signature)),
  },
  'must be a JSON object',
)
export type AgentCard = v.InferOutput<typeof AgentCard>

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
