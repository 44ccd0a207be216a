import { privateFields, readFrontMatter } from '../../src/card/manifest/front-matter.ts'
import { Manifest, readManifest } from '../../src/card/manifest/manifest.ts'
import type { CardError } from '../../src/card/model/report.ts'
import { isJsonObject, type JsonObject, omit, type Pointer } from '../../src/json/json.ts'

/**
 * A document as a manifest, and the pointers under which the parts of its card stand in the document. `unexposed`: it is
 * internal only because its front matter does not say that it is exposed.
 */
export type Authored = { manifest: JsonObject; cardAt: Pointer[]; unexposed: boolean }

/** Where Shaman's front matter keeps parts of the card. */
const shamanPlaces = ['', '/agentcard', '/agentcard/customFields']

/** Brings a manifest, a bare card or Shaman's front matter into the form `{ card, … }`. */
export const authoredManifest = (document: JsonObject, markdown: boolean): Authored => {
  if (!isManifest(document)) return { ...fromCard(document, markdown), cardAt: shamanPlaces }
  const { card, exposed, ...hosting } = markdown ? omit(document, ...privateFields) : document
  const inner = isJsonObject(card) ? fromCard(card, markdown) : undefined
  const said = markdown ? visibilityOf(exposed) : exposed !== undefined && { exposed }
  const manifest = { ...(inner?.manifest ?? (isFetched(document) && { card: {} })), ...said, ...hosting }
  return {
    manifest,
    cardAt: shamanPlaces.map(place => `/card${place}`),
    unexposed: inner?.unexposed === true && exposed === undefined && hosting.visibility === undefined,
  }
}

/**
 * What is wrong with who may see an agent, before its document is brought into the form that is sent: the host would not
 * see it there. Pointers are into the document.
 */
export const exposureErrors = (document: JsonObject, markdown: boolean): CardError[] => {
  if (!isManifest(document)) return errorsOf(document)
  const { card, exposed } = document
  const beside = markdown && exposed !== undefined && typeof exposed !== 'boolean'
  return [
    ...(beside ? [{ pointer: '/exposed', message: 'must be true or false' }] : []),
    ...(isJsonObject(card) ? errorsOf({ card }) : []),
  ]
}

const errorsOf = (document: JsonObject): CardError[] => {
  const read = readManifest(document)
  return 'errors' in read ? read.errors : []
}

const isManifest = (document: JsonObject): boolean =>
  isJsonObject(document.card) ||
  (!('name' in document) && Object.keys(Manifest.entries).some(field => field in document))

/** Where the card itself is fetched from elsewhere, there may be nothing to say of it here. */
const isFetched = ({ upstream }: JsonObject): boolean =>
  isJsonObject(upstream) && (upstream.card !== undefined || upstream.mcp !== undefined)

const fromCard = (card: JsonObject, markdown: boolean): Pick<Authored, 'manifest' | 'unexposed'> => {
  // Markdown with a model's settings is Shaman's even where it has none of the other marks.
  const isShaman = markdown && privateFields.some(field => field in card)
  const { exposed } = card
  const read = readFrontMatter(isShaman ? { ...card, exposed: exposed ?? null } : card)
  return {
    manifest: { ...(read ?? { card }), ...visibilityOf(exposed) },
    unexposed: read !== undefined && exposed === undefined,
  }
}

const visibilityOf = (exposed: unknown): JsonObject =>
  typeof exposed === 'boolean' ? { visibility: exposed ? 'public' : 'internal' } : {}
