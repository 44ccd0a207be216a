import { formatPointer, isJsonObject, type Json, type JsonObject, omit, type Pointer } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import type { AgentSkill } from '../model/agent-card.ts'
import { type McpTool, majorMinor, textArgument, wireVersionOf } from '../model/calls.ts'

import { toSlug } from '../model/constants.ts'
import { findField } from './field-names.ts'
import { presentEndpointFields } from './interfaces.ts'
import type { Provenance } from './provenance.ts'

/**
 * The tools of a document that was made of an MCP server, beside the skills that were read of it. The server knows a tool by
 * the id that the document gives it; its name there may be an owner's.
 */
export const listMcpTools = (document: JsonObject, skills: readonly AgentSkill[]): McpTool[] =>
  (Array.isArray(document.skills) ? document.skills : []).flatMap((tool: Json, index) => {
    const name = isJsonObject(tool) ? (tool.id ?? tool.name) : undefined
    const skillId = skills[index]?.id
    if (!isJsonObject(tool) || typeof name !== 'string' || skillId === undefined) return []
    return [{ skillId, name, inputSchema: isJsonObject(tool.inputSchema) ? tool.inputSchema : { type: 'object' } }]
  })

/** What MCP lets a server hint at of a tool, and the tag that it is. */
const hints = {
  readOnlyHint: 'read-only',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'open-world',
} as const

/** Of the arguments that a description names. */
const mostNames = 20

/**
 * Reads the tools of an MCP server, as SuperX lists them, into skills that A2A's readers can use: with an id in kebab-case that
 * no other has, a description, tags, and the media types that a call of the tool takes and gives. What is said of them stays.
 */
const toolsToSkills = (
  skills: readonly Json[],
  isTool: (skill: JsonObject) => boolean,
  provenance: Provenance,
): Json[] => {
  const ids = toolIds(skills, isTool)
  return skills.map((skill, index) =>
    isJsonObject(skill) && isTool(skill)
      ? readTool(skill, ids[index] ?? 'tool', formatPointer('skills', index), provenance)
      : skill,
  )
}

/** A card whose skills are the tools of an MCP server, with the media types of all of them where it says none itself. */
export const readToolCard = (
  card: JsonObject,
  isTool: (skill: JsonObject) => boolean,
  provenance: Provenance,
): JsonObject => {
  if (!Array.isArray(card.skills)) return card
  const skills = toolsToSkills(card.skills, isTool, provenance)
  const tools = skills.filter((skill, index) => skill !== (card.skills as Json[])[index])
  return tools.length === 0 ? card : { ...card, ...modesOfAll(card, tools, provenance), skills }
}

const modesOfAll = (card: JsonObject, tools: readonly Json[], provenance: Provenance): JsonObject =>
  Object.fromEntries(
    (['input', 'output'] as const).flatMap((way): [string, Json][] => {
      const name = way === 'input' ? 'defaultInputModes' : 'defaultOutputModes'
      if (!isBlank(card[findField(card, name)])) return []
      const modes = tools.flatMap((tool): Json[] => (isJsonObject(tool) ? [tool[`${way}Modes`] ?? []].flat() : []))
      const all = [...new Set(modes)]
      provenance.noteDefault(formatPointer(name), `set to ${JSON.stringify(all)}`)
      return [[name, all]]
    }),
  )

/** The ids of tools as skills, each its own; that of any other skill as it is. */
export const toolIds = (skills: readonly Json[], isTool: (skill: JsonObject) => boolean): (string | undefined)[] => {
  const others = skills.flatMap(skill => (isJsonObject(skill) && !isTool(skill) ? [skill.id] : []))
  const taken = new Set<Json | undefined>(others)
  return skills.map(skill => {
    if (!isJsonObject(skill)) return undefined
    const { id, name } = skill
    if (!isTool(skill)) return typeof id === 'string' ? id : undefined
    const base = toSlug(String(id ?? name ?? ''), 'tool')
    let own = base
    for (let count = 2; taken.has(own); count++) own = `${base}-${count}`
    taken.add(own)
    return own
  })
}

const readTool = (tool: JsonObject, id: string, at: Pointer, provenance: Provenance): JsonObject => {
  const name = typeof tool.name === 'string' ? tool.name.replace(/\p{Cc}+/gu, ' ').trim() || id : (tool.name ?? id)
  const schema = isJsonObject(tool.inputSchema) ? tool.inputSchema : {}
  const made: JsonObject = {
    id,
    name,
    ...(isBlank(tool.description) && { description: describe(String(name), schema) }),
    ...(isBlank(tool.tags) && { tags: tagsOf(tool) }),
    ...(isBlank(tool.inputModes) && { inputModes: inputModes(schema) }),
    ...(isBlank(tool.outputModes) && { outputModes: outputModes(tool) }),
  }
  for (const [member, value] of Object.entries(made))
    if (typeof tool[member] !== 'string')
      provenance.noteDefault(at + formatPointer(member), `set to ${JSON.stringify(value)}`)
    else if (tool[member] !== value)
      provenance.noteConversion(at + formatPointer(member), `read as ${JSON.stringify(value)}`)
  return { ...tool, ...made }
}

const isBlank = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  (typeof value === 'string' && !/\S/.test(value)) ||
  (Array.isArray(value) && value.length === 0)

const describe = (name: string, { properties }: JsonObject): string => {
  const names = Object.keys(isJsonObject(properties) ? properties : {}).slice(0, mostNames)
  return names.length > 0 ? `Calls the tool ${name} with ${names.join(', ')}.` : `Calls the tool ${name}.`
}

const tagsOf = ({ annotations }: JsonObject): string[] => [
  'tool',
  'mcp',
  ...(isJsonObject(annotations)
    ? Object.entries(hints).flatMap(([hint, tag]) => (annotations[hint] === true ? [tag] : []))
    : []),
]

const inputModes = (schema: JsonObject): string[] => [
  'application/json',
  ...(textArgument(schema) === undefined ? [] : ['text/plain']),
]

/** A tool that declares what its output is answers data first. Images come too where there are any: no tool says so before. */
const outputModes = ({ outputSchema }: JsonObject): string[] =>
  isJsonObject(outputSchema) ? ['application/json', 'text/plain'] : ['text/plain', 'application/json']

/**
 * The document that was made of an MCP server as it is read: its skills are all tools, and its endpoint is the server's, or
 * the owner's own in front of it. The document itself, which is served to SuperX's readers, names none.
 */
export const withMcpEndpoint = (
  { upstream: { mcp, url } }: Pick<Manifest, 'upstream'>,
  document: JsonObject,
  provenance: Provenance,
): JsonObject => {
  const card = readToolCard(document, () => true, provenance)
  if (mcp === undefined || presentEndpointFields(card).length > 0) return card
  if (url === undefined) return { protocol: 'mcp', ...card, url: mcp }
  const said = majorMinor(String(card.protocolVersion))
  const protocolVersion = wireVersionOf.has(said) ? said : '1.0'
  provenance.noteDefault('/supportedInterfaces', `set to JSONRPC of A2A ${protocolVersion} at \`upstream.url\``)
  return {
    ...omit(card, 'protocol', 'protocolVersion'),
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion }],
  }
}
