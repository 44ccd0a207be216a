import { isObject, type JsonObject, without } from '../../src/card/json.ts'
import { Manifest } from '../../src/card/manifest.ts'
import type { Pointer } from '../../src/card/pointer.ts'
import { fromFrontMatter } from '../../src/card/shaman-front-matter.ts'

/** A document as a manifest, and the pointers under which the parts of its card stand in the document. */
export type Authored = { manifest: JsonObject; cardAt: Pointer[] }

/** What of a Markdown file is the agent's own business: it never leaves the machine, whatever else the file says. */
const privateFields = ['model', 'temperature', 'tools', 'prompt', 'maxTokens']

/** Where Shaman's front matter keeps parts of the card. */
const shamanPlaces = ['', '/agentcard', '/agentcard/customFields']

/** Brings a manifest, a bare card or Shaman's front matter into the form `{ card, … }`. */
export const authoredManifest = (document: JsonObject, markdown: boolean): Authored => {
  if (!isManifest(document)) return { manifest: fromCard(document, markdown), cardAt: shamanPlaces }
  const { card, exposed, ...hosting } = markdown ? without(document, ...privateFields) : document
  const inner = isObject(card) ? fromCard(card, markdown) : isFetched(document) ? { card: {} } : {}
  return {
    manifest: {
      ...inner,
      ...(markdown ? visibilityOf(exposed) : exposed !== undefined && { exposed }),
      ...hosting,
    },
    cardAt: shamanPlaces.map(place => `/card${place}`),
  }
}

const isManifest = (document: JsonObject): boolean =>
  isObject(document.card) || (!('name' in document) && Object.keys(Manifest.entries).some(field => field in document))

/** Where the card itself is fetched from elsewhere, there may be nothing to say of it here. */
const isFetched = ({ upstream }: JsonObject): boolean =>
  isObject(upstream) && (upstream.card !== undefined || upstream.mcp !== undefined)

const fromCard = (card: JsonObject, markdown: boolean): JsonObject => {
  // Markdown with a model's settings is Shaman's even where it has none of the other marks.
  const isShaman = markdown && privateFields.some(field => field in card)
  const manifest = fromFrontMatter(isShaman ? { exposed: true, ...card } : card) ?? { card }
  return { ...manifest, ...visibilityOf(card.exposed) }
}

const visibilityOf = (exposed: unknown): JsonObject =>
  typeof exposed === 'boolean' ? { visibility: exposed ? 'public' : 'internal' } : {}
