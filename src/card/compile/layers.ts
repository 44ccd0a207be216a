import { type JsonObject, omit } from '../../json/json.ts'
import type { Manifest } from '../manifest/manifest.ts'
import { tiersOf } from '../manifest/tiers.ts'
import type { CardError } from '../model/report.ts'
import type { CompleteCard } from './complete-card.ts'
import { applyOverlay, type Overlaid, overlayErrors } from './overlay.ts'

/** The card of one tier in its author's words: the public one, `extended` over it, and the tier's own overlay over both. */
export type Layer = { tier: string } & Overlaid

/** All of them are rendered in every dialect, and pass through memory at once. */
const mostCharacters = 1024 * 1024

/** The cards of all tiers of a manifest, the lowest first; or why they cannot be made. */
export const buildTierDocuments = (manifest: Manifest, base: CompleteCard): Layer[] | { errors: CardError[] } => {
  const overTools = manifest.upstream.mcp !== undefined
  const tiers = tiersOf(manifest).map(([tier, over]) => [tier, over && { ...over, overTools }] as const)
  const errors = tiers.flatMap(([, over]) => (over ? overlayErrors(over) : []))
  if (errors.length > 0) return { errors }
  const addsSkills =
    !overTools && tiers.some(([, over]) => Array.isArray(over?.patch.skills) && over.patch.skills.length > 0)
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
