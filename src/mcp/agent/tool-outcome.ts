import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { type CallError, toJsonRpcError } from '../../a2a/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { MAX_JSON_DEPTH } from '../../limits.ts'
import { type McpError, pick, withQuote } from '../client/index.ts'
import type { QuotaExceeded } from './quotas.ts'

/** The outcome of a tool's call. `detail` is for the owner's log. */
export type ToolOutcome =
  | { result: ToolResult }
  | { failure: CallError; detail?: string }
  /** The server's own JSON-RPC error. */
  | { refused: string }
  /** `quote` is what the server wrote, for the caller; no log repeats it. */
  | { notReady: string; quote?: string }
  /** The tool's result is not one that callers can read. */
  | { invalid: string }

/** The result of a tool. */
export type ToolResult = Pick<CallToolResult, 'content' | 'structuredContent' | 'isError'>

/** Accepts a tool's result unless it nests deeper than recursive readers of JSON can follow. */
export const toOutcome = (result: ToolResult): ToolOutcome =>
  nestsTooDeep(result.structuredContent)
    ? { invalid: `The tool returned data that nests deeper than ${MAX_JSON_DEPTH} levels.` }
    : { result }

const nestsTooDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return true
    level = level.flatMap(each => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

/** The outcome if this Worker lacks a binding or secret that the manifest names. */
export const misconfigured = (detail: string): ToolOutcome => ({ failure: { kind: 'misconfigured', detail }, detail })

/** Returns what an error between this host and the MCP server means for the caller: the details are for the owner. */
export const toFailedOutcome = (error: McpError, timeoutSeconds: number): ToolOutcome => {
  const { code, message } = error
  if (code === 'refused') return { refused: message }
  if (code === 'unreachable') return { failure: { kind: 'unreachable' }, detail: error.why }
  if (code === 'timeout') return { failure: { kind: 'timeout', seconds: timeoutSeconds } }
  if (code === 'broken-off') return { failure: { kind: 'broken-off' } }
  if (code === 'too-large') return { failure: { kind: 'response-too-large', maxBytes: error.maxBytes } }
  return { notReady: message, ...(error.quote !== undefined && { quote: error.quote }) }
}

/** Returns the content of a tool's result as parts of A2A 1.0, in its order; structured content last. */
export const toParts = ({ content = [], structuredContent: data }: ToolResult): JsonObject[] => [
  ...content.map(toPart),
  ...(data === undefined ? [] : [{ data: data as Json, mediaType: 'application/json' }]),
]

const toPart = (block: ContentBlock): JsonObject => {
  if (block.type === 'resource_link') return toLink(block)
  if (block.type === 'resource') return toResource(block)
  const annotations = metadata(pick(block, 'annotations'))
  if (block.type === 'text') return { text: block.text, mediaType: 'text/plain', ...annotations }
  if (block.type === 'image' || block.type === 'audio')
    return { raw: block.data, mediaType: block.mimeType, ...annotations }
  // A kind of content that MCP does not define yet.
  return { data: block, mediaType: 'application/json' }
}

type Block<Type extends ContentBlock['type']> = Extract<ContentBlock, { type: Type }>

/** Returns a link as a file if callers can open it, else as the data that reads the resource from this agent. */
const toLink = (block: Block<'resource_link'>): JsonObject => {
  const { uri, name, mimeType } = block
  const described = pick(block, 'title', 'description', 'size', 'annotations')
  const mediaType = mimeType === undefined ? {} : { mediaType: mimeType }
  return isWebUrl(uri)
    ? { url: uri, filename: name, ...mediaType, ...metadata(described) }
    : { data: { resource: uri, name, ...pick(block, 'mimeType'), ...described }, mediaType: 'application/json' }
}

/** Checks whether callers can open a URI themselves. */
export const isWebUrl = (uri: string): boolean => /^https?:\/\//i.test(uri)

/** The URI goes into metadata: it identifies the resource at its server, and callers may be unable to open it. */
const toResource = ({ resource, ...block }: Block<'resource'>): JsonObject => ({
  ...('text' in resource
    ? { text: resource.text, mediaType: resource.mimeType ?? 'text/plain' }
    : { raw: resource.blob, mediaType: resource.mimeType ?? 'application/octet-stream' }),
  filename: resource.uri.split('/').at(-1) || resource.uri,
  ...metadata({ uri: resource.uri, ...pick(block, 'annotations') }),
})

const metadata = (members: JsonObject): JsonObject => (Object.keys(members).length > 0 ? { metadata: members } : {})

/** The message of a task's status: parts of A2A 1.0 for people, metadata for programs. */
export type StatusMessage = { parts: JsonObject[]; metadata?: JsonObject }

/** Returns a message with a text for people, and a reason for programs. */
export const textMessage = (text: string, reason?: string): StatusMessage => ({
  parts: [{ text, mediaType: 'text/plain' }],
  ...(reason !== undefined && { metadata: { reason } }),
})

/** Returns the message of a task that is rejected because too many tools run. */
export const quotaMessage = (exceeded: QuotaExceeded): StatusMessage =>
  textMessage(
    `This agent is running as many tools ${quotaTexts[exceeded]}. Send the message again later.`,
    'RESOURCE_EXHAUSTED',
  )

const quotaTexts: Readonly<Record<QuotaExceeded, string>> = {
  agent: 'as it may at once',
  anonymous: 'for callers without a token as it may at once',
  caller: 'for you as it may for one caller at once',
}

/** Returns the message of a failed task: the tool's own content, the server's error, or this host's own message. */
export const failureMessage = (outcome: ToolOutcome): StatusMessage => {
  if ('result' in outcome) {
    const parts = toParts(outcome.result)
    const message = textMessage('The tool failed without a message.', 'TOOL_FAILED')
    return parts.length > 0 ? { ...message, parts } : message
  }
  if ('refused' in outcome) return textMessage(outcome.refused, 'MCP_SERVER_REFUSED')
  if ('notReady' in outcome) return textMessage(withQuote(NOT_READY, outcome.quote), 'MCP_SERVER_NOT_READY')
  if ('invalid' in outcome) return textMessage(outcome.invalid, 'INVALID_AGENT_RESPONSE')
  const { message, data } = toJsonRpcError(outcome.failure, '0.3')
  return { ...textMessage(message), ...(data && !Array.isArray(data) && { metadata: data }) }
}

const NOT_READY = "The tool's server is not ready. Try again later."
