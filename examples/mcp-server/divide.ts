import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'

/** A tool that can fail: it says so in its result, which is not an error of the protocol. */
export const divide = (server: McpServer): void => {
  server.registerTool(
    'divide',
    {
      title: 'Divide',
      description: 'Divides one number by another, which may not be 0.',
      inputSchema: fromJsonSchema<{ dividend: number; divisor: number }>({
        type: 'object',
        properties: { dividend: { type: 'number' }, divisor: { type: 'number' } },
        required: ['dividend', 'divisor'],
      }),
      annotations: { readOnlyHint: true },
    },
    ({ dividend, divisor }) =>
      divisor === 0
        ? { content: [{ type: 'text', text: 'Nothing can be divided by 0.' }], isError: true }
        : { content: [{ type: 'text', text: `${dividend / divisor}` }] },
  )
}
