import type { Json, JsonObject, Pointer } from '../../json/json.ts'
import { buildCallProfile, type CallProfile, trustedIssuers } from '../call-profile.ts'
import { lint } from '../lint/index.ts'
import { type Manifest, readManifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { RepresentationName } from '../model/constants.ts'
import { type CardError, type Report, truncateNotes, truncatePointers } from '../model/report.ts'
import { Provenance } from '../read/provenance.ts'
import { checkDocument, detectForeignDocument } from '../read/validate.ts'
import { bridgeProfile, withBridgeInterfaces } from '../rewrite/mcp-bridge.ts'
import { createServing } from '../rewrite/serving.ts'
import { hostOrigin, readCanonicalCard } from './canonical-card.ts'
import { checkConsistency } from './consistency.ts'
import { type ExtendedCard, extendedCards } from './extended-cards.ts'
import { mergeFetchedCard, type SourcedCard } from './overlay.ts'

/**
 * What each dialect has no place for, where it was authored. Only what the author wrote can be dropped: a default that a
 * dialect has no word for is no loss, nor is an interface of this host.
 */
const droppedAsAuthored = (
  dropped: Record<string, Pointer[]>,
  route: Manifest['route'],
  provenance: Provenance,
  toldAt: (place: Pointer) => Pointer,
): Record<string, Pointer[]> => {
  const ours = (place: Pointer) => route === 'gateway' && place.startsWith('/supportedInterfaces/')
  return Object.fromEntries(
    Object.entries(dropped).flatMap(([name, places]) => {
      const lost = places.filter(place => !ours(place) && !provenance.isFilled(place))
      return lost.length > 0 ? [[name, truncatePointers(lost.map(place => toldAt(provenance.sourceOf(place))))]] : []
    }),
  )
}

/** A manifest made ready to be served. */
export type Compiled = {
  manifest: Manifest
  /** The card as it is served, and as it was before any address in it was this host's. */
  card: AgentCard
  direct: AgentCard
  report: Report
  documents: Record<RepresentationName, JsonObject>
  profile: CallProfile
  /** The lowest tier first; none where the manifest has no overlays. */
  extended: ExtendedCard[]
  /** Where this host is, as its absolute URLs say it. */
  origin: string
}

/** What the host knows of a registration besides the document. */
export type CompileContext = {
  /** The agent's id. */
  id: string
  /** `PUBLIC_URL`, where it is set. */
  publicUrl?: string | undefined
  /** The origin that the registration was sent to. */
  requestOrigin: string
  /** The document that the source of the card has answered; to be there where the manifest has one. */
  fetched?: JsonObject | undefined
}

type Compilation = { compiled: Compiled } | { errors: CardError[] }

/**
 * Reads a manifest or a bare card, fills its defaults, checks and lints it, and writes every representation. Pure and
 * deterministic. A refusal lists every error found, each with a pointer into the document, or into what was fetched.
 */
export const compile = (document: Json, registration: CompileContext): Compilation => {
  const bounds = checkDocument(document)
  if (bounds.length > 0) return refuse(bounds)
  const hosted = readManifest(document, registration.id)
  if ('errors' in hosted) return refuse(hosted.errors)
  const sourced = mergeFetchedCard(hosted, registration.fetched)
  if ('errors' in sourced) return refuse(sourced.errors)
  const other = detectForeignDocument(sourced.manifest.card)
  if (other.length > 0) return refuse(other, sourced.refusedAt)
  const provenance = new Provenance()
  if (hosted.isHiddenByDefault) provenance.noteDefault('/exposed', 'set to false: only what says true is public')
  return compileSourced(sourced, provenance, registration)
}

const compileSourced = (sourced: SourcedCard, provenance: Provenance, registration: CompileContext): Compilation => {
  const { manifest, written, signed, fetched, toldAt, refusedAt, leftOut } = sourced
  const read = readCanonicalCard(manifest, provenance)
  if ('errors' in read) return refuse(read.errors, refusedAt)
  const { card: direct, authored, dialect } = read
  const origin = hostOrigin(manifest, registration)
  const agentUrl = `${origin}/agents/${registration.id}`
  const unworking = checkConsistency(sourced, direct, provenance, agentUrl)
  if (unworking.length > 0) return refuse(unworking)
  const serving = createServing(manifest, direct, fetched, agentUrl)
  const card = serving.card(direct)
  const { documents, dropped, errors } = serving.representations({ card, authored, dialect, provenance, signed })
  if (errors.length > 0) return refuse(errors, refusedAt)
  const issues = lint({ card, authored, dialect, manifest, at: place => provenance.sourceOf(place) })
  const { filled, converted } = provenance
  const further = extendedCards(sourced, read, { filled, converted, issues }, serving)
  if ('errors' in further) return refuse(further.errors)
  const { extended, findings } = further
  const report: Report = {
    dialect,
    filled: truncateNotes([...filled, ...findings.filled], toldAt),
    converted: truncateNotes([...converted, ...findings.converted, ...leftOut], toldAt),
    dropped: droppedAsAuthored(dropped, manifest.route, provenance, toldAt),
    issues: truncateNotes([...issues, ...findings.issues], toldAt),
  }
  const tiers = extended.map(({ tier }) => tier)
  const profile: CallProfile = {
    ...buildCallProfile(manifest, withBridgeInterfaces(manifest, direct), {
      tiers,
      issuers: trustedIssuers(direct, written),
      agentUrl,
    }),
    ...bridgeProfile(manifest, authored, direct),
  }
  return { compiled: { manifest, card, direct, documents, profile, extended, origin, report } }
}

const refuse = (errors: CardError[], at = (place: Pointer): Pointer => place) => ({ errors: truncateNotes(errors, at) })
