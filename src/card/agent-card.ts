import * as v from 'valibot'

const text = v.pipe(v.string('must be a string'), v.regex(/\S/, 'must not be empty'))
const line = v.pipe(text, v.regex(/^\P{Cc}*$/u, 'must be one line, without control characters'))
const flag = v.boolean('must be true or false')
const lines = v.array(line, 'must be a list of strings')
const modes = v.pipe(lines, v.minLength(1, 'must name at least one media type'))
const open = v.looseObject

/** An absolute http or https URL without credentials. */
export const HttpUrl = v.pipe(
  v.string('must be a URL, as a string'),
  v.check(isAbsoluteHttpUrl, 'must be an absolute URL with http or https, such as https://agent.example.com/a2a'),
  v.check(value => !hasUserInfo(value), 'must not hold a user name or password'),
)

/** One endpoint of an agent, and what is spoken there. */
export const AgentInterface = open(
  { url: HttpUrl, protocolBinding: line, protocolVersion: line, tenant: v.optional(line) },
  'must be an object with url, protocolBinding and protocolVersion',
)
export type AgentInterface = v.InferOutput<typeof AgentInterface>

/** Who runs an agent. */
export const AgentProvider = open(
  { organization: v.optional(line), url: v.optional(v.string('must be a string')) },
  'must be an object with organization and url',
)

/** An extension of the protocol that an agent supports. */
export const AgentExtension = open(
  {
    uri: line,
    description: v.optional(v.string('must be a string')),
    required: v.optional(flag),
    params: v.optional(open({}, 'must be an object')),
  },
  'must be an object with a uri',
)

/** What an agent can do beyond answering a message. */
export const AgentCapabilities = open(
  {
    streaming: v.optional(flag),
    pushNotifications: v.optional(flag),
    extendedAgentCard: v.optional(flag),
    extensions: v.optional(v.array(AgentExtension, 'must be a list of extensions')),
  },
  'must be an object of flags, such as { "streaming": true }',
)

/** Alternatives of security schemes, each with the scopes that it needs. */
export const SecurityRequirement = open(
  {
    schemes: v.record(
      v.string(),
      open({ list: v.optional(lines) }, 'must be a list of scopes'),
      'must map scheme names to lists of scopes',
    ),
  },
  'must map scheme names to lists of scopes',
)

/** One thing that an agent can do. */
export const AgentSkill = open(
  {
    id: line,
    name: line,
    description: text,
    tags: v.pipe(lines, v.minLength(1, 'must hold at least one tag')),
    examples: v.optional(v.array(text, 'must be a list of strings')),
    inputModes: v.optional(lines),
    outputModes: v.optional(lines),
    securityRequirements: v.optional(v.array(SecurityRequirement, 'must be a list of requirements')),
  },
  'must be an object with id, name, description and tags',
)
export type AgentSkill = v.InferOutput<typeof AgentSkill>

const scopes = v.record(v.string(), v.string('must be a string'), 'must map scopes to descriptions')
const flow = (required: Record<string, typeof HttpUrl>) =>
  open({ ...required, scopes, refreshUrl: v.optional(HttpUrl) }, 'must be an object')
const describable = { description: v.optional(v.string('must be a string')) }

/** One way to authenticate, wrapped as v1.0 does. A scheme that A2A does not know is kept as it is. */
export const SecurityScheme = open(
  {
    apiKeySecurityScheme: v.optional(
      open({
        ...describable,
        name: line,
        location: v.picklist(['header', 'query', 'cookie'], 'must be header, query or cookie'),
      }),
    ),
    httpAuthSecurityScheme: v.optional(open({ ...describable, scheme: line, bearerFormat: v.optional(line) })),
    oauth2SecurityScheme: v.optional(
      open({
        ...describable,
        oauth2MetadataUrl: v.optional(HttpUrl),
        flows: open(
          {
            authorizationCode: v.optional(flow({ authorizationUrl: HttpUrl, tokenUrl: HttpUrl })),
            clientCredentials: v.optional(flow({ tokenUrl: HttpUrl })),
            deviceCode: v.optional(flow({ deviceAuthorizationUrl: HttpUrl, tokenUrl: HttpUrl })),
            implicit: v.optional(flow({})),
            password: v.optional(flow({})),
          },
          'must be an object of OAuth flows',
        ),
      }),
    ),
    openIdConnectSecurityScheme: v.optional(open({ ...describable, openIdConnectUrl: HttpUrl })),
    mtlsSecurityScheme: v.optional(open(describable)),
  },
  'must be an object that says what kind of scheme it is',
)

/** A signature over a card, as a detached JWS (v1.0 §8.4). */
export const AgentCardSignature = open(
  { protected: line, signature: line, header: v.optional(open({}, 'must be an object')) },
  'must be an object with protected and signature',
)

/** The canonical card: the v1.0 model, with every unknown field as authored. */
export const AgentCard = open(
  {
    name: line,
    description: text,
    version: line,
    supportedInterfaces: v.pipe(
      v.array(AgentInterface, 'must be a list of interfaces'),
      v.minLength(1, 'must hold at least one interface'),
    ),
    provider: v.optional(AgentProvider),
    documentationUrl: v.optional(v.string('must be a string')),
    iconUrl: v.optional(v.string('must be a string')),
    capabilities: AgentCapabilities,
    securitySchemes: v.optional(v.record(v.string(), SecurityScheme, 'must map names to security schemes')),
    securityRequirements: v.optional(v.array(SecurityRequirement, 'must be a list of requirements')),
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: v.pipe(v.array(AgentSkill, 'must be a list of skills'), v.minLength(1, 'must hold at least one skill')),
    signatures: v.optional(v.array(AgentCardSignature, 'must be a list of signatures')),
  },
  'must be a JSON object',
)
export type AgentCard = v.InferOutput<typeof AgentCard>

function isAbsoluteHttpUrl(value: string): boolean {
  return /^https?:\/\/[^\s\p{Cc}<>{}\\]+$/iu.test(value) && URL.canParse(value)
}

function hasUserInfo(value: string): boolean {
  const url = URL.parse(value)
  return url !== null && (url.username !== '' || url.password !== '')
}
