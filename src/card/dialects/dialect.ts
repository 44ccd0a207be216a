import type { JsonObject } from '../../json/json.ts'
import type { Pointer } from '../../json/pointer.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { Provenance } from '../read/provenance.ts'

/** A card in one dialect, and the canonical pointers of what the dialect has no place for. */
export type Written = { document: JsonObject; dropped: Pointer[] }

/** One shape of the card: how to know it, read it into the canonical card, and write it. */
export type Dialect = {
  /** Whether a document is of this dialect; the table in index.ts asks the most telling ones first. */
  detect: (card: JsonObject) => boolean
  /** What the dialect's own documentation says of capabilities that are not declared. */
  capabilities?: (card: JsonObject) => Record<string, boolean>
  /** Brings a document into the canonical model, without defaults; wrong types are left for the schema to name. */
  read: (card: JsonObject, reading: Provenance) => JsonObject
  /** Writes a complete canonical card. */
  write: (card: AgentCard) => Written
  /** A card that was authored in this dialect, as the dialect's own host would serve it. Absent: `write` serves it. */
  writeAuthored?: (authored: JsonObject, card: AgentCard) => JsonObject
}
