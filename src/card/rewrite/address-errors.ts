import { type JsonObject, omit } from '../../json/json.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { DialectName } from '../model/names.ts'
import type { CardError } from '../model/report.ts'
import type { RepresentationName } from '../model/representation-names.ts'
import type { Provenance } from '../read/provenance.ts'
import type { AddressFinder, Found } from './agent-address.ts'

/** A card as it is served for a gateway, and every document of it. */
type Served = {
  card: AgentCard
  dialect: DialectName
  reading: Provenance
  documents: Record<RepresentationName, JsonObject>
}

/**
 * Why a card that is served for a gateway is refused: at the places where it was authored. The document in the author's
 * dialect may come back with words that the card has no place for, and no other document may say more than both.
 */
export const findLeaks = (
  find: AddressFinder,
  { card, dialect, reading, documents }: Served,
  says: (found: Found) => string,
): CardError[] => {
  // Signatures are served only where they still hold.
  const inCard = find(omit(card as JsonObject, 'signatures'))
    .filter(({ place }) => !reading.isFilled(place))
    .map(found => ({ ...found, place: reading.sourceOf(found.place) }))
  const found = [inCard, ...[documents[dialect], ...Object.values(documents)].map(each => () => find(each))]
  for (const each of found) {
    const places = typeof each === 'function' ? each() : each
    if (places.length > 0) return places.map(each => ({ pointer: each.place, message: says(each) }))
  }
  return []
}
