import type { Json, JsonObject } from '../../json/index.ts'
import { findWidenings } from '../diff/index.ts'
import { createRedaction } from '../lint/index.ts'
import { type Manifest, readManifest, resolveSource } from '../manifest/index.ts'
import { type AgentCard, type CardError, type RepresentationName, truncateNotes } from '../model/index.ts'
import { detectForeignDocument, Provenance } from '../read/index.ts'
import { createRouteWriter } from '../rewrite/index.ts'
import { readCanonicalCard, setCapabilities } from './canonical-card.ts'
import { type MergedCard, mergeFetchedCard } from './overlay.ts'

/** An agent with a remote card, and the extended card that it returned to one of its callers. */
type AgentExtendedCard = {
  id: string
  /** The origin of this host's URLs in the card. */
  origin: string
  /** The public card as it was fetched. */
  publicCard: JsonObject
  /** The extended card as it was fetched. */
  extendedCard: JsonObject
}

/**
 * Compiles an extended card that was fetched from its agent as the public card of the manifest `document` is compiled. Behind the
 * gateway it has the interfaces of the public card, and the capabilities that the gate enforces. With `pin`, it must not widen
 * access: no owner reviews it. What looks like a secret is served, as the agent sends it to this caller alone, but no error repeats it.
 */
export const compileAgentExtendedCard = (document: Json, agent: AgentExtendedCard): CompiledDocuments => {
  const result = compileCard(document, agent)
  if ('documents' in result) return result
  return { errors: createRedaction([document, agent.publicCard, agent.extendedCard])(result.errors) }
}

type CompiledDocuments =
  | { manifest: Manifest; documents: Record<RepresentationName, JsonObject> }
  | { errors: CardError[] }

const compileCard = (
  document: Json,
  { id, origin, publicCard, extendedCard }: AgentExtendedCard,
): CompiledDocuments => {
  const parsed = readManifest(document, id)
  if ('errors' in parsed) return reject(parsed.errors)
  const mergedPublic = mergeFetchedCard(parsed, publicCard)
  const merged = mergeFetchedCard(parsed, extendedCard)
  if ('errors' in mergedPublic || 'errors' in merged) return reject([mergedPublic, merged].flatMap(errorsOf))
  const readPublic = readCanonicalCard(mergedPublic.manifest, new Provenance())
  if ('errors' in readPublic) return reject(readPublic.errors)

  const isGateway = merged.manifest.route === 'gateway'
  const provenance = new Provenance()
  const read = readExtended(isGateway ? withGateCapabilities(merged, readPublic.card) : merged, provenance)
  if ('errors' in read) return reject(read.errors)
  const { supportedInterfaces } = readPublic.card
  const direct = isGateway ? { ...read.card, supportedInterfaces } : read.card
  const isPinned = resolveSource(merged.manifest.upstream)?.pin === true
  const widens = isPinned ? findWidenings(readPublic.card, direct) : []
  if (widens.length > 0) return reject(widens)
  // The hosts of either card are hidden in the served one.
  const known = { ...read.card, supportedInterfaces: [...supportedInterfaces, ...read.card.supportedInterfaces] }
  const fetched = [publicCard, extendedCard]
  const serving = createRouteWriter(merged.manifest, known, fetched, `${origin}/agents/${id}`)
  const card = serving.toServedCard(direct)
  const served = serving.writeRepresentations({ ...read, card, provenance, signed: merged.signedDocument })
  return served.errors.length > 0 ? reject(served.errors) : { manifest: parsed.manifest, documents: served.documents }
}

const readExtended = (
  { manifest, schema }: MergedCard,
  provenance: Provenance,
): ReturnType<typeof readCanonicalCard> => {
  const foreign = detectForeignDocument(manifest.card, schema)
  return foreign.length > 0 ? { errors: foreign } : readCanonicalCard(manifest, provenance)
}

/** Sets the capabilities by which the gate judges calls to those of the public card. */
const withGateCapabilities = (merged: MergedCard, { capabilities }: AgentCard): MergedCard => {
  const { manifest } = merged
  const isEnforced = (manifest.gate.capabilities ?? 'enforce') === 'enforce'
  const { streaming = false, pushNotifications = false } = capabilities
  const values = { extendedAgentCard: true, ...(isEnforced && { streaming, pushNotifications }) }
  return { ...merged, manifest: { ...manifest, card: setCapabilities(manifest.card, values) } }
}

const errorsOf = (result: MergedCard | { errors: CardError[] }): CardError[] =>
  'errors' in result ? result.errors : []

const reject = (errors: CardError[]): { errors: CardError[] } => ({
  errors: truncateNotes(errors, pointer => pointer),
})
