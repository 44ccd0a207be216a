import { isObject, type JsonObject } from '../../src/card/json.ts'
import type { Pointer } from '../../src/card/pointer.ts'
import { fromFrontMatter } from '../../src/card/shaman-front-matter.ts'

/** A document as a manifest, and the pointers under which the parts of its card stand in the document. */
export type Authored = { manifest: JsonObject; cardAt: Pointer[] }

/** Where Shaman's front matter keeps parts of the card. */
const shamanPlaces = ['', '/agentcard', '/agentcard/customFields']

/**
 * Brings a manifest, a bare card or Shaman's front matter into the form `{ card, … }`. A Markdown file is always taken for
 * Shaman's, so that the settings of the model never leave the machine, whatever else it says.
 */
export const authoredManifest = (document: JsonObject, markdown: boolean): Authored => {
  const outer = (markdown ? fromShaman(document) : fromFrontMatter(document)) ?? { card: document }
  const fields = outer.card as JsonObject
  if (!isObject(document.card) && !isFetched(document)) return { manifest: outer, cardAt: shamanPlaces }
  const card = isObject(document.card) ? document.card : {}
  const inner = (markdown ? fromShaman(card) : fromFrontMatter(card)) ?? { card }
  const rest = markdown ? { ...outer, ...fields } : document
  return {
    manifest: { ...inner, ...rest, card: inner.card ?? card },
    cardAt: shamanPlaces.map(place => `/card${place}`),
  }
}

/** Where the card itself is fetched from elsewhere, there may be nothing to say of it here. */
const isFetched = ({ upstream }: JsonObject): boolean =>
  isObject(upstream) && (upstream.card !== undefined || upstream.mcp !== undefined)

const fromShaman = (frontMatter: JsonObject): JsonObject => ({
  ...fromFrontMatter({ ...frontMatter, exposed: frontMatter.exposed ?? true }),
  ...(frontMatter.exposed === true && { visibility: 'public' }),
})
