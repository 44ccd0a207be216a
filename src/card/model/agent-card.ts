import * as v from 'valibot'
import { anyText, flag, HttpUrl, line, lines, link, list, map, oneOf, open, some, text } from './schema.ts'

const describable = { description: v.optional(anyText) }

const flow = (required: Record<string, typeof HttpUrl>) =>
  open({
    ...required,
    scopes: map(anyText),
    refreshUrl: v.optional(HttpUrl),
    pkceRequired: v.optional(flag),
  })

const oauthFlows = open({
  authorizationCode: v.optional(flow({ authorizationUrl: HttpUrl, tokenUrl: HttpUrl })),
  clientCredentials: v.optional(flow({ tokenUrl: HttpUrl })),
  deviceCode: v.optional(flow({ deviceAuthorizationUrl: HttpUrl, tokenUrl: HttpUrl })),
  implicit: v.optional(flow({ authorizationUrl: HttpUrl })),
  password: v.optional(flow({ tokenUrl: HttpUrl })),
})

const kinds = {
  apiKeySecurityScheme: {
    ...describable,
    name: line,
    location: oneOf('header', 'query', 'cookie'),
  },
  httpAuthSecurityScheme: { ...describable, scheme: line, bearerFormat: v.optional(line) },
  oauth2SecurityScheme: { ...describable, oauth2MetadataUrl: v.optional(HttpUrl), flows: oauthFlows },
  openIdConnectSecurityScheme: { ...describable, openIdConnectUrl: HttpUrl },
  mtlsSecurityScheme: describable,
}

/** One way to authenticate, wrapped as v1.0 does. A scheme that A2A does not know is kept as it is. */
const SecurityScheme = v.pipe(
  open(
    Object.fromEntries(
      Object.entries<v.ObjectEntries>(kinds).map(([name, entries]) => [name, v.optional(open(entries))]),
    ),
  ),
  v.check(
    scheme => Object.keys(kinds).filter(name => name in scheme).length < 2,
    'is of several kinds: give each its own name in securitySchemes',
  ),
)

const modes = some(lines, 'must name at least one media type')

/** One endpoint of an agent, and what is spoken there. */
export const AgentInterface = open({
  url: HttpUrl,
  protocolBinding: line,
  protocolVersion: line,
  tenant: v.optional(line),
})
export type AgentInterface = v.InferOutput<typeof AgentInterface>

/** Who runs an agent. */
const AgentProvider = open({ organization: v.optional(line), url: v.optional(link) })

/** An extension of the protocol that an agent supports. */
const AgentExtension = open({
  uri: line,
  description: v.optional(anyText),
  required: v.optional(flag),
  params: v.optional(open({})),
})

/** What an agent can do beyond answering a message: v1.0's flags, and those of the other dialects that have a meaning. */
const AgentCapabilities = open(
  {
    streaming: v.optional(flag),
    pushNotifications: v.optional(flag),
    extendedAgentCard: v.optional(flag),
    multiTurn: v.optional(flag),
    stateTransitionHistory: v.optional(flag),
    extensions: v.optional(list(AgentExtension)),
  },
  'must be an object of flags, such as { "streaming": true }',
)

/** Security schemes that are needed together, each with the scopes that it needs. */
const SecurityRequirement = open({
  schemes: map(open({ list: v.optional(list(anyText)) })),
})

const requirements = list(SecurityRequirement, 'must be a list of requirements, such as [{ "bearer": [] }]')

/** One thing that an agent can do. */
export const AgentSkill = open({
  id: line,
  name: line,
  description: text,
  tags: some(lines, 'must hold at least one tag'),
  examples: v.optional(list(text, 'must be a list of strings')),
  inputModes: v.optional(lines),
  outputModes: v.optional(lines),
  securityRequirements: v.optional(requirements),
})
export type AgentSkill = v.InferOutput<typeof AgentSkill>

/** A signature over a card, as a detached JWS (v1.0 §8.4). */
const AgentCardSignature = open({ protected: line, signature: line, header: v.optional(open({})) })

/** The canonical card: the v1.0 model, with every unknown field as authored. */
export const AgentCard = open(
  {
    name: line,
    description: text,
    version: line,
    supportedInterfaces: some(list(AgentInterface), 'must hold at least one interface'),
    provider: v.optional(AgentProvider),
    documentationUrl: v.optional(link),
    iconUrl: v.optional(link),
    capabilities: AgentCapabilities,
    securitySchemes: v.optional(map(SecurityScheme)),
    securityRequirements: v.optional(requirements),
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: some(list(AgentSkill), 'must hold at least one skill'),
    signatures: v.optional(list(AgentCardSignature)),
  },
  'must be a JSON object',
)
export type AgentCard = v.InferOutput<typeof AgentCard>
