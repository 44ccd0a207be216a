import * as v from 'valibot'
import { isFieldName, parseUrl, toHttpUrl } from '../../http/shared.ts'
import { isJsonObject, toText } from '../../json/index.ts'
import { type Facts, known, type Members, member, membersOf, message, optional, plain, required } from './members.ts'
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

const flag = v.boolean()
const text = v.string()
const texts = v.array(nonBlank, 'must be a list of strings')
const tags = v.pipe(stringList, v.nonEmpty('must have at least one tag'))
const modes = v.pipe(stringList, v.nonEmpty('must name at least one media type'))

// The tables of members. What a version of A2A adds is a row, in the order of a2a.proto.

/** A security scheme. OpenAPI and A2A 0.3 have a type in place of a wrapper. */
const scheme = <Rows extends Parameters<typeof message>[0]>(rows: Rows) =>
  message({ description: plain(text), ...rows, type: known() })

const ApiKey = v.pipe(
  scheme({
    location: required(v.picklist(['header', 'query', 'cookie'], 'must be header, query or cookie')),
    name: required(singleLine),
    in: known(),
  }),
  v.forward(
    v.check(
      ({ name, location }) => location !== 'header' || isFieldName(name),
      'is not a name that an HTTP header can have: use letters, digits and hyphens, such as "X-API-Key"',
    ),
    ['name'],
  ),
)

type FlowUrl = 'authorizationUrl' | 'deviceAuthorizationUrl' | 'tokenUrl'

/** The members of an OAuth flow. The proto requires none of a deprecated flow; this host requires them of all. */
const flowMembers = (presence: 'required' | 'plain', ...urls: FlowUrl[]) => ({
  ...Object.fromEntries(urls.map(name => [name, member(presence, httpUrl)])),
  refreshUrl: plain(httpUrl),
  scopes: member(presence, record(text)),
  pkceRequired: member(undefined, v.optional(flag)),
})

/** The OAuth flows, of which a scheme of v1.0 has one. */
const OAuthFlows = message({
  authorizationCode: optional(
    message({ ...flowMembers('required', 'authorizationUrl', 'tokenUrl'), pkceRequired: plain(flag) }),
  ),
  clientCredentials: optional(message(flowMembers('required', 'tokenUrl'))),
  deviceCode: optional(message(flowMembers('required', 'deviceAuthorizationUrl', 'tokenUrl'))),
  implicit: optional(message(flowMembers('plain', 'authorizationUrl'))),
  password: optional(message(flowMembers('plain', 'tokenUrl'))),
})

const v0 = (name: string): Facts => ({ in: { '0.3': name } })

const wrapped = <Schema extends v.GenericSchema>(type: string, schema: Schema) => optional(schema, undefined, v0(type))

const schemes = message({
  apiKeySecurityScheme: wrapped('apiKey', ApiKey),
  httpAuthSecurityScheme: wrapped('http', scheme({ scheme: required(singleLine), bearerFormat: plain(singleLine) })),
  oauth2SecurityScheme: wrapped('oauth2', scheme({ oauth2MetadataUrl: plain(httpUrl), flows: required(OAuthFlows) })),
  openIdConnectSecurityScheme: wrapped('openIdConnect', scheme({ openIdConnectUrl: required(httpUrl) })),
  mtlsSecurityScheme: wrapped('mutualTLS', scheme({})),
})
const wrappers = [...membersOf(schemes).keys()]

/** A way to authenticate, wrapped as in v1.0. Schemes of unknown types are kept as authored. */
const SecurityScheme = v.pipe(
  schemes,
  v.check(
    scheme => wrappers.filter(name => name in scheme).length < 2,
    'has several scheme types: give each its own name in `securitySchemes`',
  ),
)

/** The alternatives of a card or a skill, one of which a caller needs: schemes that are all required, with scopes. */
export const SecurityRequirements = v.array(
  message({ schemes: member('plain', record(message({ list: plain(v.array(text)) }))) }),
  'must be a list of requirements, such as [{ "bearer": [] }]',
)
export type SecurityRequirements = v.InferOutput<typeof SecurityRequirements>

// The texts of members that have several names.
const URL_ABOUT = 'Where the agent is called: a URL, or host:port for gRPC.'
const BINDING_ABOUT = 'JSONRPC, HTTP+JSON or GRPC.'
const VERSION_ABOUT = 'The version of A2A, such as "1.0" or "0.3.0".'
const SECURITY_ABOUT = 'Which schemes a caller needs: one entry of the list, with all schemes in it.'
const INPUT_ABOUT = 'The media types that the agent accepts, such as text/plain.'
const OUTPUT_ABOUT = 'The media types that the agent produces.'
const EXTENDED_ABOUT = 'Whether callers with a token get another card. `extended` and `tiers` set it.'

const interfaceAt = (url: v.GenericSchema<string>) =>
  message({
    url: required(url, URL_ABOUT),
    protocolBinding: required(singleLine, BINDING_ABOUT),
    tenant: plain(singleLine, 'The tenant that calls to this endpoint are for.'),
    protocolVersion: required(singleLine, VERSION_ABOUT),
    transport: known(),
  })
const [HttpInterface, GrpcInterface] = [interfaceAt(httpUrl), interfaceAt(grpcAddress)]

/** An endpoint of an agent, with its protocol binding and version. */
export const AgentInterface = v.lazy(value =>
  isJsonObject(value) && value.protocolBinding === 'GRPC' ? GrpcInterface : HttpInterface,
)
export type AgentInterface = v.InferOutput<typeof AgentInterface>

const additionalInterface = message({ url: known(URL_ABOUT), transport: known(BINDING_ABOUT) })

const AgentExtension = message({
  // The proto does not require it; this host does.
  uri: member('plain', singleLine, undefined, { is: 'id' }),
  description: plain(text),
  required: plain(flag),
  params: optional(looseObject({})),
})

const shaman = (name: string): Facts => ({ in: { shaman: name } })
const gopherhole = (name: string): Facts => ({ in: { gopherhole: name } })

const otherFlag = (about: string, facts?: Facts) => member(undefined, v.optional(flag), about, facts)

const AgentCapabilities = message(
  {
    streaming: optional(flag, 'Whether the agent answers with streams.'),
    pushNotifications: optional(flag, 'Whether the agent calls clients back.'),
    extendedAgentCard: optional(flag, EXTENDED_ABOUT),
    extensions: plain(v.array(AgentExtension), 'Extensions of A2A that the agent supports.'),
    multiTurn: otherFlag('Whether the agent continues a conversation (GopherHole).'),
    stateTransitionHistory: otherFlag('Whether tasks have a history of states (A2A 0.3).', shaman('stateHistory')),
  },
  'must be an object of flags, such as { "streaming": true }',
)

/** Values of undeclared capabilities, and the reason for the report. `isAssumed`: nothing shows that they are true. */
export type CapabilityDefaults = { flags: Readonly<Record<string, boolean>>; reason: string; isAssumed?: true }

/** The organization that runs an agent. The proto requires both members; without one, A2A's cards have no provider. */
const AgentProvider = message({
  organization: member('required', v.optional(singleLine), 'The name of the organization.', shaman('name')),
  // The linter reports one that people cannot follow.
  url: member('required', v.optional(text), 'The website of the organization.'),
})

/** Something that an agent can do. */
export const AgentSkill = message({
  id: required(singleLine, 'The id of the skill in kebab-case.', { is: 'id' }),
  name: required(singleLine, 'What the skill is called.', { is: 'text' }),
  description: required(nonBlank, 'What the skill does, what it takes and what it returns.', { is: 'text' }),
  tags: required(tags, 'Words by which people and catalogs find the skill.', { is: 'text' }),
  examples: plain(texts, 'Prompts that the skill can answer.', { is: 'text' }),
  inputModes: plain(stringList, 'The media types that the skill accepts, if they are not those of the agent.'),
  outputModes: plain(stringList, 'The media types that the skill produces, if they are not those of the agent.'),
  securityRequirements: plain(SecurityRequirements, SECURITY_ABOUT),
  security: known(SECURITY_ABOUT),
})
export type AgentSkill = v.InferOutput<typeof AgentSkill>

/** A signature of a card: a detached JWS (A2A 1.0 §8.4). */
const Signature = message({
  protected: required(singleLine),
  signature: required(singleLine),
  header: optional(looseObject({})),
})

const interfaces = v.pipe(v.array(AgentInterface), v.nonEmpty('must have at least one interface'))
const skills = v.pipe(v.array(AgentSkill), v.nonEmpty('must have at least one skill'))

/** The canonical card: the v1.0 model, with every unknown field as authored. */
export const AgentCard = message(
  {
    name: required(singleLine, 'What the agent is called.', { is: 'text' }),
    description: required(
      nonBlank,
      'What the agent does, for whom, and what it needs to know. Clients and other agents choose by it.',
      { is: 'text' },
    ),
    supportedInterfaces: required(interfaces, 'Where the agent is called, the preferred endpoint first (A2A 1.0).'),
    provider: optional(AgentProvider, 'Who runs the agent.', { is: 'text', keepsUrls: true }),
    version: required(singleLine, 'The version of the agent, such as "1.0.0".'),
    documentationUrl: optional(link, 'The URL of the documentation.', { is: 'link' }),
    capabilities: required(AgentCapabilities, 'Optional features of A2A that the agent has.'),
    securitySchemes: plain(record(SecurityScheme), 'How callers can authenticate, by name, as in OpenAPI.', {
      keepsUrls: true,
    }),
    securityRequirements: plain(SecurityRequirements, SECURITY_ABOUT, v0('security')),
    defaultInputModes: required(modes, INPUT_ABOUT, gopherhole('supportedInputModes')),
    defaultOutputModes: required(modes, OUTPUT_ABOUT, gopherhole('supportedOutputModes')),
    skills: required(skills, 'What the agent can do, one entry each.'),
    signatures: plain(v.array(Signature), 'Signatures of the card (A2A 1.0).', { keepsUrls: true }),
    iconUrl: optional(link, 'The URL of an icon.', {
      is: 'link',
      // In other dialects an icon can be an emoji, or the name of one.
      in: { shaman: 'icon' },
      accepts: value => /^https?:\/\//i.test(toText(value)),
    }),
    url: known(URL_ABOUT),
    protocolVersion: known(VERSION_ABOUT),
    preferredTransport: known(BINDING_ABOUT),
    additionalInterfaces: known('More endpoints of the agent (A2A 0.3).', { shape: v.array(additionalInterface) }),
    security: known(SECURITY_ABOUT),
    supportsAuthenticatedExtendedCard: known(EXTENDED_ABOUT),
    supportedInputModes: known(INPUT_ABOUT),
    supportedOutputModes: known(OUTPUT_ABOUT),
    termsOfServiceUrl: known('The URL of the terms of service.', { is: 'link' }),
    privacyPolicyUrl: known('The URL of the privacy policy.', { is: 'link' }),
  },
  'must be a JSON object',
)
export type AgentCard = v.InferOutput<typeof AgentCard>

/** The lists of media types of an agent, and those that a skill has in their place. */
export const modeMembers = [
  { direction: 'input', defaults: 'defaultInputModes', own: 'inputModes' },
  { direction: 'output', defaults: 'defaultOutputModes', own: 'outputModes' },
] as const

/** The members of the objects in a card, by the kind of object. */
export const cardMembers = {
  card: membersOf(AgentCard),
  capabilities: membersOf(AgentCapabilities),
  provider: membersOf(AgentProvider),
  skill: membersOf(AgentSkill),
  interface: membersOf(AgentInterface),
  extension: membersOf(AgentExtension),
  wrappers: membersOf(SecurityScheme),
  scheme: new Map([...membersOf(SecurityScheme).values()].flatMap(({ inner = [] }) => [...inner])),
  flows: membersOf(OAuthFlows),
} satisfies Record<string, Members>
