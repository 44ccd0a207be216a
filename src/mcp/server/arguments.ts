import * as v from 'valibot'
import { validate } from '../../card/model/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { MAX_TOOL_FILES } from '../../limits.ts'
import { pick } from '../client/index.ts'
import type { Part } from './a2a-calls.ts'
import type { Tool } from './tools.ts'

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
