import { formatPointer, hasItems, type JsonObject, jsonEquals, omit } from '../../json/index.ts'
import { MAX_EXTENDED_CARDS_LENGTH } from '../../limits.ts'
import { findWidenings } from '../diff/index.ts'
import { findOverlaySecrets, lint } from '../lint/index.ts'
import { listTiers, type Manifest } from '../manifest/index.ts'
import type { AgentCard, Finding, Report, RepresentationName } from '../model/index.ts'
import { dedupeByPointer, relocate } from '../model/index.ts'
import { checkDocument, detectForeignDocument, Provenance } from '../read/index.ts'
import { createRouteWriter, type RouteWriter } from '../rewrite/index.ts'
import { type CanonicalCard, readCanonicalCard, setCapabilities } from './canonical-card.ts'
import { applyOverlay, type MergedCard, mergeFetchedCard, type OverlayResult, overlayErrors } from './overlay.ts'
import { type ParsedManifest, reject } from './parse.ts'

/** The card that callers with access to a tier read in place of the public one, in its canonical form as served. */
export type ExtendedCard = { tier: string; card: AgentCard; documents: Record<RepresentationName, JsonObject> }

/** The part of a report that overlays can add to. */
type Findings = Pick<Report, 'filled' | 'converted' | 'issues'>

/** Compiles the card of each tier, the lowest first. Returns the findings that are new, with pointers into overlays. */
export const compileExtendedCards = (
  merged: MergedCard,
  publicCard: CanonicalCard,
  publicFindings: Findings,
  writer: RouteWriter,
): { extended: ExtendedCard[]; findings: Findings } | { errors: Finding[] } => {
  const tiers = buildTierDocuments(merged.manifest, publicCard)
  if ('errors' in tiers) return tiers
  const extended: ExtendedCard[] = []
  const errors: Finding[] = []
  const findings: Findings = { filled: [], converted: [], issues: [] }
  const known = new Set(Object.values(publicFindings).flat().map(keyOf))
  for (const { tier, overlay, document, originOf, ignored = [] } of tiers) {
    const compiled = compileTier(document, merged, publicCard, writer)
    if ('errors' in compiled) {
      // An error is at the place of the overlay that caused it, or in the card below.
      errors.push(...relocate(compiled.errors, pointer => originOf(pointer) ?? merged.errorPointer(pointer)))
      continue
    }
    const { card, documents, found } = compiled
    extended.push({ tier, card, documents })
    // The findings that the tier's overlays cause, with pointers into the overlays, which no change is for.
    const toNew = <Found extends Finding>({ change: _, ...finding }: Found) => {
      const pointer = originOf(finding.pointer)
      if (pointer === undefined || known.has(keyOf(finding)) || known.has(keyOf({ ...finding, pointer }))) return []
      known.add(keyOf({ ...finding, pointer }))
      return [{ ...finding, pointer }]
    }
    findings.filled.push(...found.filled.flatMap(toNew))
    findings.converted.push(...found.converted.flatMap(toNew), ...ignored)
    if (overlay) findings.issues.push(...findOverlaySecrets(overlay.pointer, merged))
    findings.issues.push(...found.issues.flatMap(toNew))
  }
  return errors.length > 0 ? { errors: dedupeByPointer(errors) } : { extended, findings }
}

/** Returns the authored card of each tier, the lowest first: the public card, `extended` and the tier's own overlay. */
const buildTierDocuments = (manifest: Manifest, publicCard: CanonicalCard) => {
  const toolsOnly = manifest.upstream.mcp !== undefined
  const overlays = listTiers(manifest).map(([tier, overlay]) => [tier, overlay && { ...overlay, toolsOnly }] as const)
  const errors = overlays.flatMap(([, overlay]) => (overlay ? overlayErrors(overlay) : []))
  if (errors.length > 0) return { errors }
  const addsSkills = !toolsOnly && overlays.some(([, overlay]) => hasItems(overlay?.patch.skills))
  // Overlay skills extend the default skill of a card without skills; they do not replace it.
  const document =
    addsSkills && !hasItems(manifest.card.skills)
      ? { ...omit(manifest.card, 'signatures'), skills: publicCard.card.skills as JsonObject[] }
      : manifest.card
  const card: OverlayResult = { document, originOf: () => undefined }
  const [[, extended] = []] = overlays
  const base = extended ? applyOverlay(card, extended) : card
  const tiers = overlays.map(([tier, overlay]) => ({
    ...{ tier, overlay },
    ...(overlay && overlay !== extended ? applyOverlay(base, overlay) : base),
  }))
  const characters = tiers.reduce((sum, { document }) => sum + JSON.stringify(document).length, 0)
  if (characters <= MAX_EXTENDED_CARDS_LENGTH) return tiers
  const message = `makes extended cards of ${characters} characters; at most ${MAX_EXTENDED_CARDS_LENGTH} are allowed`
  return { errors: [{ pointer: manifest.tiers ? '/tiers' : '/extended', message }] }
}

const compileTier = (
  document: JsonObject,
  { manifest, signedDocument }: MergedCard,
  publicCard: CanonicalCard,
  writer: RouteWriter,
): (Omit<ExtendedCard, 'tier'> & { found: Findings }) | { errors: Finding[] } => {
  const documentErrors = checkDocument(document)
  if (documentErrors.length > 0) return { errors: documentErrors }
  const provenance = new Provenance()
  const read = readCanonicalCard({ ...manifest, card: document }, provenance, publicCard)
  if ('errors' in read) return read
  const mismatches = isEnforced(manifest) ? capabilityMismatches(read.card, publicCard.card) : []
  if (mismatches.length > 0) return { errors: mismatches }
  // An overlay that changes nothing keeps the signatures.
  const signed = jsonEquals(document, manifest.card) ? signedDocument : document
  const card = writer.toServedCard(read.card)
  const { documents, errors } = writer.writeRepresentations({ ...read, card, provenance, signed })
  if (errors.length > 0) return { errors }
  const issues = lint({ ...read, manifest, sourceOf: provenance.sourceOf, disallowed: [] })
  return { card, documents, found: { filled: provenance.filled, converted: provenance.converted, issues } }
}

/** Returns whether the gate refuses calls of operations that the public card does not declare. */
const isEnforced = ({ gate }: Manifest): boolean => (gate.capabilities ?? 'enforce') === 'enforce'

/** Rejects capabilities that differ from the public card's, which the gate enforces. */
const capabilityMismatches = (extended: AgentCard, { capabilities }: AgentCard): Finding[] =>
  (['streaming', 'pushNotifications'] as const)
    .filter(name => extended.capabilities[name] !== capabilities[name])
    .map(name => ({
      pointer: formatPointer('capabilities', name),
      message: `must be ${capabilities[name]}, as in the public card: the gate checks calls against that card`,
    }))

const keyOf = ({ pointer, message }: Finding): string => `${pointer} ${message}`

/**
 * Compiles an extended card that was fetched from its agent as the public card of its manifest is compiled. Behind
 * the gateway it has the interfaces of the public card, and the capabilities that the gate enforces. With `pin`, it
 * must not widen access: no owner reviews it. What looks like a secret is served, as the agent sends it to this caller
 * alone, but no error repeats it.
 */
export const compileAgentExtendedCard = (parsed: ParsedManifest, publicCard: JsonObject, extendedCard: JsonObject) => {
  const invalid = (errors: Finding[]) => reject(errors, [parsed.document, publicCard, extendedCard])
  const mergedPublic = mergeFetchedCard(parsed, publicCard)
  if ('errors' in mergedPublic) return invalid(mergedPublic.errors)
  const merged = mergeFetchedCard(parsed, extendedCard)
  if ('errors' in merged) return invalid(merged.errors)
  const readPublic = readCanonicalCard(mergedPublic.manifest, new Provenance())
  if ('errors' in readPublic) return invalid(readPublic.errors)

  const { manifest, schema, signedDocument } = merged
  const isGateway = manifest.route === 'gateway'
  const { supportedInterfaces } = readPublic.card
  const errors = detectForeignDocument(manifest.card, schema)
  if (errors.length > 0) return invalid(errors)
  const provenance = new Provenance()
  const { streaming = false, pushNotifications = false } = readPublic.card.capabilities
  const checked = { extendedAgentCard: true, ...(isEnforced(manifest) && { streaming, pushNotifications }) }
  const card = isGateway ? setCapabilities(manifest.card, checked) : manifest.card
  const read = readCanonicalCard({ ...manifest, card }, provenance)
  if ('errors' in read) return invalid(read.errors)
  const direct = isGateway ? { ...read.card, supportedInterfaces } : read.card
  const widenings = parsed.source?.pin === true ? findWidenings(readPublic.card, direct) : []
  if (widenings.length > 0) return invalid(widenings)
  // The hosts of either card are hidden in the served one.
  const known = { ...read.card, supportedInterfaces: [...supportedInterfaces, ...read.card.supportedInterfaces] }
  const writer = createRouteWriter(manifest, known, [publicCard, extendedCard], `${parsed.origin}/agents/${parsed.id}`)
  const served = { ...read, card: writer.toServedCard(direct), provenance, signed: signedDocument }
  const { documents, errors: leaks } = writer.writeRepresentations(served)
  return leaks.length > 0 ? invalid(leaks) : { manifest: parsed.manifest, origin: parsed.origin, documents }
}
