import { formatPointer, type JsonObject, jsonEquals, omit, type Pointer } from '../../json/index.ts'
import { MAX_EXTENDED_CARDS_LENGTH } from '../../limits.ts'
import { lint } from '../lint/index.ts'
import { listTiers, type Manifest } from '../manifest/index.ts'
import {
  type AgentCard,
  type CardError,
  dedupeByPointer,
  type Note,
  type Report,
  type RepresentationName,
} from '../model/index.ts'
import { checkDocument, Provenance } from '../read/index.ts'
import type { RouteWriter } from '../rewrite/index.ts'
import { type CanonicalCard, readCanonicalCard } from './canonical-card.ts'
import { applyOverlay, type MergedCard, noSuchTool, type OverlayResult, overlayErrors } from './overlay.ts'

/** The card that callers with access to a tier read in place of the public one. */
export type ExtendedCard = {
  tier: string
  /** The canonical card as it is served. */
  card: AgentCard
  documents: Record<RepresentationName, JsonObject>
}

/** The part of a report that overlays can add to. */
type Findings = Pick<Report, 'filled' | 'converted' | 'issues'>

/**
 * Compiles the extended card of each tier, the lowest first, as the public card is compiled. Returns the findings that
 * `publicFindings` does not have, with pointers into the manifest's overlays.
 */
export const compileExtendedCards = (
  { manifest, signedDocument, errorPointer }: MergedCard,
  publicCard: CanonicalCard,
  publicFindings: Findings,
  serving: RouteWriter,
): { extended: ExtendedCard[]; findings: Findings } | { errors: CardError[] } => {
  const tiers = buildTierDocuments(manifest, publicCard)
  if ('errors' in tiers) return tiers
  const extended: ExtendedCard[] = []
  const errors: CardError[] = []
  const findings: Findings = { filled: [], converted: [], issues: [] }
  const known = new Set(Object.values(publicFindings).flat().map(keyOf))
  for (const tier of tiers) {
    const read = readTierCard(tier, manifest, publicCard, errorPointer)
    if ('errors' in read) {
      errors.push(...toOverlayErrors(read.errors, tier, errorPointer))
      continue
    }
    // An overlay that changes nothing keeps the signatures.
    const signed = jsonEquals(tier.document, manifest.card) ? signedDocument : tier.document
    const card = serving.toServedCard(read.card)
    const served = serving.writeRepresentations({ ...read, card, signed })
    errors.push(...toOverlayErrors(served.errors, tier, errorPointer))
    extended.push({ tier: tier.tier, card, documents: served.documents })
    findings.filled.push(...newFindings(read.filled, tier, known))
    findings.converted.push(...newFindings(read.converted, tier, known), ...ignoredNotes(tier))
    findings.issues.push(...newFindings(read.issues, tier, known))
  }
  return errors.length > 0 ? { errors: dedupeByPointer(errors) } : { extended, findings }
}

/** The authored card of one tier: the public card with `extended`, and then the tier's own overlay, merged over it. */
type TierDocument = { tier: string } & OverlayResult

/** Applies the overlays of a manifest, the lowest tier first. */
const buildTierDocuments = (
  manifest: Manifest,
  publicCard: CanonicalCard,
): TierDocument[] | { errors: CardError[] } => {
  const toolsOnly = manifest.upstream.mcp !== undefined
  const overlays = listTiers(manifest).map(([tier, overlay]) => [tier, overlay && { ...overlay, toolsOnly }] as const)
  const errors = overlays.flatMap(([, overlay]) => (overlay ? overlayErrors(overlay) : []))
  if (errors.length > 0) return { errors }
  const addsSkills =
    !toolsOnly &&
    overlays.some(([, overlay]) => Array.isArray(overlay?.patch.skills) && overlay.patch.skills.length > 0)
  const document = addsSkills ? withDefaultSkill(manifest.card, publicCard) : manifest.card
  const card: OverlayResult = { document, originOf: () => undefined }
  const [[, extended] = []] = overlays
  const base = extended ? applyOverlay(card, extended) : card
  const tiers = overlays.map(([tier, overlay]) => ({
    tier,
    ...(overlay && overlay !== extended ? applyOverlay(base, overlay) : base),
  }))
  const characters = tiers.reduce((sum, { document }) => sum + JSON.stringify(document).length, 0)
  return characters > MAX_EXTENDED_CARDS_LENGTH ? { errors: [tooLarge(manifest, characters)] } : tiers
}

/** Overlay skills extend the default skill of a card without skills; they do not replace it. */
const withDefaultSkill = (document: JsonObject, { card: { skills } }: CanonicalCard): JsonObject =>
  Array.isArray(document.skills) && document.skills.length > 0
    ? document
    : { ...omit(document, 'signatures'), skills: skills as JsonObject[] }

const tooLarge = ({ tiers }: Manifest, characters: number): CardError => ({
  pointer: tiers ? '/tiers' : '/extended',
  message: `makes extended cards of ${characters} characters in all; at most ${MAX_EXTENDED_CARDS_LENGTH} are allowed`,
})

/** Reads and lints the card of a tier, in the dialect of the public card. */
const readTierCard = (
  { document, originOf }: TierDocument,
  manifest: Manifest,
  publicCard: CanonicalCard,
  errorPointer: (pointer: Pointer) => Pointer,
): (CanonicalCard & Findings & { provenance: Provenance }) | { errors: CardError[] } => {
  const documentErrors = checkDocument(document)
  if (documentErrors.length > 0) return { errors: documentErrors }
  const provenance = new Provenance()
  const read = readCanonicalCard({ ...manifest, card: document }, provenance, publicCard)
  if ('errors' in read) return read
  const isEnforced = (manifest.gate.capabilities ?? 'enforce') === 'enforce'
  const errors = isEnforced ? capabilityMismatches(read.card, publicCard.card) : []
  if (errors.length > 0) return { errors }
  const issues = lint({
    ...read,
    manifest,
    sourceOf: pointer => provenance.sourceOf(pointer),
    errorPointer: pointer => originOf(pointer) ?? errorPointer(pointer),
  })
  return { ...read, filled: provenance.filled, converted: provenance.converted, issues, provenance }
}

/** Rejects capabilities that differ from the public card's, which the gate enforces. */
const capabilityMismatches = (extended: AgentCard, { capabilities }: AgentCard): CardError[] =>
  (['streaming', 'pushNotifications'] as const)
    .filter(name => extended.capabilities[name] !== capabilities[name])
    .map(name => ({
      pointer: formatPointer('capabilities', name),
      message: `must be ${capabilities[name]}, as in the public card: the gate checks calls against that card`,
    }))

/** Maps errors to the overlays that caused them; those of the card below are mapped by `errorPointer`. */
const toOverlayErrors = (
  errors: readonly CardError[],
  { originOf }: TierDocument,
  errorPointer: (pointer: Pointer) => Pointer,
): CardError[] => errors.map(error => ({ ...error, pointer: originOf(error.pointer) ?? errorPointer(error.pointer) }))

/** Returns the findings caused by a tier's overlays that are not known yet, with pointers into the overlays. */
const newFindings = <Finding extends Note>(
  findings: readonly Finding[],
  { originOf }: TierDocument,
  known: Set<string>,
): Finding[] =>
  findings.flatMap(finding => {
    const pointer = originOf(finding.pointer)
    if (pointer === undefined || known.has(keyOf(finding)) || known.has(keyOf({ ...finding, pointer }))) return []
    known.add(keyOf({ ...finding, pointer }))
    return [{ ...finding, pointer }]
  })

const keyOf = ({ pointer, message }: Note): string => `${pointer} ${message}`

const ignoredNotes = ({ ignored = [] }: TierDocument): Note[] =>
  ignored.map(pointer => ({ pointer, message: noSuchTool }))
