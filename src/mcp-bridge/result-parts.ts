import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { Json, JsonObject } from '../json/json.ts'

/** What a tool answered. */
export type ToolResult = Pick<CallToolResult, 'content' | 'structuredContent' | 'isError'>

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
