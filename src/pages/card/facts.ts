import type { CallProfile } from '../../card/index.ts'
import type { AgentCard, McpTool } from '../../card/model/index.ts'
import type { SourceHealth } from '../../registry/index.ts'
import type { CheckFacts } from './receipt.ts'
import type { CardSigning } from './signing.ts'

/** What a card page shows of an agent. */
export type CardFacts = {
  id: string
  /** The representation of A2A 1.0, which this host wrote: its members have the types of the schema. Every string of it is untrusted. */
  card: AgentCard
  signing: CardSigning
  /** The origin of this host's URLs of the agent. */
  origin: string
  /** The origin of this host itself. That of the URLs of an agent can be one that only its owner names. */
  hostOrigin: string
  /** The address of the card that clients are given. */
  cardUrl: string
  /** `gateway`: calls go through this host, which checks them against the card. `closed`: it refuses them. */
  route: CallProfile['route']
  visibility: CallProfile['visibility']
  modified: Date
  /** The first tool of an agent that is an MCP server. */
  tool?: McpTool
  /** Set for a card that this host fetches from the agent. */
  source?: SourceHealth
  /** Set for an agent that was checked. */
  check?: CheckFacts
}
