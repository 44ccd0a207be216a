import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  omit,
  type Pointer,
  toText,
} from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import { type AgentSkill, type McpTool, toSlug, wireVersionOf } from '../model/index.ts'
import { findField } from './field-names.ts'
import { parseCardVersion, presentEndpointFields } from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { createUniqueSlugs } from './skills.ts'

/** MCP's hints about a tool, and the tag for each. */
const hintTags = {
  readOnlyHint: 'read-only',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'open-world',
} as const

/** How many arguments a generated description names. */
const MAX_ARGUMENT_NAMES = 20

/**
 * Reads the document made from an MCP server: its skills are all tools, and its endpoint is the server or the owner's
 * `upstream.url`. The document itself, which is served to readers of SuperX, has no endpoint.
 */
export const withMcpEndpoint = (
  { upstream: { mcp, url } }: Pick<Manifest, 'upstream'>,
  document: JsonObject,
  provenance: Provenance,
): JsonObject => {
  const card = readToolCard(document, () => true, provenance)
  if (mcp === undefined || presentEndpointFields(card).length > 0) return card
  if (url === undefined) return { protocol: 'mcp', ...card, url: mcp }
  const declared = parseCardVersion(toText(card.protocolVersion))
  const protocolVersion = wireVersionOf.has(declared) ? declared : '1.0'
  provenance.noteDefault('/supportedInterfaces', `set to JSONRPC of A2A ${protocolVersion} at \`upstream.url\``)
  return {
    ...omit(card, 'protocol', 'protocolVersion'),
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }],
  }
}

/**
 * Reads the tools of an MCP server, as SuperX lists them, into skills that A2A clients can use. A card without modes of its own
 * gets those of all its tools.
 */
export const readToolCard = (
  card: JsonObject,
  isTool: (skill: JsonObject) => boolean,
  provenance: Provenance,
): JsonObject => {
  if (!Array.isArray(card.skills)) return card
  const ids = toolIds(card.skills, isTool)
  const tools: JsonObject[] = []
  const skills = card.skills.map((skill, index) => {
    if (!isJsonObject(skill) || !isTool(skill)) return skill
    const tool = readTool(skill, ids[index] ?? 'tool', formatPointer('skills', index), provenance)
    tools.push(tool)
    return tool
  })
  return tools.length === 0 ? card : { ...card, ...unionModes(card, tools, provenance), skills }
}

/** Returns the skill ids of tools, all different, and the ids of other skills unchanged. */
export const toolIds = (skills: readonly Json[], isTool: (skill: JsonObject) => boolean): (string | undefined)[] => {
  const others = skills.flatMap(skill => (isJsonObject(skill) && !isTool(skill) ? [skill.id] : []))
  const makeUnique = createUniqueSlugs(others)
  return skills.map(skill => {
    if (!isJsonObject(skill)) return undefined
    const { id, name } = skill
    if (!isTool(skill)) return typeof id === 'string' ? id : undefined
    return makeUnique(toSlug(toText(id ?? name), 'tool'))
  })
}

/**
 * Returns the tools of a document made from an MCP server, with the ids of the skills that were read from them. The server
 * knows a tool by its id in the document; an owner may have changed its name.
 */
export const listMcpTools = (document: JsonObject, skills: readonly AgentSkill[]): McpTool[] =>
  (Array.isArray(document.skills) ? document.skills : []).flatMap((tool: Json, index) => {
    const name = isJsonObject(tool) ? (tool.id ?? tool.name) : undefined
    const skillId = skills[index]?.id
    if (!isJsonObject(tool) || typeof name !== 'string' || skillId === undefined) return []
    return [{ skillId, name, inputSchema: isJsonObject(tool.inputSchema) ? tool.inputSchema : { type: 'object' } }]
  })

/** Adds the modes of all tools as the defaults of a card that has none. */
const unionModes = (card: JsonObject, tools: readonly JsonObject[], provenance: Provenance): JsonObject =>
  Object.fromEntries(
    (['input', 'output'] as const).flatMap((direction): [string, Json][] => {
      const field = direction === 'input' ? 'defaultInputModes' : 'defaultOutputModes'
      if (!isEmpty(card[findField(card, field)])) return []
      const modes = [...new Set(tools.flatMap((tool): Json[] => [tool[`${direction}Modes`] ?? []].flat()))]
      provenance.noteDefault(formatPointer(field), `set to ${JSON.stringify(modes)}`)
      return [[field, modes]]
    }),
  )

const readTool = (tool: JsonObject, id: string, pointer: Pointer, provenance: Provenance): JsonObject => {
  const name = typeof tool.name === 'string' ? tool.name.replace(/\p{Cc}+/gu, ' ').trim() || id : (tool.name ?? id)
  const schema = isJsonObject(tool.inputSchema) ? tool.inputSchema : {}
  const generated: Record<string, Json> = {
    id,
    name,
    ...(isEmpty(tool.description) && { description: describeTool(toText(name), schema) }),
    ...(isEmpty(tool.tags) && { tags: tagsOf(tool) }),
    ...(isEmpty(tool.inputModes) && { inputModes: [...inputModes] }),
    ...(isEmpty(tool.outputModes) && { outputModes: outputModesOf(tool) }),
  }
  for (const [field, value] of Object.entries(generated))
    if (typeof tool[field] !== 'string')
      provenance.noteDefault(pointer + formatPointer(field), `set to ${JSON.stringify(value)}`)
    else if (tool[field] !== value)
      provenance.noteConversion(pointer + formatPointer(field), `read as ${JSON.stringify(value)}`)
  return { ...tool, ...generated }
}

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && !/\S/.test(value)) ||
  (Array.isArray(value) && value.length === 0)

const describeTool = (name: string, { properties }: JsonObject): string => {
  const names = Object.keys(isJsonObject(properties) ? properties : {}).slice(0, MAX_ARGUMENT_NAMES)
  return names.length > 0 ? `Calls the tool ${name} with ${names.join(', ')}.` : `Calls the tool ${name}.`
}

const tagsOf = ({ annotations }: JsonObject): string[] => [
  'tool',
  'mcp',
  ...(isJsonObject(annotations)
    ? Object.entries(hintTags).flatMap(([hint, tag]) => (annotations[hint] === true ? [tag] : []))
    : []),
]

/** Arguments are data, JSON as text, or the text of the only required argument. Answers to elicitations may be texts, too. */
const inputModes = ['application/json', 'text/plain'] as const

/** A tool with an output schema returns data first. Any tool may return images too, but none declares them. */
const outputModesOf = ({ outputSchema }: JsonObject): string[] =>
  isJsonObject(outputSchema) ? ['application/json', 'text/plain'] : ['text/plain', 'application/json']
