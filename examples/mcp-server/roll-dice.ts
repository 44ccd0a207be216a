import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'

/** A tool that answers with data: its output schema says which. */
export const rollDice = (server: McpServer): void => {
  server.registerTool(
    'roll_dice',
    {
      title: 'Roll dice',
      description: 'Rolls dice and adds them up.',
      inputSchema: fromJsonSchema<{ dice?: number; sides?: number }>({
        type: 'object',
        properties: {
          dice: { type: 'integer', minimum: 1, maximum: 20, default: 2 },
          sides: { type: 'integer', minimum: 2, maximum: 100, default: 6 },
        },
      }),
      outputSchema: fromJsonSchema<{ rolls: number[]; sum: number }>({
        type: 'object',
        properties: { rolls: { type: 'array', items: { type: 'integer' } }, sum: { type: 'integer' } },
        required: ['rolls', 'sum'],
      }),
    },
    ({ dice = 2, sides = 6 }) => {
      const rolls = Array.from({ length: dice }, () => 1 + Math.floor(Math.random() * sides))
      const sum = rolls.reduce((total, roll) => total + roll, 0)
      return {
        content: [{ type: 'text', text: `${rolls.join(' + ')} = ${sum}` }],
        structuredContent: { rolls, sum },
      }
    },
  )
}
