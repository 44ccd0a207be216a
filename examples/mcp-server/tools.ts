import { setTimeout } from 'node:timers/promises'
import { type CallToolResult, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'

const COUNT_DOWN_INTERVAL_MS = 300

/** A black and white face, 32 pixels wide and high. */
const PICTURE_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgAQAAAABbAUdZAAAAKklEQVR42m3OMQ0AAAwCQRzg3yUOvnthuekTEBJ6BPyxkwKa1cXF2hhfDsXDS7VbqasVAAAAAElFTkSuQmCC'

/** Creates the MCP server: five tools, a resource and a prompt. */
export const createToolServer = (): McpServer => {
  const server = new McpServer({ name: 'Tool Box', version: '1.0.0' })
  registerCountWords(server)
  registerRollDice(server)
  registerDivide(server)
  registerCountDown(server)
  registerDrawPattern(server)
  server.registerResource(
    'rhyme',
    'example:rhyme',
    { title: 'A counting rhyme', mimeType: 'text/plain' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'One, two, buckle my shoe.' }] }),
  )
  server.registerPrompt('guess_number', { description: 'Begins a game in which the model guesses a number.' }, () => ({
    messages: [
      {
        role: 'user',
        content: { type: 'text', text: 'Think of a number from 1 to 100. I will guess; say "higher" or "lower".' },
      },
    ],
  }))
  return server
}

/** Registers a tool whose only argument is a required string, so that an A2A message of plain text can call it. */
export const registerCountWords = (server: McpServer): void => {
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
      return textResult(count === 1 ? '1 word' : `${count} words`)
    },
  )
}

/** Registers a tool with an output schema. */
const registerRollDice = (server: McpServer): void => {
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
      return { ...textResult(`${rolls.join(' + ')} = ${sum}`), structuredContent: { rolls, sum } }
    },
  )
}

/** Registers a tool that can fail. A tool reports its failure in the result, not as a JSON-RPC error. */
const registerDivide = (server: McpServer): void => {
  server.registerTool(
    'divide',
    {
      title: 'Divide',
      description: 'Divides one number by another, which must not be 0.',
      inputSchema: fromJsonSchema<{ dividend: number; divisor: number }>({
        type: 'object',
        properties: { dividend: { type: 'number' }, divisor: { type: 'number' } },
        required: ['dividend', 'divisor'],
      }),
      annotations: { readOnlyHint: true },
    },
    ({ dividend, divisor }) =>
      divisor === 0 ? { ...textResult('Cannot divide by 0.'), isError: true } : textResult(`${dividend / divisor}`),
  )
}

/** Registers a tool that takes a while and reports its progress. */
export const registerCountDown = (server: McpServer): void => {
  server.registerTool(
    'count_down',
    {
      title: 'Count down',
      description: 'Counts down to liftoff and reports each number as progress.',
      inputSchema: fromJsonSchema<{ from: number }>({
        type: 'object',
        properties: { from: { type: 'integer', minimum: 1, maximum: 10, description: 'The first number' } },
        required: ['from'],
      }),
    },
    async ({ from }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (let number = from; number > 0; number--) {
        // A request without a token wants no progress notifications.
        if (progressToken !== undefined)
          await mcpReq.notify({
            method: 'notifications/progress',
            params: { progressToken, progress: from - number, total: from, message: `${number} …` },
          })
        await setTimeout(COUNT_DOWN_INTERVAL_MS, undefined, { signal: mcpReq.signal })
      }
      return textResult('Liftoff!')
    },
  )
}

/** Registers a tool without arguments that returns a picture. */
const registerDrawPattern = (server: McpServer): void => {
  server.registerTool(
    'draw_pattern',
    {
      title: 'Draw a pattern',
      description: 'Draws a small black and white pattern.',
      annotations: { readOnlyHint: true },
    },
    () => ({ content: [{ type: 'image', mimeType: 'image/png', data: PICTURE_PNG }] }),
  )
}

const textResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }] })
