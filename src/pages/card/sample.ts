import type { AgentCard, McpTool } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'

/** The content of a message, as a part of A2A 1.0. */
export type Part = { text: string; mediaType?: string } | { data: JsonObject } | { url: string; mediaType: string }

const MAX_EXAMPLE_LENGTH = 280

/** Returns content that an agent accepts: a call of a tool for an MCP server, else the first short example of a skill if it reads text. */
export const samplePart = ({ skills, defaultInputModes: modes }: AgentCard, tool?: McpTool): Part => {
  if (tool) return { data: { skillId: tool.skillId, arguments: sampleValue(tool.inputSchema) } }
  const example = skills.flatMap(({ examples = [] }) => examples).find(({ length }) => length <= MAX_EXAMPLE_LENGTH)
  const text = example ?? 'Hello'
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

/** Returns a value for a JSON Schema, with the required members of objects. The agent may refuse it, and says then why. */
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
