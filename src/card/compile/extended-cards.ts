import { formatPointer, type JsonObject, jsonEquals, omit, type Pointer } from '../../json/json.ts'
import { lint } from '../lint/index.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { listTiers } from '../manifest/tiers.ts'
import type { AgentCard } from '../model/agent-card.ts'
import type { RepresentationName } from '../model/constants.ts'
import type { CardError, Note, Report } from '../model/report.ts'
import { dedupeByPointer } from '../model/schema.ts'
import { Provenance } from '../read/provenance.ts'
import { checkDocument } from '../read/validate.ts'
import type { Serving } from '../rewrite/serving.ts'
import { type CompleteCard, readCanonicalCard } from './canonical-card.ts'
import { applyOverlay, noSuchTool, type Overlaid, overlayErrors, type SourcedCard } from './overlay.ts'

/** The card of one tier in its author's words: the public one, `extended` over it, and the tier's own overlay over both. */
type Layer = { tier: string } & Overlaid

/** All of them are rendered in every dialect, and pass through memory at once. */
const mostCharacters = 1024 * 1024

/** The cards of all tiers of a manifest, the lowest first; or why they cannot be made. */
const buildTierDocuments = (manifest: Manifest, base: CompleteCard): Layer[] | { errors: CardError[] } => {
  const toolsOnly = manifest.upstream.mcp !== undefined
  const tiers = listTiers(manifest).map(([tier, over]) => [tier, over && { ...over, toolsOnly }] as const)
  const errors = tiers.flatMap(([, over]) => (over ? overlayErrors(over) : []))
  if (errors.length > 0) return { errors }
  const addsSkills =
    !toolsOnly && tiers.some(([, over]) => Array.isArray(over?.patch.skills) && over.patch.skills.length > 0)
  const document = addsSkills ? withSkills(manifest.card, base) : manifest.card
  const bottom: Overlaid = { document, from: () => undefined }
  const [[, extended] = []] = tiers
  const below = extended ? applyOverlay(bottom, extended) : bottom
  const layers = tiers.map(([tier, over]) => ({
    tier,
    ...(over && over !== extended ? applyOverlay(below, over) : below),
  }))
  const characters = layers.reduce((sum, { document }) => sum + JSON.stringify(document).length, 0)
  return characters > mostCharacters ? { errors: [tooLarge(manifest, characters)] } : layers
}

/** Skills are added to the one that a card without any is given, rather than put in its place. */
const withSkills = (card: JsonObject, { card: { skills } }: CompleteCard): JsonObject =>
  Array.isArray(card.skills) && card.skills.length > 0
    ? card
    : { ...omit(card, 'signatures'), skills: skills as JsonObject[] }

const tooLarge = ({ tiers }: Manifest, characters: number): CardError => ({
  pointer: tiers ? '/tiers' : '/extended',
  message: `with the card below ${tiers ? 'them' : 'it'}, holds ${characters} characters in all; at most ${mostCharacters} are allowed`,
})

/** What callers with a token read in the place of the public card, by the tier that the token names. */
export type ExtendedCard = { tier: string; documents: Record<RepresentationName, JsonObject> }

/** What is told of a card, but for what its dialects have no place for. */
type Findings = Pick<Report, 'filled' | 'converted' | 'issues'>

/**
 * Makes the extended cards of a manifest, the lowest tier first, as the public one is made. Of their overlays is told what
 * `known` does not tell of the public card, with pointers into the manifest.
 */
export const extendedCards = (
  { manifest, signed, refusedAt }: SourcedCard,
  base: CompleteCard,
  known: Findings,
  serving: Serving,
): { extended: ExtendedCard[]; findings: Findings } | { errors: CardError[] } => {
  const layers = buildTierDocuments(manifest, base)
  if ('errors' in layers) return layers
  const extended: ExtendedCard[] = []
  const errors: CardError[] = []
  const findings: Findings = { filled: [], converted: [], issues: [] }
  const told = new Set([...known.filled, ...known.converted, ...known.issues].map(keyOf))
  for (const layer of layers) {
    const read = readLayer(layer, manifest, base)
    if ('errors' in read) {
      errors.push(...atOverlay(read.errors, layer, refusedAt))
      continue
    }
    // What a layer says nothing more than is signed by whoever signed that.
    const over = jsonEquals(layer.document, manifest.card) ? signed : layer.document
    const served = serving.representations({ ...read, card: serving.card(read.card), signed: over })
    errors.push(...atOverlay(served.errors, layer, refusedAt))
    extended.push({ tier: layer.tier, documents: served.documents })
    findings.filled.push(...newFindings(read.filled, layer, told))
    findings.converted.push(...newFindings(read.converted, layer, told), ...leftOut(layer))
    findings.issues.push(...newFindings(read.issues, layer, told))
  }
  return errors.length > 0 ? { errors: dedupeByPointer(errors) } : { extended, findings }
}

/** Reads what an extended card is made of, in the dialect of the public one. */
const readLayer = (
  { document }: Layer,
  manifest: Manifest,
  base: CompleteCard,
): (CompleteCard & Findings & { provenance: Provenance }) | { errors: CardError[] } => {
  const bounds = checkDocument(document)
  if (bounds.length > 0) return { errors: bounds }
  const provenance = new Provenance()
  const read = readCanonicalCard({ ...manifest, card: document }, provenance, base.dialect)
  if ('errors' in read) return read
  const enforced = (manifest.gate.capabilities ?? 'enforce') === 'enforce'
  const errors = enforced ? promiseErrors(read.card, base.card) : []
  if (errors.length > 0) return { errors }
  const issues = lint({ ...read, manifest, at: place => provenance.sourceOf(place) })
  return { ...read, filled: provenance.filled, converted: provenance.converted, issues, provenance }
}

/** Errors where the manifest's overlays say what is wrong. */
const atOverlay = (errors: readonly CardError[], { from }: Layer, below: (place: Pointer) => Pointer): CardError[] =>
  errors.map(error => ({ ...error, pointer: from(error.pointer) ?? below(error.pointer) }))

const leftOut = ({ leftOut = [] }: Layer): Note[] => leftOut.map(pointer => ({ pointer, message: noSuchTool }))

/** Calls are checked against the public card: what an extended one promised beyond it would be refused. */
const promiseErrors = (extended: AgentCard, { capabilities }: AgentCard): CardError[] =>
  (['streaming', 'pushNotifications'] as const)
    .filter(name => extended.capabilities[name] !== capabilities[name])
    .map(name => ({
      pointer: formatPointer('capabilities', name),
      message: `must be ${capabilities[name]}, as in the public card: calls are checked against that`,
    }))

const keyOf = ({ pointer, message }: Note): string => `${pointer} ${message}`

/** What overlays say and nobody has told yet, placed where they say it. */
const newFindings = <Found extends Note>(found: readonly Found[], { from }: Layer, told: Set<string>): Found[] =>
  found.flatMap(note => {
    const pointer = from(note.pointer)
    if (pointer === undefined || told.has(keyOf(note)) || told.has(keyOf({ ...note, pointer }))) return []
    told.add(keyOf({ ...note, pointer }))
    return [{ ...note, pointer }]
  })
