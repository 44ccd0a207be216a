import { addressErrors, addressFinder } from './agent-address.ts'
import type { AgentCard } from './agent-card.ts'
import { bounded, boundedPlaces } from './bounded.ts'
import { checkBounds } from './bounds.ts'
import { type CallProfile, callProfile, issuersOf } from './call-profile.ts'
import { completeCard } from './complete-card.ts'
import { type ExtendedCard, extendedCards } from './extended-cards.ts'
import { gatewayCardLink, gatewayErrors, gatewayInterfaces } from './gateway.ts'
import { hostOrigin } from './hosting.ts'
import { identifyOther } from './identify.ts'
import type { Json, JsonObject } from './json.ts'
import { lint } from './lint/index.ts'
import { type Manifest, readManifest } from './manifest.ts'
import type { Pointer } from './pointer.ts'
import { Reading } from './reading.ts'
import type { CardError, Report } from './report.ts'
import { type RepresentationName, represent } from './representations.ts'

/** A manifest made ready to be served. */
export type Compiled = {
  manifest: Manifest
  card: AgentCard
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
}

type Compilation = { compiled: Compiled } | { errors: CardError[] }

/**
 * Reads a manifest or a bare card, fills its defaults, checks and lints it, and writes every representation. Pure and
 * deterministic. A refusal lists every error found, each with a pointer into the document.
 */
export const compile = (document: Json, registration: Registration): Compilation => {
  const bounds = checkBounds(document)
  if (bounds.length > 0) return refuse(bounds)
  const hosted = readManifest(document, registration.id)
  if ('errors' in hosted) return refuse(hosted.errors)
  const { manifest, cardAt, authoredAt, unexposed } = hosted
  const refusal = (errors: CardError[]) => refuse(errors, place => cardAt + authoredAt(place))
  const other = identifyOther(manifest.card)
  if (other.length > 0) return refusal(other)

  const reading = new Reading()
  if (unexposed) reading.fill('/exposed', 'set to false: only what says true is public')
  const read = completeCard(manifest, reading)
  if ('errors' in read) return refusal(read.errors)
  const { card: direct, authored, dialect } = read
  const unworkable = [
    ...(manifest.route === 'gateway' ? gatewayErrors(direct.supportedInterfaces) : []),
    ...jwtErrors(manifest, direct),
  ]
  if (unworkable.length > 0) return refuse(unworkable)
  const origin = hostOrigin(manifest, registration)
  const agentUrl = `${origin}/agents/${registration.id}`
  const isGateway = manifest.route === 'gateway'
  const serve = (card: AgentCard) => (isGateway ? throughGateway(card, agentUrl) : card)
  const addressesIn = isGateway ? addressFinder(manifest, direct, origin) : () => []
  const card = serve(direct)
  const { documents, dropped } = represent(card, { dialect, document: authored, signed: manifest.card }, manifest.route)
  const showing = addressErrors(addressesIn, card, documents[dialect], reading)
  if (showing.length > 0) return refusal(showing)
  const issues = lint({ card, authored, dialect, manifest, at: place => reading.authored(place) })
  const { filled, converted } = reading
  const further = extendedCards(manifest, read, { filled, converted, issues }, serve, addressesIn)
  if ('errors' in further) return refuse(further.errors)
  const { extended, findings } = further
  const report: Report = {
    dialect,
    filled: bounded([...filled, ...findings.filled], authoredAt),
    converted: bounded([...converted, ...findings.converted], authoredAt),
    dropped: droppedAsAuthored(dropped, manifest.route, reading, authoredAt),
    issues: bounded([...issues, ...findings.issues], authoredAt),
  }
  const profile = callProfile(
    manifest,
    direct,
    extended.map(({ tier }) => tier),
    agentUrl,
  )
  return { compiled: { manifest, card, documents, profile, extended, origin, report } }
}

const refuse = (errors: CardError[], at = (place: Pointer): Pointer => place) => ({ errors: bounded(errors, at) })

const jwtErrors = ({ jwt }: Manifest, card: AgentCard): CardError[] =>
  jwt && issuersOf(card).length === 0
    ? [
        {
          pointer: '/jwt',
          message: "is about tokens of OpenID Connect issuers, but the card's securitySchemes name none",
        },
      ]
    : []

const throughGateway = (card: AgentCard, agentUrl: string): AgentCard => ({
  ...card,
  ...gatewayCardLink(card as JsonObject, agentUrl),
  supportedInterfaces: gatewayInterfaces(card.supportedInterfaces, agentUrl),
})

/**
 * Only what the author wrote can be dropped: a default that a dialect has no word for is no loss, nor is an interface of
 * this host.
 */
const droppedAsAuthored = (
  dropped: Record<string, Pointer[]>,
  route: Manifest['route'],
  reading: Reading,
  authoredAt: (place: Pointer) => Pointer,
): Record<string, Pointer[]> => {
  const ours = (place: Pointer) => route === 'gateway' && place.startsWith('/supportedInterfaces/')
  return Object.fromEntries(
    Object.entries(dropped).flatMap(([name, places]) => {
      const lost = places.filter(place => !ours(place) && !reading.isFilled(place))
      return lost.length > 0 ? [[name, boundedPlaces(lost.map(place => authoredAt(reading.authored(place))))]] : []
    }),
  )
}
