import { type CallError, invalidParam } from '../a2a/errors.ts'
import { isPlainObject, parseJsonLossless } from '../a2a/jsonrpc.ts'
import { firstDefined } from '../a2a/message.ts'
import { type McpAgentProfile, type McpTool, textArgument } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'

/** The tool that a message calls. */
type ToolCall = { tool: McpTool; arguments: JsonObject }

/** The resource that a message reads, and whether the card lists it. */
type ResourceRead = { resource: { uri: string; isListed: boolean } }

type Tools = Pick<McpAgentProfile, 'tools' | 'defaultTool' | 'resources'>

/** The tool that a call is for, unless its data names another: by its skill, as the only one, or as the owner's default. */
type NamedTool = { tool: McpTool | undefined; isNamedBySkill: boolean }

/**
 * Finds the tool that a message calls, and its arguments. Data names the tool (`{tool, arguments}`, or the names that other
 * protocols have for both), or `metadata.skillId` does, by the skill's id or the tool's own name; an agent with one tool or with a
 * default needs no name. The message has one part with data, or one with text: the same as JSON, or the tool's only required
 * argument. It has none for a tool without arguments.
 */
export const resolveToolCall = ({ message }: JsonObject, agent: Tools): ToolCall | ResourceRead | CallError => {
  const { tools, defaultTool } = agent
  const skillId = firstDefined(firstDefined(message, 'metadata'), 'skillId')
  const [onlyTool] = tools.length === 1 ? tools : []
  const assumed = onlyTool ?? (defaultTool === undefined ? undefined : findTool(defaultTool, tools, 'name'))
  const tool = skillId === undefined ? assumed : findTool(skillId, tools, 'skillId')
  if (tool === undefined && skillId !== undefined) return unknownTool('message.metadata.skillId', skillId, tools)
  const named = { tool, isNamedBySkill: skillId !== undefined }
  const parts = firstDefined(message, 'parts')
  if (!Array.isArray(parts)) return invalidParam('message.parts', 'must be a list of parts')
  if (parts.length === 0) return tool ? { tool, arguments: {} } : toolMissing('message', tools)
  const index = findCallPart(parts)
  if (index === undefined)
    return invalidParam('message.parts', 'must have one part: the data or the text that calls the tool')
  const part = parts[index]
  const { text, data } = isJsonObject(part) ? part : {}
  const field = `message.parts[${index}]`
  if (data === undefined && typeof text === 'string') return fromText(text, named, agent, `${field}.text`)
  if (isPlainObject(data) && text === undefined) return fromData(data, named, agent, `${field}.data`)
  return invalidParam(field, `must be a data part, such as ${example}, or a text part`)
}

const example = '{"data": {"tool": "…", "arguments": {…}}}'

/** Returns the place of the part that calls: the only one, or the only data among texts that explain it to people. */
const findCallPart = (parts: readonly Json[]): number | undefined => {
  if (parts.length === 1) return 0
  const isText = (part: Json): boolean => isJsonObject(part) && typeof part.text === 'string' && part.data === undefined
  const others = [...parts.keys()].filter(index => !isText(parts[index] ?? null))
  return others.length === 1 ? others[0] : undefined
}

/** Finds a tool by its skill's id or its own name; `first` wins where one tool's id is another tool's name. */
const findTool = (value: Json, tools: readonly McpTool[], first: 'skillId' | 'name'): McpTool | undefined => {
  const second = first === 'name' ? 'skillId' : 'name'
  return tools.find(tool => tool[first] === value) ?? tools.find(tool => tool[second] === value)
}

/** Chat clients and models send the data of a call as JSON text, too. */
const fromText = (text: string, named: NamedTool, agent: Tools, field: string): ToolCall | ResourceRead | CallError => {
  const { tool } = named
  const data = parseObject(text)
  if (data && (readsResource(data, named, agent) || callsTool(data, named, agent)))
    return fromData(data, named, agent, field)
  if (tool === undefined) return toolMissing(field, agent.tools)
  const argument = textArgument(tool.inputSchema)
  if (data && (argument === undefined || isArgumentsOf(data, tool, argument))) return { tool, arguments: data }
  return argument === undefined
    ? invalidParam(field, `cannot call this tool, which does not take one text: send its arguments, as ${example}`)
    : { tool, arguments: { [argument]: text } }
}

const parseObject = (text: string): JsonObject | undefined => {
  const parsed = text.trimStart().startsWith('{') ? parseJsonLossless(text) : undefined
  return parsed && 'value' in parsed && isPlainObject(parsed.value) ? parsed.value : undefined
}

/** Whether an object has the required argument, and nothing but declared ones. */
const isArgumentsOf = (data: JsonObject, tool: McpTool, required: string): boolean =>
  Object.hasOwn(data, required) && Object.keys(data).every(name => declares(tool, name))

/** The members that name a tool, and those that have its arguments: ours first, then those of other protocols. */
const toolMembers = ['tool', 'skill', 'name'] as const
const argumentMembers = ['arguments', 'parameters', 'input'] as const

/** Data names a tool and has its arguments, or is the arguments of a tool that is known already. */
const fromData = (
  data: JsonObject,
  named: NamedTool,
  agent: Tools,
  field: string,
): ToolCall | ResourceRead | CallError => {
  const { tools } = agent
  const member = findToolMember(data, named, agent)
  if (member !== undefined) return fromNamedCall(data, member, named, { tools, field })
  const { tool } = named
  if (readsResource(data, named, agent)) {
    const uri = data.resource
    return { resource: { uri, isListed: agent.resources?.includes(uri) === true } }
  }
  if (tool === undefined) return toolMissing(`${field}.tool`, tools)
  const [wrapper, ...others] = Object.keys(data)
  const isWrapped =
    others.length === 0 && argumentMembers.some(name => name === wrapper) && !declares(tool, `${wrapper}`)
  return isWrapped && wrapper !== undefined
    ? toToolCall(tool, data[wrapper] ?? {}, `${field}.${wrapper}`)
    : { tool, arguments: data }
}

/** Whether data reads a resource of the server: any server may have an argument of that name. */
const readsResource = (
  data: JsonObject,
  { tool, isNamedBySkill }: NamedTool,
  { resources }: Tools,
): data is JsonObject & { resource: string } =>
  resources !== undefined &&
  typeof data.resource === 'string' &&
  !isNamedBySkill &&
  !(tool && declares(tool, 'resource')) &&
  toolMembers.every(name => name === 'name' || data[name] === undefined)

/** Whether data names a tool that there is. */
const callsTool = (data: JsonObject, named: NamedTool, agent: Tools): boolean => {
  const member = findToolMember(data, named, agent)
  return member !== undefined && findTool(data[member] ?? null, agent.tools, 'name') !== undefined
}

/**
 * Returns the member of the data that names a tool. A tool that is known already may have an argument of that name: then it is the
 * argument, unless everything else is a call.
 */
const findToolMember = (data: JsonObject, named: NamedTool, agent: Tools): (typeof toolMembers)[number] | undefined => {
  if (readsResource(data, named, agent)) return undefined
  const { tool } = named
  return toolMembers.find(member => {
    const value = data[member]
    if (value === undefined) return false
    const isTool = findTool(value, agent.tools, 'name') !== undefined
    if (!tool || !declares(tool, member)) return member === 'tool' || isTool || tool === undefined
    const others = Object.keys(data).filter(name => name !== member)
    const isArgumentMember = (name: string): boolean =>
      argumentMembers.some(each => each === name) && !declares(tool, name)
    return isTool && others.length > 0 && others.every(isArgumentMember)
  })
}

const fromNamedCall = (
  data: JsonObject,
  member: (typeof toolMembers)[number],
  named: NamedTool,
  { tools, field }: { tools: readonly McpTool[]; field: string },
): ToolCall | CallError => {
  const value = data[member] ?? null
  const tool = findTool(value, tools, member === 'skill' ? 'skillId' : 'name')
  if (tool === undefined) return unknownTool(`${field}.${member}`, value, tools)
  if (named.isNamedBySkill && tool !== named.tool)
    return invalidParam(`${field}.${member}`, 'names a tool other than `message.metadata.skillId`')
  const wrapper = argumentMembers.find(name => data[name] !== undefined) ?? 'arguments'
  const extra = Object.keys(data).find(name => name !== member && name !== wrapper)
  if (extra !== undefined)
    return invalidParam(
      `${field}.${extra.slice(0, 100)}`,
      `is not allowed next to \`${member}\`: put arguments into \`${wrapper}\``,
    )
  return toToolCall(tool, data[wrapper] ?? {}, `${field}.${wrapper}`)
}

/** Models write arguments as JSON text, too; a tool that takes one text may get it as it is. */
const toToolCall = (tool: McpTool, value: Json, field: string): ToolCall | CallError => {
  if (isPlainObject(value)) return { tool, arguments: value }
  const argument = textArgument(tool.inputSchema)
  const parsed = typeof value === 'string' ? parseObject(value) : undefined
  if (parsed) return { tool, arguments: parsed }
  return typeof value === 'string' && argument !== undefined
    ? { tool, arguments: { [argument]: value } }
    : invalidParam(field, 'must be an object')
}

const declares = ({ inputSchema: { properties } }: McpTool, name: string): boolean =>
  isJsonObject(properties) && Object.hasOwn(properties, name)

const unknownTool = (field: string, value: Json, tools: readonly McpTool[]): CallError =>
  invalidParam(
    field,
    `${typeof value === 'string' ? 'is not a tool of this agent' : 'must be the name of a tool'}. ${listTools(tools)}`,
  )

const toolMissing = (field: string, tools: readonly McpTool[]): CallError =>
  invalidParam(field, `names no tool: set \`message.metadata.skillId\` or send ${example}. ${listTools(tools)}`)

const MAX_LISTED_TOOLS = 20

const listTools = (tools: readonly McpTool[]): string => {
  if (tools.length === 0) return 'This agent has no tools'
  const names = tools.slice(0, MAX_LISTED_TOOLS).map(({ name }) => name.slice(0, 64).toWellFormed())
  return `Its tools are ${[...names, ...(tools.length > MAX_LISTED_TOOLS ? ['…'] : [])].join(', ')}`
}
