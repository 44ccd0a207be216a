import { McpServer } from '@modelcontextprotocol/server'
import { countDown } from './count-down.ts'
import { countWords } from './count-words.ts'
import { divide } from './divide.ts'
import { drawPattern } from './draw-pattern.ts'
import { rollDice } from './roll-dice.ts'

/** The MCP server: five tools, a resource and a prompt. */
export const toolServer = (): McpServer => {
  const server = new McpServer({ name: 'Tool Box', version: '1.0.0' })
  for (const add of [countWords, rollDice, divide, countDown, drawPattern]) add(server)
  server.registerResource(
    'rhyme',
    'example:rhyme',
    { title: 'A counting rhyme', mimeType: 'text/plain' },
    ({ href }) => ({ contents: [{ uri: href, mimeType: 'text/plain', text: 'One, two, buckle my shoe.' }] }),
  )
  server.registerPrompt('guess_number', { description: 'Begins a game in which a number is guessed.' }, () => ({
    messages: [
      {
        role: 'user',
        content: { type: 'text', text: 'Think of a number from 1 to 100. I will guess; say "higher" or "lower".' },
      },
    ],
  }))
  return server
}
