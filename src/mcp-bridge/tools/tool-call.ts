import type { Refusal } from '../../a2a/errors.ts'
import { firstDefined } from '../../a2a/message.ts'
import { type McpTool, textArgument } from '../../card/model/calls.ts'

import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { validateArguments } from './validate-arguments.ts'

/** The tool that a caller names: by the skill's id or by the tool's own name; `first` is what counts where one's is the other's. */
const findTool = (said: Json, tools: readonly McpTool[], first: 'skillId' | 'name'): McpTool | undefined => {
  const second = first === 'name' ? 'skillId' : 'name'
  return tools.find(tool => tool[first] === said) ?? tools.find(tool => tool[second] === said)
}

const mostNamed = 20

/** What is wrong with the name of a tool, if one was said, and which tools there are. */
const describeTools = (said: Json | undefined, tools: readonly McpTool[]): string => {
  const names = tools.slice(0, mostNamed).map(({ name }) => name.slice(0, 64).toWellFormed())
  const list = [...names, ...(tools.length > mostNamed ? ['…'] : [])].join(', ')
  const there = tools.length === 0 ? 'this agent has none' : `there are ${list}`
  if (said === undefined) return `Tools: ${there}`
  return typeof said === 'string' ? `names no tool of this agent: ${there}` : `must be the name of a tool: ${there}`
}

/** A call of an MCP server's tool, as a message asks for it; `unchecked` says why its arguments were not validated here. */
type ToolCall = { tool: string; arguments: JsonObject; unchecked?: string }

/** What a message says of a tool and its arguments; `at` is where it says the arguments. */
type Asked = { tool: McpTool; given: JsonObject; at: string }

/**
 * Which tool a message calls, and with which arguments. The tool is the one that a data part names (`{tool, arguments}`), or
 * `metadata.skillId` (the skill's id or the tool's own name), or the agent's only one. The message has one part: data, or the
 * text of a tool's one required argument; or none, where the tool needs no arguments.
 */
export const resolveToolCall = ({ message }: JsonObject, tools: readonly McpTool[]): ToolCall | Refusal => {
  const skillId = firstDefined(firstDefined(message, 'metadata'), 'skillId')
  const named = skillId === undefined ? only(tools) : findTool(skillId, tools, 'skillId')
  if (named === undefined && skillId !== undefined)
    return invalid('message.metadata.skillId', describeTools(skillId, tools))
  const asked = askedOf(firstDefined(message, 'parts'), named, tools, skillId !== undefined)
  if ('refused' in asked) return asked
  const { tool, given, at } = asked
  const checked = validateArguments(given, tool.inputSchema)
  if ('unchecked' in checked) return { tool: tool.name, arguments: given, unchecked: checked.unchecked }
  const violations = checked.violations.map(({ path, description }) => ({
    // The text is the one argument.
    field: at.endsWith('.text') ? at : at + path,
    description,
  }))
  return violations.length > 0 ? refusal(violations) : { tool: tool.name, arguments: given }
}

const only = (tools: readonly McpTool[]): McpTool | undefined => (tools.length === 1 ? tools[0] : undefined)

const askedOf = (
  parts: Json | undefined,
  named: McpTool | undefined,
  tools: readonly McpTool[],
  bySkill: boolean,
): Asked | Refusal => {
  if (!Array.isArray(parts)) return invalid('message.parts', 'must be a list of parts')
  if (parts.length > 1) return invalid('message.parts', 'must be one part: the data or the text that calls the tool')
  const [part] = parts
  if (part === undefined) return named ? { tool: named, given: {}, at: 'message.parts' } : nameless('message', tools)
  const { text, data } = isJsonObject(part) ? part : {}
  if (data === undefined && typeof text === 'string') return fromText(text, named, tools)
  if (isJsonObject(data) && text === undefined) return fromData(data, named, tools, bySkill)
  return invalid('message.parts[0]', `must be a data part, such as ${example}, or a text part`)
}

const example = '{"data": {"tool": "…", "arguments": {…}}}'

const fromText = (text: string, tool: McpTool | undefined, tools: readonly McpTool[]): Asked | Refusal => {
  const at = 'message.parts[0].text'
  if (tool === undefined) return nameless(at, tools)
  const argument = textArgument(tool.inputSchema)
  return argument === undefined
    ? invalid(at, `cannot call this tool, which does not take one text: send its arguments, as ${example}`)
    : { tool, given: { [argument]: text }, at }
}

/** Data is `{tool, arguments}`, but where the tool is known already and has an argument of its own that is called `tool`. */
const fromData = (
  data: JsonObject,
  named: McpTool | undefined,
  tools: readonly McpTool[],
  bySkill: boolean,
): Asked | Refusal => {
  const at = 'message.parts[0].data'
  if (data.tool === undefined || (named && declares(named, 'tool')))
    return named ? { tool: named, given: data, at } : nameless(`${at}.tool`, tools)
  const tool = findTool(data.tool, tools, 'name')
  if (tool === undefined) return invalid(`${at}.tool`, describeTools(data.tool, tools))
  if (bySkill && tool !== named) return invalid(`${at}.tool`, 'names another tool than `message.metadata.skillId`')
  const stray = Object.keys(data).find(name => name !== 'tool' && name !== 'arguments')
  if (stray !== undefined)
    return invalid(`${at}.${stray.slice(0, 100)}`, 'is not known beside `tool`: arguments go into `arguments`')
  const given = data.arguments ?? {}
  if (!isJsonObject(given) || JSON.isRawJSON(given)) return invalid(`${at}.arguments`, 'must be an object')
  return { tool, given, at: `${at}.arguments` }
}

const declares = ({ inputSchema: { properties } }: McpTool, name: string): boolean =>
  isJsonObject(properties) && Object.hasOwn(properties, name)

const nameless = (field: string, tools: readonly McpTool[]): Refusal =>
  invalid(
    field,
    `does not say which tool to call: name it in \`message.metadata.skillId\` or send ${example}. ${describeTools(undefined, tools)}`,
  )

const invalid = (field: string, description: string): Refusal => refusal([{ field, description }])

const refusal = (violations: { field: string; description: string }[]): Refusal => {
  const [first] = violations
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : ''
  return {
    refused: 'invalid-params',
    detail: first === undefined ? '' : `\`${first.field}\` ${first.description}${more}.`,
    violations,
  }
}
