import { type JsonObject, without } from '../json.ts'
import { readCard } from '../read-card.ts'
import type { Dialect } from './dialect.ts'
import { inOtherWords } from './v0-3.ts'

const words = inOtherWords({}, '0.3')

/** SuperX's card: v0.3 that names its protocol. An MCP server's is one too, and speaks MCP at its URL. */
export const superx: Dialect = {
  ...words,
  detect: card => card.protocol === 'a2a' || card.protocol === 'mcp',
  capabilities: card =>
    card.protocol === 'mcp' ? { streaming: false, pushNotifications: false, multiTurn: false } : {},
  read: (card, reading) => {
    const { protocol, ...rest } = card
    const spoken: JsonObject = protocol === 'mcp' ? { preferredTransport: 'MCP', ...rest } : rest
    return readCard(spoken, {}, '0.3', reading)
  },
  write: card => {
    const { document, dropped } = words.write(card)
    const mcp = document.preferredTransport === 'MCP'
    const { name, description, ...rest } = mcp ? without(document, 'preferredTransport') : document
    return {
      document: { name: name as string, description: description as string, protocol: mcp ? 'mcp' : 'a2a', ...rest },
      dropped,
    }
  },
}
