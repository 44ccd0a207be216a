import * as v from 'valibot'
import { anyText, flag, HttpUrl, line, lines, link, list, map, open, some, text } from './schema.ts'
import { SecurityScheme } from './security-scheme.ts'

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
