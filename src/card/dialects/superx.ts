import * as v from 'valibot'
import { type JsonObject, omit } from '../../json/index.ts'
import { type CapabilityDefaults, json, looseObject } from '../model/index.ts'
import { absentMeansFalse, readToolCard, superxProtocol } from '../read/index.ts'
import { anything, type Dialect, defineV0Dialect } from './dialect.ts'

const schema = v.nullish(looseObject({}))
const list = v.nullish(v.array(json))
const base = defineV0Dialect({
  card: { protocol: anything, resources: list, prompts: list },
  capabilities: v.entriesFromList(['tools', 'resources', 'prompts', 'sampling'], anything),
  skill: { inputSchema: schema, outputSchema: schema, title: anything, annotations: anything },
})

/** The tools of an MCP server, called by its own protocol, have none of A2A's capabilities. */
const toolCapabilities: CapabilityDefaults = {
  flags: { streaming: false, pushNotifications: false, extendedAgentCard: false, multiTurn: false },
  reason: 'the card is of an MCP server',
}

/** SuperX's card: v0.3 that names its protocol. With `protocol: mcp` it describes an MCP server and its tools. */
export const superx: Dialect = {
  ...base,
  detect: card => card.protocol === 'a2a' || card.protocol === 'mcp',
  capabilityDefaults: card => (card.protocol === 'mcp' ? toolCapabilities : absentMeansFalse('SuperX')),
  read: (card, provenance) =>
    base.read(card.protocol === 'mcp' ? readToolCard(card, isBareTool, provenance) : card, provenance),
  write: card => {
    const { document, dropped } = base.write(card)
    if (card.protocol !== undefined) return { document, dropped }
    const protocol = superxProtocol(card.supportedInterfaces)
    const { name, description, ...rest }: JsonObject =
      protocol === 'mcp' ? omit(document, 'preferredTransport') : document
    return { document: { name, description, protocol, ...rest }, dropped }
  },
}

/** SuperX lists tools without tags, which A2A skills must have. */
const isBareTool = ({ tags = null }: JsonObject): boolean => tags === null
