import * as v from 'valibot'
import { type JsonObject, omit } from '../../json/json.ts'
import { json, looseObject } from '../model/schema.ts'
import { superxProtocol } from '../read/interfaces.ts'
import { readToolCard } from '../read/mcp-tools.ts'
import { type Dialect, inSkills } from './dialect.ts'
import { defineV0Dialect } from './v0-base.ts'

const schema = v.nullish(looseObject({}))
const things = v.nullish(v.array(json))
const words = defineV0Dialect(
  {},
  { skills: inSkills({ inputSchema: schema, outputSchema: schema }), resources: things, prompts: things },
)

/** A tool as SuperX lists it: a skill without tags, which A2A's own skills must have. */
const isBareTool = ({ tags = null }: JsonObject): boolean => tags === null

/** SuperX's card: v0.3 that names its protocol. An MCP server's is one too, and speaks MCP at its URL. */
export const superx: Dialect = {
  ...words,
  detect: card => card.protocol === 'a2a' || card.protocol === 'mcp',
  capabilities: card =>
    card.protocol === 'mcp' ? { streaming: false, pushNotifications: false, multiTurn: false } : {},
  read: (card, provenance) =>
    words.read(card.protocol === 'mcp' ? readToolCard(card, isBareTool, provenance) : card, provenance),
  write: card => {
    const { document, dropped } = words.write(card)
    if (card.protocol !== undefined) return { document, dropped }
    const protocol = superxProtocol(card.supportedInterfaces)
    const { name, description, ...rest }: JsonObject =
      protocol === 'mcp' ? omit(document, 'preferredTransport') : document
    return { document: { name, description, protocol, ...rest }, dropped }
  },
}
