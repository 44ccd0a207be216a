import type { CallProfile } from '../../card/call-profile.ts'
import type { AgentCard } from '../../card/model/agent-card.ts'

/** What a card page shows of an agent. */
export type CardFacts = {
  id: string
  /** The representation of A2A 1.0, which this host wrote: its members have the types of the schema. Every string of it is untrusted. */
  card: AgentCard
  /** The origin of this host's URLs of the agent. */
  origin: string
  /** The address of the card that clients are given. */
  cardUrl: string
  /** `gateway`: calls go through this host, which checks them against the card. */
  route: CallProfile['route']
  visibility: CallProfile['visibility']
}
