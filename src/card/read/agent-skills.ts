import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asList, asObject, formatPointer, isJsonObject, mapMembers, omit, toText } from '../../json/index.ts'
import type { Manifest } from '../manifest/index.ts'
import { type AgentSkill, latestVersion, type McpTool, modeMembers, toSlug, wireVersionOf } from '../model/index.ts'
import { canonicalizeKeys, findField } from './field-names.ts'
import { hasEndpoint, parseCardVersion } from './interfaces.ts'
import type { Provenance } from './provenance.ts'
import { readRequirements } from './security-requirements.ts'
import type { SecurityContext } from './security-schemes.ts'

/** Reads a list of media types, or a single one. Modes such as "text", which are not media types, are kept. */
export const readModes = (object: JsonObject, name: string, at: Pointer, provenance: Provenance): void => {
  if (typeof object[name] !== 'string') return
  const pointer = at + formatPointer(name)
  provenance.mapWhole(pointer, pointer, 'one media type, read as a list')
  object[name] = [object[name]]
}

/** Reads skills written as objects or as bare names, and adds what A2A requires of each. */
export const readSkills = (skills: Json[], security: SecurityContext, provenance: Provenance): Json[] => {
  const makeUnique = createUniqueSlugs(skills.map(skill => (isJsonObject(skill) ? skill.id : undefined)))
  const createId = (name: string): string => makeUnique(toSlug(name, 'skill'))
  return skills.map((skill, index) => {
    const pointer = formatPointer('skills', index)
    if (typeof skill === 'string') {
      provenance.mapWhole(pointer, pointer, 'a bare name, read as a skill')
      return { id: createId(skill), name: skill, description: skill, tags: ['general'] }
    }
    if (!isJsonObject(skill)) return skill
    const canonical = canonicalizeKeys(skill, 'skill', pointer, provenance)
    const required = createRequired(canonical, createId)
    for (const [field, value] of Object.entries(required))
      if (canonical[field] !== value) provenance.noteDefault(pointer + formatPointer(field), value)
    const read: JsonObject = readRequirements({ ...canonical, ...required }, pointer, security, provenance)
    if (read.examples !== undefined) read.examples = readExamples(read.examples, `${pointer}/examples`, provenance)
    for (const { own } of modeMembers) readModes(read, own, pointer, provenance)
    return read
  })
}

/** Returns a function that adds a number to slugs that are taken already. Remembers the last number of each. */
const createUniqueSlugs = (ids: readonly (Json | undefined)[]): ((slug: string) => string) => {
  const taken = new Set(ids)
  const lastNumbers = new Map<string, number>()
  return slug => {
    let number = lastNumbers.get(slug) ?? 1
    let id = slug
    while (taken.has(id)) id = `${slug}-${++number}`
    lastNumbers.set(slug, number)
    taken.add(id)
    return id
  }
}

/** Returns the fields that A2A requires of a skill, except those that nothing in it implies. */
const createRequired = (skill: JsonObject, createId: (name: string) => string): JsonObject => {
  // A name of a wrong type is one error, not three.
  const label = typeof skill.name === 'string' ? skill.name : 'skill'
  const id = skill.id ?? (skill.name === undefined ? undefined : createId(label))
  const { name = id, tags = [] } = skill
  const description = skill.description ?? (skill.name === undefined ? id : label)
  const required = { id, name, description, tags: Array.isArray(tags) && tags.length === 0 ? ['general'] : tags }
  return mapMembers(required, value => value)
}

/** Telex writes an example as an exchange of messages. A2A's example is the text of its input. */
const readExamples = (examples: Json, pointer: Pointer, provenance: Provenance): Json => {
  if (!Array.isArray(examples)) return examples
  return examples.map((example, index) => {
    if (!isJsonObject(example)) return example
    const at = pointer + formatPointer(index)
    provenance.mapWhole(at, at, 'an exchange of messages, read as the text of its input')
    const input = isJsonObject(example.input) ? example.input : example
    const parts = Array.isArray(input.parts) ? input.parts : [input]
    const texts = parts.flatMap(part => (isJsonObject(part) && typeof part.text === 'string' ? [part.text] : []))
    return texts.join('\n').trim() === '' ? JSON.stringify(input) : texts.join('\n')
  })
}

const hintTags = {
  readOnlyHint: 'read-only',
  destructiveHint: 'destructive',
  idempotentHint: 'idempotent',
  openWorldHint: 'open-world',
} as const

/**
 * Reads the document made from an MCP server: its skills are all tools, and its endpoint is the server or the owner's
 * `upstream.url`. The document itself, which is served to readers of SuperX, has no endpoint.
 */
export const withMcpEndpoint = (manifest: Pick<Manifest, 'upstream'>, document: JsonObject, provenance: Provenance) => {
  const { mcp, url } = manifest.upstream
  const card = readToolCard(document, () => true, provenance)
  if (mcp === undefined || hasEndpoint(card)) return card
  if (url === undefined) return { protocol: 'mcp', ...card, url: mcp }
  const declared = parseCardVersion(toText(card.protocolVersion))
  const protocolVersion = wireVersionOf.has(declared) ? declared : latestVersion
  provenance.noteDefault(
    '/supportedInterfaces',
    undefined,
    `set to JSONRPC of A2A ${protocolVersion} at \`upstream.url\``,
  )
  const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion }]
  return { ...omit(card, 'protocol', 'protocolVersion'), supportedInterfaces }
}

/** Reads an MCP server's tools, as SuperX lists them, into skills. A card without modes gets those of its tools. */
export const readToolCard = (card: JsonObject, isTool: (skill: JsonObject) => boolean, provenance: Provenance) => {
  if (!Array.isArray(card.skills)) return card
  const ids = toolIds(card.skills, isTool)
  const tools: JsonObject[] = []
  const skills = card.skills.map((skill, index) => {
    if (!isJsonObject(skill) || !isTool(skill)) return skill
    const tool = readTool(skill, ids[index] ?? 'tool', formatPointer('skills', index), provenance)
    tools.push(tool)
    return tool
  })
  if (tools.length === 0) return card
  const read: JsonObject = { ...card, skills }
  for (const { defaults, own } of modeMembers) {
    if (!isEmpty(card[findField(card, defaults)])) continue
    const modes = [...new Set(tools.flatMap((tool): Json[] => [tool[own] ?? []].flat()))]
    provenance.noteDefault(formatPointer(defaults), undefined, `set to ${JSON.stringify(modes)}`)
    read[defaults] = modes
  }
  return read
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

/** Returns the tools of a document made from an MCP server, which knows them by their ids there, and their skills. */
export const listMcpTools = (document: JsonObject, skills: readonly AgentSkill[]): McpTool[] =>
  asList(document.skills).flatMap((tool, index) => {
    const { id, name: title, inputSchema } = asObject(tool)
    const [name, skillId] = [id ?? title, skills[index]?.id]
    if (typeof name !== 'string' || skillId === undefined) return []
    return [{ skillId, name, inputSchema: isJsonObject(inputSchema) ? inputSchema : { type: 'object' } }]
  })

const readTool = (tool: JsonObject, id: string, pointer: Pointer, provenance: Provenance): JsonObject => {
  const name = typeof tool.name === 'string' ? tool.name.replace(/\p{Cc}+/gu, ' ').trim() || id : (tool.name ?? id)
  // Arguments are data, JSON as text, or the text of the only required one. Answers to elicitations may be texts, too.
  const inputModes = ['application/json', 'text/plain']
  // A tool with an output schema returns data first. Any tool may return images too, but none declares them.
  const outputModes = isJsonObject(tool.outputSchema) ? [...inputModes] : inputModes.toReversed()
  const generated: Record<string, Json> = {
    id,
    name,
    ...(isEmpty(tool.description) && { description: describeTool(toText(name), tool) }),
    ...(isEmpty(tool.tags) && { tags: tagsOf(tool) }),
    ...(isEmpty(tool.inputModes) && { inputModes }),
    ...(isEmpty(tool.outputModes) && { outputModes }),
  }
  // A name of a wrong type stays, so that it is an error.
  for (const [field, value] of Object.entries(generated))
    if (tool[field] === value) continue
    else if (typeof tool[field] !== 'string')
      provenance.noteDefault(pointer + formatPointer(field), undefined, `set to ${JSON.stringify(value)}`)
    else provenance.noteConversion(pointer + formatPointer(field), `read as ${JSON.stringify(value)}`)
  return { ...tool, ...generated }
}

const isEmpty = (value: Json | undefined): boolean =>
  Array.isArray(value) ? value.length === 0 : typeof value === 'string' ? !/\S/.test(value) : (value ?? null) === null

const MAX_ARGUMENT_NAMES = 20

const describeTool = (name: string, { inputSchema }: JsonObject): string => {
  const names = Object.keys(asObject(asObject(inputSchema).properties)).slice(0, MAX_ARGUMENT_NAMES)
  return names.length > 0 ? `Calls the tool ${name} with ${names.join(', ')}.` : `Calls the tool ${name}.`
}

const tagsOf = ({ annotations }: JsonObject): string[] => [
  'tool',
  'mcp',
  ...Object.entries(hintTags).flatMap(([hint, tag]) => (asObject(annotations)[hint] === true ? [tag] : [])),
]
