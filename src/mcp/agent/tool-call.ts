import {
  type A2ACall,
  type CallError,
  firstDefined,
  invalidParam,
  operations,
  parseJsonLossless,
} from '../../a2a/index.ts'
import { type Authentication, clientKey, distinctSubject } from '../../auth/index.ts'
import type { CallProfile, McpAgentProfile } from '../../card/index.ts'
import { type McpTool, textArgument } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject } from '../../json/index.ts'
import { MAX_TOOL_SECONDS } from '../../limits.ts'

/** A call that the gateway has authorized and checked, as it sends it to the agent's Durable Object. */
export type BridgeCall = {
  agent: string
  /** The subject of an authenticated caller, and the network address of any other; else empty. */
  caller: string
  address: string
  /** The MCP server: its URL, the bindings that the manifest names, and whether all callers share one session. */
  upstream: { url: string; service?: string | undefined; secret?: string | undefined; session?: 'shared' | undefined }
  /**
   * The tool that a message calls, and the JSON text of its arguments, so that numbers stay as the caller wrote them.
   * Absent for every other operation, and for a message that continues a task.
   */
  tool?: { name: string; arguments: string }
  /** The resource that a message reads instead, and whether the card lists it. */
  resource?: ResourceRead['resource']
  /** The time that a tool may take without reporting progress. */
  timeoutSeconds: number
  streams: boolean
  /** JSON text of the JSON-RPC request, and of its id. */
  request: string
  id: string
}

type ToolCall = { tool: McpTool; arguments: JsonObject }

type ResourceRead = { resource: { uri: string; isListed: boolean } }

type Tools = Pick<McpAgentProfile, 'tools' | 'defaultTool' | 'resources'>

/** The tools of an agent: `named` by `metadata.skillId`, and the `tool` that a message calls whose data names none. */
type Candidates = Tools & { named: McpTool | undefined; tool: McpTool | undefined }

/**
 * Finds the tool that a message calls, and its arguments. Data names the tool (`{skillId, arguments}`, or `skill`), or
 * `metadata.skillId` does, by the skill's id or the tool's own name; an agent with one tool or with a default needs no
 * name. One part has the data, or the text: the same as JSON, or the tool's only required argument.
 */
export const resolveToolCall = ({ message }: JsonObject, agent: Tools): ToolCall | ResourceRead | CallError => {
  const { tools, defaultTool } = agent
  const skillId = firstDefined(firstDefined(message, 'metadata'), 'skillId')
  const named = findTool(skillId, tools)
  if (named === undefined && skillId !== undefined) return unknownTool('message.metadata.skillId', skillId, tools)
  const onlyTool = tools.length === 1 ? tools[0] : undefined
  const tool = named ?? onlyTool ?? tools.find(({ name }) => name === defaultTool) ?? findTool(defaultTool, tools)
  const parts = firstDefined(message, 'parts')
  if (!Array.isArray(parts)) return invalidParam('message.parts', 'must be a list of parts')
  if (parts.length === 0) return tool ? { tool, arguments: {} } : toolMissing('message', tools)
  const index = findCallPart(parts)
  if (index === undefined)
    return invalidParam('message.parts', 'must have one part: the data or the text that calls the tool')
  const part = parts[index]
  const { text, data } = isJsonObject(part) ? part : {}
  const field = `message.parts[${index}]`
  const candidates = { ...agent, named, tool }
  if (data === undefined && typeof text === 'string') return fromText(text, candidates, `${field}.text`)
  if (isPlainObject(data) && text === undefined) return fromData(data, candidates, `${field}.data`)
  return invalidParam(field, `must be a data part, such as ${example}, or a text part`)
}

const example = '{"data": {"skillId": "…", "arguments": {…}}}'

/** Returns the place of the part that calls: the only one, or the only data among texts that explain it to people. */
const findCallPart = (parts: readonly Json[]): number | undefined => {
  if (parts.length === 1) return 0
  const isText = (part: Json): boolean => isJsonObject(part) && typeof part.text === 'string' && part.data === undefined
  const others = [...parts.keys()].filter(index => !isText(parts[index] ?? null))
  return others.length === 1 ? others[0] : undefined
}

const findTool = (value: Json | undefined, tools: readonly McpTool[]): McpTool | undefined =>
  tools.find(({ skillId }) => skillId === value) ?? tools.find(({ name }) => name === value)

/** Chat clients and models send the data of a call as JSON text, too. Other JSON is the text that a tool takes. */
const fromText = (text: string, candidates: Candidates, field: string): ToolCall | ResourceRead | CallError => {
  const { tools, tool } = candidates
  const data = parseObject(text)
  const argument = tool && textArgument(tool.inputSchema)
  const isArguments = data && (argument === undefined || isArgumentsOf(data, tool, argument))
  const namesTool = data && toolMembers.some(member => findTool(data[member], tools))
  if (data && (isArguments || namesTool || readsResource(data, candidates))) return fromData(data, candidates, field)
  if (tool === undefined) return toolMissing(field, tools)
  return argument === undefined
    ? invalidParam(field, `cannot call this tool, which does not take one text: send its arguments, as ${example}`)
    : { tool, arguments: { [argument]: text } }
}

/** Parses a JSON object without loss of digits; undefined for any other text. */
export const parseObject = (text: string): JsonObject | undefined => {
  const parsed = text.trimStart().startsWith('{') ? parseJsonLossless(text) : undefined
  return parsed && 'value' in parsed && isPlainObject(parsed.value) ? parsed.value : undefined
}

const isArgumentsOf = (data: JsonObject, tool: McpTool | undefined, argument: string): boolean =>
  tool !== undefined && Object.hasOwn(data, argument) && Object.keys(data).every(name => declares(tool, name))

const declares = ({ inputSchema: { properties } }: McpTool, name: string): boolean =>
  isJsonObject(properties) && Object.hasOwn(properties, name)

const toolMembers = ['skillId', 'skill'] as const

/** Data names a tool and has its arguments, names a resource, or is the arguments of a tool that needs no name. */
const fromData = (data: JsonObject, candidates: Candidates, field: string): ToolCall | ResourceRead | CallError => {
  const { tools, resources, named, tool } = candidates
  const member = toolMembers.find(name => data[name] !== undefined)
  // The tool of the metadata may have an argument of that name.
  const isArgument = named !== undefined && member !== undefined && declares(named, member)
  if (member !== undefined && !isArgument && (named === undefined || findTool(data[member], tools)))
    return fromNamedCall(data, member, candidates, field)
  if (readsResource(data, candidates)) {
    const uri = data.resource
    return { resource: { uri, isListed: resources?.includes(uri) === true } }
  }
  return tool ? { tool, arguments: data } : toolMissing(`${field}.skillId`, tools)
}

/** Checks whether data reads a resource of the server. The tool of the metadata may have an argument of that name. */
const readsResource = (data: JsonObject, { resources, named }: Candidates): data is JsonObject & { resource: string } =>
  resources !== undefined && named === undefined && typeof data.resource === 'string'

const fromNamedCall = (data: JsonObject, member: string, { tools, named }: Candidates, field: string) => {
  const value = data[member] ?? null
  const tool = findTool(value, tools)
  if (tool === undefined) return unknownTool(`${field}.${member}`, value, tools)
  if (named !== undefined && tool !== named)
    return invalidParam(`${field}.${member}`, 'names a tool other than `message.metadata.skillId`')
  const extra = Object.keys(data).find(name => name !== member && name !== 'arguments')
  const advice = `is not allowed next to \`${member}\`: put arguments into \`arguments\``
  if (extra !== undefined) return invalidParam(`${field}.${extra.slice(0, 100)}`, advice)
  const args = data.arguments ?? {}
  return isPlainObject(args) ? { tool, arguments: args } : invalidParam(`${field}.arguments`, 'must be an object')
}

const unknownTool = (field: string, value: Json, tools: readonly McpTool[]): CallError => {
  const problem = typeof value === 'string' ? 'is not a tool of this agent' : 'must be the name of a tool'
  return invalidParam(field, `${problem}. ${listTools(tools)}`)
}

const toolMissing = (field: string, tools: readonly McpTool[]): CallError =>
  invalidParam(field, `names no tool: set \`message.metadata.skillId\` or send ${example}. ${listTools(tools)}`)

const MAX_LISTED_TOOLS = 20

const listTools = (tools: readonly McpTool[]): string => {
  if (tools.length === 0) return 'This agent has no tools'
  const names = tools.slice(0, MAX_LISTED_TOOLS).map(({ name }) => name.slice(0, 64).toWellFormed())
  return `Its tools are ${[...names, ...(tools.length > MAX_LISTED_TOOLS ? ['…'] : [])].join(', ')}`
}

/**
 * Routes a call, with its message in A2A 1.0 over JSON-RPC, to the Durable Object of an MCP server's agent. Refuses a
 * message that calls none of its tools.
 */
export const routeToTools = (
  { call, message }: { call: A2ACall; message: { body?: string | undefined } | undefined },
  { mcp, service, secret }: Pick<CallProfile, 'service' | 'secret'> & { mcp: McpAgentProfile },
  { id, caller, request, env }: { id: string; caller: Authentication; request: Request; env: Env },
) => {
  const { sends, streams = false } = operations[call.operation]
  // A message to a task is an answer to the elicitation of its tool.
  const continues = sends && (firstDefined(firstDefined(call.params, 'message'), 'taskId') ?? '') !== ''
  const toolCall = sends && !continues ? resolveToolCall(call.params, mcp) : undefined
  if (toolCall && 'kind' in toolCall) return toolCall
  const { upstreamTimeoutSeconds: timeoutSeconds } = config(env)
  const bridgeCall: BridgeCall = {
    agent: id,
    caller: distinctSubject(caller),
    address: caller.authenticated ? '' : clientKey(request),
    upstream: { url: mcp.url, service, secret, session: mcp.session },
    ...(toolCall && 'resource' in toolCall && toolCall),
    ...(toolCall &&
      'tool' in toolCall && { tool: { name: toolCall.tool.name, arguments: JSON.stringify(toolCall.arguments) } }),
    timeoutSeconds,
    streams,
    request: message?.body ?? '',
    id: JSON.stringify(call.id),
  }
  const init = { method: 'POST', body: JSON.stringify(bridgeCall) }
  return {
    service: { fetch: () => env.MCP_AGENTS.getByName(id).fetch('https://mcp-agent.internal/', init) },
    // The caller's credentials are for this host. The Durable Object adds those of the server.
    credentials: { pass: [] },
    // A tool may take long while it reports progress; the Durable Object limits the time between two reports.
    timeoutSeconds: sends ? MAX_TOOL_SECONDS + timeoutSeconds : timeoutSeconds,
  }
}
