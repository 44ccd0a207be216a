import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'
import { png } from './png.ts'

/** How many fields the pattern is wide and high, and how many pixels a field is. */
const fields = 7
const scale = 8

/** A tool that answers with a picture. */
export const drawPattern = (server: McpServer): void => {
  server.registerTool(
    'draw_pattern',
    {
      title: 'Draw a pattern',
      description: 'Draws a small pattern that is the same for the same word, and another for any other.',
      inputSchema: fromJsonSchema<{ word: string }>({
        type: 'object',
        properties: { word: { type: 'string', maxLength: 100 } },
        required: ['word'],
      }),
      annotations: { readOnlyHint: true },
    },
    async ({ word }) => {
      const bits = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(word)))
      const isDark = (x: number, y: number): boolean => {
        const [column, row] = [Math.floor(x / scale), Math.floor(y / scale)]
        // The right half mirrors the left one.
        return ((bits[row] ?? 0) >> Math.min(column, fields - 1 - column)) % 2 === 1
      }
      return {
        content: [{ type: 'image', mimeType: 'image/png', data: png(fields * scale, isDark).toString('base64') }],
      }
    },
  )
}
