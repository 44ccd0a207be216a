import type { Tool as McpToolDefinition } from '@modelcontextprotocol/server'
import * as v from 'valibot'
import { toLine } from '../../api/catalogs/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { indexModes, type McpTool, validate } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, parseMediaRange } from '../../json/index.ts'
import { MAX_TOOL_DESCRIPTION_LENGTH, MAX_TOOL_FILES } from '../../limits.ts'
import { pick } from '../client/index.ts'
import type { Part } from './a2a-calls.ts'

/** The parts of the served card from which tools are made. */
export type ToolCard = {
  name: string
  description?: string
  version?: string
  documentationUrl?: string
  defaultInputModes?: string[]
  skills?: Skill[]
}
type Skill = { id: string; name?: string; description?: string; examples?: Json[]; inputModes?: string[] } & JsonObject

/** The input that a tool takes. `files` are the media types of files. */
export type Accepted = { text: boolean; data: boolean; files: string[] }

/** A tool of an agent for MCP clients. `mcp` is that of the MCP server from which the agent was made. */
export type Tool = {
  definition: McpToolDefinition
  skillId?: string
  mcp?: McpTool
  examples: string[]
}

/** More skills than that, if they take the same input, are one tool. */
const MAX_TOOLS = 20
const MAX_NAME_LENGTH = 64

/** Returns the tools of an agent, in the order of its skills: the same names in every list. */
export const toTools = (id: string, card: ToolCard, profile: CallProfile): Tool[] => {
  const { mcp, mcpServer } = profile
  const { skills = [], defaultInputModes = [] } = card
  if (mcpServer?.tools === 'off') return []
  const found = skills.map(skill => {
    const accepts = toAccepted((skill.inputModes ?? []).length > 0 ? (skill.inputModes ?? []) : defaultInputModes)
    return { skill, accepts, own: mcp?.tools.find(({ skillId }) => skillId === skill.id) }
  })
  const isUniform = !mcp && new Set(found.map(({ accepts }) => JSON.stringify(accepts))).size === 1
  const isOne = mcpServer?.tools === 'one' || (mcpServer?.tools === undefined && skills.length > MAX_TOOLS && isUniform)
  if (isOne || skills.length === 0) return [toOneTool(id, card, found)]
  const nameTool = createNames()
  return found.map(({ skill, accepts, own }) => {
    const name = nameTool(own?.name ?? skill.id)
    return own ? toOwnTool(name, skill, own) : toSkillTool(name, skill, accepts)
  })
}

/** Returns a function that makes each id the name of a tool: unlike all before, with a number where needed. */
const createNames = () => {
  const taken = new Set<string>()
  return (id: string): string => {
    const base = id.replace(/[^\w-]/g, '_').slice(0, MAX_NAME_LENGTH) || 'skill'
    let name = base
    for (let count = 2; taken.has(name); count++) name = `${base.slice(0, MAX_NAME_LENGTH - 4)}_${count}`
    taken.add(name)
    return name
  }
}

const toAccepted = (modes: readonly string[]): Accepted => {
  const { types, ranges } = indexModes(modes)
  const takes = (type: string) => modes.length === 0 || types.has(type) || ranges.intersects(parseMediaRange(type))
  const files = modes.filter(mode => !/^(?:text\/plain|text|application\/json)$/.test(mode))
  return { text: takes('text/plain'), data: takes('application/json'), files }
}

/** A tool of the MCP server behind the agent keeps what the server says of it. */
const toOwnTool = (name: string, skill: Skill, mcp: McpTool): Tool => {
  const { title, annotations, outputSchema } = skill
  const definition = {
    name,
    ...(typeof title === 'string' && { title: oneLine(title) }),
    description: toText(skill.description ?? ''),
    inputSchema: { ...mcp.inputSchema, type: 'object' },
    ...(isJsonObject(outputSchema) && outputSchema.type === 'object' && { outputSchema }),
    ...(isJsonObject(annotations) && { annotations }),
  } as McpToolDefinition
  return { definition, skillId: skill.id, mcp, examples: toExamples(skill) }
}

const toSkillTool = (name: string, skill: Skill, accepts: Accepted): Tool => {
  const examples = toExamples(skill)
  const list = describeList(skill.description, 'Examples', examples)
  return {
    ...toTool(name, skill.name ?? skill.id, list, inputSchema(accepts, skill.inputSchema)),
    skillId: skill.id,
    examples,
  }
}

const toOneTool = (id: string, card: ToolCard, found: { skill: Skill; accepts: Accepted }[]): Tool => {
  const modes = found.flatMap(({ skill }) => skill.inputModes ?? [])
  const accepts = toAccepted([...new Set([...(card.defaultInputModes ?? []), ...modes])])
  const skills = found.map(({ skill }) => `${skill.name ?? skill.id}: ${skill.description ?? ''}`)
  const examples = found.flatMap(({ skill }) => toExamples(skill))
  const list = describeList(card.description, 'Skills', skills)
  return { ...toTool(id, card.name, list, inputSchema(accepts)), examples }
}

const describeList = (description = '', heading: string, items: readonly string[]): string => {
  const lines = items.map(item => `- ${oneLine(item)}`)
  return lines.length > 0 ? `${description}\n\n${heading}:\n${lines.join('\n')}` : description
}

const toTool = (name: string, title: string, description: string, inputSchema: McpToolDefinition['inputSchema']) => ({
  definition: {
    ...{ name, title: oneLine(title), description: toText(description), inputSchema },
    annotations: { openWorldHint: true },
  },
})

const toExamples = ({ examples }: Skill): string[] =>
  Array.isArray(examples) ? examples.filter(example => typeof example === 'string') : []

/** Returns the schema of a tool's input. A skill may declare that of its data. */
export const inputSchema = ({ text, data, files }: Accepted, dataSchema?: Json): McpToolDefinition['inputSchema'] => ({
  type: 'object',
  properties: {
    ...(text && { message: { type: 'string', description: 'The request to the agent, in plain language.' } }),
    ...(data && {
      data: {
        ...(isJsonObject(dataSchema) ? dataSchema : { type: 'object' }),
        description: 'JSON data for the agent.',
      },
    }),
    ...(files.length > 0 && {
      files: {
        type: 'array',
        description: oneLine(`Files for the agent: ${files.join(', ')}.`),
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            mimeType: { type: 'string' },
            data: { type: 'string', description: 'The content in base64.' },
            url: { type: 'string', description: 'The address of the content, instead of `data`.' },
          },
          required: ['mimeType'],
        },
      },
    }),
    contextId: { type: 'string', description: 'Continues a conversation: the contextId of an earlier result.' },
    taskId: {
      type: 'string',
      description:
        'Answers the question of a task; with an empty message, waits for one that still runs. From its result.',
    },
  },
  required: text ? ['message'] : [],
})

/** Removes characters that show nothing or change the direction of a text, and cuts it off. */
const toText = (text: string): string =>
  text
    .slice(0, 2 * MAX_TOOL_DESCRIPTION_LENGTH)
    .replace(/[^\P{C}\n]/gu, ' ')
    .trim()
    .slice(0, MAX_TOOL_DESCRIPTION_LENGTH)
    .toWellFormed()

const MAX_LINE_LENGTH = 500

/** Puts a text of others into one line. */
export const oneLine = (text: string): string => toLine(text, MAX_LINE_LENGTH)

const text = v.string('must be a string')
const files = 'must be a list of files, each with mimeType and data (base64) or url'

const File = v.pipe(
  v.strictObject(
    {
      name: v.optional(text),
      mimeType: text,
      data: v.optional(v.pipe(text, v.base64('must be base64'))),
      url: v.optional(text),
    },
    files,
  ),
  v.check(({ data, url }) => (data === undefined) !== (url === undefined), files),
)

const Arguments = v.strictObject(
  {
    message: v.optional(text),
    data: v.optional(v.custom<Json>(() => true)),
    files: v.optional(
      v.pipe(v.array(File, files), v.maxLength(MAX_TOOL_FILES, `must be at most ${MAX_TOOL_FILES} files`)),
    ),
    contextId: v.optional(text),
    taskId: v.optional(text),
  },
  'is no argument of this tool: it takes message, data, files, contextId and taskId',
)

/** The arguments of a tool as the parts of a message, and the ids of what it continues. */
export type Input = { parts: Part[]; contextId?: string | undefined; taskId?: string | undefined }

/** Reads the arguments of a tool. Returns what is wrong with them, for the model that calls it. */
export const readArguments = (tool: Tool, args: JsonObject): Input | { problem: string } => {
  const { mcp } = tool
  if (mcp && !isAnswer(args, mcp.inputSchema))
    return { parts: [{ data: { skillId: tool.skillId, arguments: args }, mediaType: 'application/json' }] }
  // The others are those of the tool, without which some clients do not call it.
  const read = validate(Arguments, mcp ? pick(args, 'taskId', 'message', 'data') : args)
  if ('errors' in read)
    return { problem: read.errors.map(({ pointer, message }) => `${pointer} ${message}.`).join('\n') }
  const { message = '', data, files = [] } = read.output
  // Models fill what they do not need with empty texts.
  const [contextId, taskId] = [read.output.contextId || undefined, read.output.taskId || undefined]
  const parts: Part[] = [
    ...(message === '' ? [] : [{ text: message, mediaType: 'text/plain' }]),
    ...(data === undefined ? [] : [{ data, mediaType: 'application/json' }]),
    ...files.map(({ name, mimeType, data, url }) => ({
      ...(data === undefined ? { url: url ?? '' } : { raw: data }),
      mediaType: mimeType,
      ...(name !== undefined && { filename: name }),
    })),
  ]
  if (parts.length === 0 && taskId === undefined)
    return { problem: 'The arguments need a message, data or files: for example {"message": "Hello"}.' }
  return { parts, contextId, taskId }
}

/** Checks whether the arguments of an MCP server's own tool name a task, and are not for the tool. */
const isAnswer = ({ taskId }: JsonObject, { properties = {} }: JsonObject): boolean =>
  typeof taskId === 'string' && taskId !== '' && !Object.hasOwn(properties as object, 'taskId')
