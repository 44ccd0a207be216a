import { type CallError, invalidParam } from '../a2a/errors.ts'
import { firstDefined } from '../a2a/message.ts'
import { type McpTool, textArgument } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/json.ts'

/** The tool that a message calls. `field` is where the message has the arguments, for error messages. */
export type ToolCall = { tool: McpTool; arguments: JsonObject; field: string }

/**
 * Finds the tool that a message calls, and its arguments. A data part names the tool (`{tool, arguments}`), or
 * `metadata.skillId` does, by the skill's id or the tool's own name; an agent with one tool needs no name. The message has one
 * part: data, or the text of the tool's only required argument. It has none for a tool without arguments.
 */
export const resolveToolCall = ({ message }: JsonObject, tools: readonly McpTool[]): ToolCall | CallError => {
  const skillId = firstDefined(firstDefined(message, 'metadata'), 'skillId')
  const [onlyTool] = tools.length === 1 ? tools : []
  const named = skillId === undefined ? onlyTool : findTool(skillId, tools, 'skillId')
  if (named === undefined && skillId !== undefined) return unknownTool('message.metadata.skillId', skillId, tools)
  const parts = firstDefined(message, 'parts')
  if (!Array.isArray(parts)) return invalidParam('message.parts', 'must be a list of parts')
  if (parts.length > 1)
    return invalidParam('message.parts', 'must have one part: the data or the text that calls the tool')
  const [part] = parts
  if (part === undefined)
    return named ? { tool: named, arguments: {}, field: 'message.parts' } : toolMissing('message', tools)
  const { text, data } = isJsonObject(part) ? part : {}
  if (data === undefined && typeof text === 'string') return fromText(text, named, tools)
  if (isJsonObject(data) && text === undefined) return fromData(data, named, tools, skillId !== undefined)
  return invalidParam('message.parts[0]', `must be a data part, such as ${example}, or a text part`)
}

const example = '{"data": {"tool": "…", "arguments": {…}}}'

/** Finds a tool by its skill's id or its own name; `first` wins where one tool's id is another tool's name. */
const findTool = (value: Json, tools: readonly McpTool[], first: 'skillId' | 'name'): McpTool | undefined => {
  const second = first === 'name' ? 'skillId' : 'name'
  return tools.find(tool => tool[first] === value) ?? tools.find(tool => tool[second] === value)
}

const fromText = (text: string, tool: McpTool | undefined, tools: readonly McpTool[]): ToolCall | CallError => {
  const field = 'message.parts[0].text'
  if (tool === undefined) return toolMissing(field, tools)
  const argument = textArgument(tool.inputSchema)
  return argument === undefined
    ? invalidParam(field, `cannot call this tool, which does not take one text: send its arguments, as ${example}`)
    : { tool, arguments: { [argument]: text }, field }
}

/** Data is `{tool, arguments}`, unless the tool is known and declares an argument `tool` itself. */
const fromData = (
  data: JsonObject,
  named: McpTool | undefined,
  tools: readonly McpTool[],
  isNamedBySkill: boolean,
): ToolCall | CallError => {
  const field = 'message.parts[0].data'
  if (data.tool === undefined || (named && declares(named, 'tool')))
    return named ? { tool: named, arguments: data, field } : toolMissing(`${field}.tool`, tools)
  const tool = findTool(data.tool, tools, 'name')
  if (tool === undefined) return unknownTool(`${field}.tool`, data.tool, tools)
  if (isNamedBySkill && tool !== named)
    return invalidParam(`${field}.tool`, 'names a tool other than `message.metadata.skillId`')
  const extra = Object.keys(data).find(name => name !== 'tool' && name !== 'arguments')
  if (extra !== undefined)
    return invalidParam(
      `${field}.${extra.slice(0, 100)}`,
      'is not allowed next to `tool`: put arguments into `arguments`',
    )
  const args = data.arguments ?? {}
  if (!isJsonObject(args) || JSON.isRawJSON(args)) return invalidParam(`${field}.arguments`, 'must be an object')
  return { tool, arguments: args, field: `${field}.arguments` }
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
