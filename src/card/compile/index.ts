import type { Json, JsonObject } from '../../json/json.ts'
import type { Pointer } from '../../json/pointer.ts'
import { type CallProfile, callProfile } from '../call-profile.ts'
import { issuersOf } from '../issuers.ts'
import { lint } from '../lint/index.ts'
import { type Manifest, readManifest } from '../manifest/manifest.ts'
import type { AgentCard } from '../model/agent-card.ts'
import { bounded } from '../model/bounded.ts'
import type { CardError, Report } from '../model/report.ts'
import type { RepresentationName } from '../model/representation-names.ts'
import { identifyOther } from '../read/identify.ts'
import { Reading } from '../read/provenance.ts'
import { checkBounds } from '../read/validate.ts'
import { bridgeOf, onBridge } from '../rewrite/mcp-bridge.ts'
import { servingOf } from '../rewrite/serving.ts'
import { hostOrigin } from './canonical-card.ts'
import { completeCard } from './complete-card.ts'
import { droppedAsAuthored } from './dropped.ts'
import { type ExtendedCard, extendedCards } from './extended-cards.ts'
import { type SourcedCard, sourcedCard } from './sourced-card.ts'
import { unworkable } from './workable.ts'

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
export type Registration = {
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
export const compile = (document: Json, registration: Registration): Compilation => {
  const bounds = checkBounds(document)
  if (bounds.length > 0) return refuse(bounds)
  const hosted = readManifest(document, registration.id)
  if ('errors' in hosted) return refuse(hosted.errors)
  const sourced = sourcedCard(hosted, registration.fetched)
  if ('errors' in sourced) return refuse(sourced.errors)
  const other = identifyOther(sourced.manifest.card)
  if (other.length > 0) return refuse(other, sourced.refusedAt)
  const reading = new Reading()
  if (hosted.unexposed) reading.fill('/exposed', 'set to false: only what says true is public')
  return compileSourced(sourced, reading, registration)
}

const compileSourced = (sourced: SourcedCard, reading: Reading, registration: Registration): Compilation => {
  const { manifest, written, signed, fetched, toldAt, refusedAt, leftOut } = sourced
  const read = completeCard(manifest, reading)
  if ('errors' in read) return refuse(read.errors, refusedAt)
  const { card: direct, authored, dialect } = read
  const origin = hostOrigin(manifest, registration)
  const agentUrl = `${origin}/agents/${registration.id}`
  const unworking = unworkable(sourced, direct, reading, agentUrl)
  if (unworking.length > 0) return refuse(unworking)
  const serving = servingOf(manifest, direct, fetched, agentUrl)
  const card = serving.card(direct)
  const { documents, dropped, errors } = serving.representations({ card, authored, dialect, reading, signed })
  if (errors.length > 0) return refuse(errors, refusedAt)
  const issues = lint({ card, authored, dialect, manifest, at: place => reading.authored(place) })
  const { filled, converted } = reading
  const further = extendedCards(sourced, read, { filled, converted, issues }, serving)
  if ('errors' in further) return refuse(further.errors)
  const { extended, findings } = further
  const report: Report = {
    dialect,
    filled: bounded([...filled, ...findings.filled], toldAt),
    converted: bounded([...converted, ...findings.converted, ...leftOut], toldAt),
    dropped: droppedAsAuthored(dropped, manifest.route, reading, toldAt),
    issues: bounded([...issues, ...findings.issues], toldAt),
  }
  const tiers = extended.map(({ tier }) => tier)
  const profile: CallProfile = {
    ...callProfile(manifest, onBridge(manifest, direct), { tiers, issuers: issuersOf(direct, written), agentUrl }),
    ...bridgeOf(manifest, authored, direct),
    ...(Object.keys(serving.links).length > 0 && { links: serving.links }),
  }
  return { compiled: { manifest, card, direct, documents, profile, extended, origin, report } }
}

const refuse = (errors: CardError[], at = (place: Pointer): Pointer => place) => ({ errors: bounded(errors, at) })
