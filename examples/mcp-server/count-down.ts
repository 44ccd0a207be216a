import { setTimeout } from 'node:timers/promises'
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'

/** How long each number is shown, in ms. */
const pace = 300

/** A tool that takes its time, and tells how far it is. */
export const countDown = (server: McpServer): void => {
  server.registerTool(
    'count_down',
    {
      title: 'Count down',
      description: 'Counts down to liftoff, and says each number as it comes.',
      inputSchema: fromJsonSchema<{ from: number }>({
        type: 'object',
        properties: { from: { type: 'integer', minimum: 1, maximum: 10, description: 'The first number' } },
        required: ['from'],
      }),
    },
    async ({ from }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (let number = from; number > 0; number--) {
        // Only who asked to be told is told.
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: from - number, total: from, message: `${number} …` },
          })
        await setTimeout(pace, undefined, { signal: mcpReq.signal })
      }
      return { content: [{ type: 'text', text: 'Liftoff!' }] }
    },
  )
}
