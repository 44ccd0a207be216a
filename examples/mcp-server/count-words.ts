import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'

/** A tool with one argument that has to be there, a string: an A2A message that is plain text calls it. */
export const countWords = (server: McpServer): void => {
  server.registerTool(
    'count_words',
    {
      title: 'Count words',
      description: 'Counts the words of a text.',
      inputSchema: fromJsonSchema<{ text: string }>({
        type: 'object',
        properties: { text: { type: 'string', description: 'The text' } },
        required: ['text'],
      }),
      annotations: { readOnlyHint: true },
    },
    ({ text }) => {
      const count = text.split(/\s+/).filter(Boolean).length
      return { content: [{ type: 'text', text: count === 1 ? '1 word' : `${count} words` }] }
    },
  )
}
