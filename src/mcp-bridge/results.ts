import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import { toJsonRpcError } from '../a2a/error-response.ts'
import type { Failure } from '../a2a/errors.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { MAX_JSON_DEPTH } from '../limits.ts'
import type { McpError } from '../mcp/errors.ts'
import type { Full } from './quotas.ts'

/** What a tool answered. */
type ToolResult = Pick<CallToolResult, 'content' | 'structuredContent' | 'isError'>

/** The content of a tool's result as parts of A2A v1.0, in its order; then what it says as structured data. */
export const partsOf = ({ content = [], structuredContent }: ToolResult): JsonObject[] => [
  ...content.map(partOf),
  ...(structuredContent === undefined
    ? []
    : [{ data: structuredContent as Json, mediaType: 'application/json' } satisfies JsonObject]),
]

const partOf = (block: ContentBlock): JsonObject => {
  switch (block.type) {
    case 'text':
      return { text: block.text, mediaType: 'text/plain' }
    case 'image':
    case 'audio':
      return { raw: block.data, mediaType: block.mimeType }
    case 'resource_link':
      return {
        url: block.uri,
        filename: block.name,
        ...(block.mimeType !== undefined && { mediaType: block.mimeType }),
      }
    case 'resource':
      return ofResource(block.resource)
    default:
      // Kinds of content that MCP does not have yet.
      return { data: block, mediaType: 'application/json' }
  }
}

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource']

/** A file, whether its content is text or not; its address is the server's word for it, which need not be one that anybody can open. */
const ofResource = (resource: Resource): JsonObject => ({
  ...('text' in resource
    ? { raw: base64(resource.text), mediaType: resource.mimeType ?? 'text/plain' }
    : { raw: resource.blob, mediaType: resource.mimeType ?? 'application/octet-stream' }),
  filename: resource.uri.split('/').at(-1) || resource.uri,
  metadata: { uri: resource.uri },
})

const base64 = (text: string): string =>
  btoa(Array.from(new TextEncoder().encode(text), byte => String.fromCharCode(byte)).join(''))

/** What came of a tool's call. `detail` is for the log of the owner. */
export type Outcome =
  | { result: ToolResult }
  | { failure: Failure; detail?: string }
  /** The server's own JSON-RPC error, in its words. */
  | { refused: string }
  /** The server is there, but not ready. */
  | { notReady: string }
  /** The answer was large, and so were others, for as long as this host would wait. */
  | { crowded: true }
  /** What the tool answered, no caller could be told. */
  | { unusable: string }

/** A tool's answer, but where readers of JSON, who recurse into it, would not come to its end. */
export const answered = (result: ToolResult): Outcome =>
  nestsTooDeep(result.structuredContent)
    ? { unusable: `The tool answered data that nests deeper than ${MAX_JSON_DEPTH} levels.` }
    : { result }

const nestsTooDeep = (value: unknown): boolean => {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_JSON_DEPTH) return true
    level = level.flatMap(each => (typeof each === 'object' && each !== null ? Object.values(each) : []))
  }
  return false
}

/** What this Worker lacks that the manifest names. */
export const misconfigured = (detail: string): Outcome => ({ failure: { failed: 'misconfigured', detail }, detail })

/** What a failure between this host and the server is to the caller: its words are for the owner, but for the server's own. */
export const outcomeOf = (failure: McpError, seconds: number): Outcome => {
  switch (failure.code) {
    case 'refused':
      return { refused: failure.message }
    case 'unreachable':
      return { failure: { failed: 'unreachable' }, ...(failure.why !== '' && { detail: failure.why }) }
    case 'timeout':
      return { failure: { failed: 'timeout', seconds } }
    default:
      return { notReady: failure.message }
  }
}

/** What a task's status says to people, as parts of A2A v1.0, and to programs. */
export type Words = { parts: JsonObject[]; metadata?: JsonObject }

/** Words as the one text of a status. */
export const said = (text: string, reason?: string): Words => ({
  parts: [{ text, mediaType: 'text/plain' }],
  ...(reason !== undefined && { metadata: { reason } }),
})

/** What is said of a task that was not begun, because too many run. */
export const tooMany = (full: Full): Words => said(`${running[full]} Send the message again later.`, exhausted)

const exhausted = 'RESOURCE_EXHAUSTED'

const running: Readonly<Record<Full, string>> = {
  all: 'As many tools of this agent run as may run at once.',
  account: 'As many tools of this agent run for you as one caller may have running at once.',
  unknown: 'As many tools of this agent run as callers without a token may have running at once.',
}

const crowded =
  'The tool has run, but its answer is large, and too many large answers are under way. Send the message again later.'

/** What is said of a tool's call that failed: in the tool's words, in its server's, or in those that calls fail with elsewhere. */
export const failureWords = (outcome: Outcome): Words => {
  if ('result' in outcome) {
    const parts = partsOf(outcome.result)
    return parts.length > 0
      ? { parts, metadata: { reason: 'TOOL_FAILED' } }
      : said('The tool failed, and does not say why.', 'TOOL_FAILED')
  }
  if ('refused' in outcome) return said(outcome.refused, 'MCP_SERVER_REFUSED')
  if ('notReady' in outcome) return said("The tool's server is not ready. Try again later.", 'MCP_SERVER_NOT_READY')
  if ('crowded' in outcome) return said(crowded, exhausted)
  if ('unusable' in outcome) return said(outcome.unusable, 'INVALID_AGENT_RESPONSE')
  const { message, data } = toJsonRpcError(outcome.failure, '0.3')
  return { ...said(message), ...(data && !Array.isArray(data) && { metadata: data }) }
}
