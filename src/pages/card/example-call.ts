import { type AgentCard, type CallTarget, toTarget, wireVersions } from '../../card/model/index.ts'
import { type Credential, callCredentials, headerCredential } from '../../card/read/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_EXAMPLE_CALL_LENGTH } from '../../limits.ts'
import { shorten } from '../components/index.ts'
import type { CardFacts } from './card-facts.ts'

/** A call that an agent accepts, which all snippets make. */
export type ExampleCall = {
  target: CallTarget | undefined
  part: Part
  /** The skill that the part is an example of. */
  skillId: string | undefined
  /** The skills that a message may name, for an agent that needs one: the tools of an MCP server. */
  choices: SkillChoice[]
  /** The URIs of the extensions that a client must declare. */
  extensions: string[]
  /** The credentials of the call, and those of the request for the card. */
  credentials: Credential[]
  forCard: Credential[]
}

/** Returns a call for an agent. Without a target, there is only its card to request. */
export const exampleCall = (facts: CardFacts): ExampleCall => {
  const { card } = facts
  const choices = toolChoices(facts)
  const call = {
    target: preferredTarget(card),
    ...{ choices, ...sampleOf(card, choices[0]) },
    extensions: (card.capabilities.extensions ?? []).filter(({ required }) => required).map(({ uri }) => uri),
    ...credentialsFor(facts),
  }
  // A longer one is no example for people, and no server accepts such a header or URL.
  const isTooLong = JSON.stringify({ ...call, choices: [] }).length > MAX_EXAMPLE_CALL_LENGTH
  return isTooLong ? { ...call, target: undefined, credentials: [] } : call
}

/** An internal agent asks for a token of this host: for its card, and behind the gateway for its calls. */
const credentialsFor = ({ card, route, visibility }: CardFacts): Pick<ExampleCall, 'credentials' | 'forCard'> => {
  const credentials = callCredentials(card)
  if (visibility === 'public') return { credentials, forCard: [] }
  const hostToken = headerCredential('HOST_TOKEN')
  if (route === 'direct') return { credentials, forCard: [hostToken] }
  const usesHeader = (each: Credential) =>
    each.kind === 'basic' || (each.kind === 'header' && each.name === hostToken.name)
  return { credentials: [hostToken, ...credentials.filter(each => !usesHeader(each))], forCard: [hostToken] }
}

/** Returns the newest version over JSON-RPC, else over HTTP; undefined for an agent that only other bindings reach. */
const preferredTarget = ({ supportedInterfaces }: AgentCard): CallTarget | undefined => {
  const targets = supportedInterfaces.flatMap(each => toTarget(each) ?? [])
  const newest = wireVersions.findLast(version => targets.some(target => target.version === version))
  const candidates = targets.filter(({ version }) => version === newest)
  return candidates.find(({ binding }) => binding === 'JSONRPC') ?? candidates[0]
}

/** The content of a message, as a part of A2A 1.0. */
export type Part = { text: string; mediaType?: string } | { data: JsonObject } | { url: string; mediaType: string }

const MAX_EXAMPLE_LENGTH = 280

type Sample = Pick<ExampleCall, 'part' | 'skillId'>

/** Returns content that an agent accepts: a call of a tool of an MCP server, or the first short example of a skill. */
const sampleOf = ({ skills, defaultInputModes }: AgentCard, tool?: SkillChoice): Sample => {
  if (tool) return { skillId: tool.id, part: { data: tool.data } }
  const examples = skills.flatMap(({ id, examples = [] }) => examples.map(text => ({ id, text })))
  const { id, text } = examples.find(({ text }) => text.length <= MAX_EXAMPLE_LENGTH) ?? {
    id: undefined,
    text: 'Hello',
  }
  return { skillId: id, part: partOf(text, defaultInputModes) }
}

/** A tool, and the data of a message that calls it. */
type SkillChoice = { id: string; name: string; data: JsonObject }

/** The tools among which people choose. */
const MAX_TOOLS = 50

const toolChoices = ({ card, tools }: CardFacts): SkillChoice[] =>
  tools.slice(0, MAX_TOOLS).map(({ skillId, inputSchema }) => {
    const name = card.skills.find(({ id }) => id === skillId)?.name ?? skillId
    return { id: skillId, name: shorten(name, 100), data: { skillId, arguments: sampleValue(inputSchema) } }
  })

/** Returns a text as a part of a type that an agent reads. */
const partOf = (text: string, modes: readonly string[]): Part => {
  const reads = (pattern: RegExp) => modes.find(mode => pattern.test(mode))
  if (modes.length === 0 || reads(/^(?:text(?:\/(?:plain|\*))?|\*(?:\/\*)?)\s*(?:;|$)/i) !== undefined) return { text }
  const textType = reads(/^text\/[^*]+$/i)
  if (textType !== undefined) return { text, mediaType: textType }
  const [other = 'application/octet-stream'] = modes
  if (reads(/^application\/(?:json|\*)\s*(?:;|$)/i) !== undefined) return { data: { request: text } }
  return { url: 'https://example.com/file', mediaType: other }
}

const MAX_DEPTH = 4
const samples: Record<string, Json> = { string: 'text', number: 1, integer: 1, boolean: true, null: null, array: [] }

/** Returns a value for a JSON Schema, with the required members of objects. The agent may refuse it. */
const sampleValue = (schema: Json | undefined, depth = 0): Json => {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {}
  const { default: initial, const: only, enum: choices, examples, minimum, properties, required } = schema
  const given = [initial, only, ...listOf(examples), ...listOf(choices)].find(value => value !== undefined)
  if (given !== undefined) return given
  const [type] = listOf(schema.type)
  if (typeof minimum === 'number' && minimum > 1) return Math.ceil(minimum)
  if (typeof type === 'string' && Object.hasOwn(samples, type)) return samples[type] ?? null
  if (!isJsonObject(properties)) return {}
  // A schema that repeats a name would multiply the work at each depth.
  const names = new Set(listOf(required).filter(name => typeof name === 'string' && Object.hasOwn(properties, name)))
  return Object.fromEntries([...names].map(name => [name, sampleValue(properties[name as string], depth + 1)]))
}

const listOf = (value: Json | undefined): Json[] => (value === undefined ? [] : [value].flat())
