import * as v from 'valibot'
import { httpUrl, link, looseObject, nonBlank, record, singleLine, stringList } from './schema.ts'

const describable = { description: v.optional(v.string()) }

const flow = (required: Record<string, typeof httpUrl>) =>
  looseObject({
    ...required,
    scopes: record(v.string()),
    refreshUrl: v.optional(httpUrl),
    pkceRequired: v.optional(v.boolean()),
  })

const oauthFlows = looseObject({
  authorizationCode: v.optional(flow({ authorizationUrl: httpUrl, tokenUrl: httpUrl })),
  clientCredentials: v.optional(flow({ tokenUrl: httpUrl })),
  deviceCode: v.optional(flow({ deviceAuthorizationUrl: httpUrl, tokenUrl: httpUrl })),
  implicit: v.optional(flow({ authorizationUrl: httpUrl })),
  password: v.optional(flow({ tokenUrl: httpUrl })),
})

const kinds = {
  apiKeySecurityScheme: {
    ...describable,
    name: singleLine,
    location: v.picklist(['header', 'query', 'cookie'], 'must be header, query or cookie'),
  },
  httpAuthSecurityScheme: { ...describable, scheme: singleLine, bearerFormat: v.optional(singleLine) },
  oauth2SecurityScheme: { ...describable, oauth2MetadataUrl: v.optional(httpUrl), flows: oauthFlows },
  openIdConnectSecurityScheme: { ...describable, openIdConnectUrl: httpUrl },
  mtlsSecurityScheme: describable,
}

/** One way to authenticate, wrapped as v1.0 does. A scheme that A2A does not know is kept as it is. */
const SecurityScheme = v.pipe(
  looseObject(
    Object.fromEntries(
      Object.entries<v.ObjectEntries>(kinds).map(([name, entries]) => [name, v.optional(looseObject(entries))]),
    ),
  ),
  v.check(
    scheme => Object.keys(kinds).filter(name => name in scheme).length < 2,
    'is of several kinds: give each its own name in securitySchemes',
  ),
)

const modes = v.pipe(stringList, v.nonEmpty('must name at least one media type'))

/** One endpoint of an agent, and what is spoken there. */
export const AgentInterface = looseObject({
  url: httpUrl,
  protocolBinding: singleLine,
  protocolVersion: singleLine,
  tenant: v.optional(singleLine),
})
export type AgentInterface = v.InferOutput<typeof AgentInterface>

/** Who runs an agent. */
const AgentProvider = looseObject({ organization: v.optional(singleLine), url: v.optional(link) })

/** An extension of the protocol that an agent supports. */
const AgentExtension = looseObject({
  uri: singleLine,
  description: v.optional(v.string()),
  required: v.optional(v.boolean()),
  params: v.optional(looseObject({})),
})

/** What an agent can do beyond answering a message: v1.0's flags, and those of the other dialects that have a meaning. */
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

/** Security schemes that are needed together, each with the scopes that it needs. */
const SecurityRequirement = looseObject({
  schemes: record(looseObject({ list: v.optional(v.array(v.string())) })),
})

const requirements = v.array(SecurityRequirement, 'must be a list of requirements, such as [{ "bearer": [] }]')

/** One thing that an agent can do. */
export const AgentSkill = looseObject({
  id: singleLine,
  name: singleLine,
  description: nonBlank,
  tags: v.pipe(stringList, v.nonEmpty('must hold at least one tag')),
  examples: v.optional(v.array(nonBlank, 'must be a list of strings')),
  inputModes: v.optional(stringList),
  outputModes: v.optional(stringList),
  securityRequirements: v.optional(requirements),
})
export type AgentSkill = v.InferOutput<typeof AgentSkill>

/** A signature over a card, as a detached JWS (v1.0 §8.4). */
const AgentCardSignature = looseObject({
  protected: singleLine,
  signature: singleLine,
  header: v.optional(looseObject({})),
})

/** The canonical card: the v1.0 model, with every unknown field as authored. */
export const AgentCard = looseObject(
  {
    name: singleLine,
    description: nonBlank,
    version: singleLine,
    supportedInterfaces: v.pipe(v.array(AgentInterface), v.nonEmpty('must hold at least one interface')),
    provider: v.optional(AgentProvider),
    documentationUrl: v.optional(link),
    iconUrl: v.optional(link),
    capabilities: AgentCapabilities,
    securitySchemes: v.optional(record(SecurityScheme)),
    securityRequirements: v.optional(requirements),
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: v.pipe(v.array(AgentSkill), v.nonEmpty('must hold at least one skill')),
    signatures: v.optional(v.array(AgentCardSignature)),
  },
  'must be a JSON object',
)
export type AgentCard = v.InferOutput<typeof AgentCard>
