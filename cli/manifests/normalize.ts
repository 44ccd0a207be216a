import { basename, extname } from 'node:path'
import { mapCardTo, type PointerMapping } from '../../src/card/file/index.ts'
import { hasRemoteCard, Manifest, privateFields, readFrontMatter, readManifest } from '../../src/card/manifest/index.ts'
import { agentIdPattern, type CardError, toSlug } from '../../src/card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, omit, type Pointer } from '../../src/json/index.ts'

/** What an owner wrote about one agent, as a manifest: a file, or an entry of one. */
export type ManifestSource = {
  /** The file, and which entry of it. */
  label: string
  /** As it is registered, but without what it inherits; it may have its `id`. */
  manifest: JsonObject
  mapping: PointerMapping
  /** Whether it is internal only because its front matter has no `exposed`. */
  unexposed: boolean
  /** Errors that cannot be seen in the manifest. Their pointers are into the manifest. */
  errors: CardError[]
}

/** A manifest, and the pointers in the document under which parts of its card may be. */
type NormalizedManifest = { manifest: JsonObject; cardPointers: Pointer[]; unexposed: boolean }

/** Where Shaman's front matter has parts of the card. */
const SHAMAN_CARD_POINTERS = ['', '/agentcard', '/agentcard/customFields']

/** Returns a document – a manifest, a bare card or Shaman's front matter – as a manifest source. */
export const normalizeDocument = (label: string, document: JsonObject, markdown: boolean): ManifestSource => {
  const { manifest, cardPointers, unexposed } = normalizeManifest(document, markdown)
  const errors = findExposureErrors(document, markdown)
  return { label, manifest, mapping: mapCardTo(cardPointers), unexposed, errors }
}

/** Brings a manifest, a bare card or Shaman's front matter into the form `{ card, … }`. */
export const normalizeManifest = (written: JsonObject, markdown: boolean): NormalizedManifest => {
  const document = withoutSchema(written)
  if (!isManifest(document)) return { ...wrapCard(document, markdown), cardPointers: SHAMAN_CARD_POINTERS }
  const { card, exposed, ...hosting } = markdown ? omit(document, ...privateFields) : document
  const inner = isJsonObject(card) ? wrapCard(withoutSchema(card), markdown, hasRemoteCard(document)) : undefined
  const visibility = markdown ? toVisibility(exposed) : exposed !== undefined && { exposed }
  const manifest = { ...(inner?.manifest ?? (hasRemoteCard(document) && { card: {} })), ...visibility, ...hosting }
  return {
    manifest,
    cardPointers: SHAMAN_CARD_POINTERS.map(pointer => `/card${pointer}`),
    unexposed: inner?.unexposed === true && exposed === undefined && hosting.visibility === undefined,
  }
}

/**
 * Returns what is wrong with the visibility of an agent. Normalizing removes these fields, so the host would not see the
 * mistake. Pointers are into the document.
 */
export const findExposureErrors = (document: JsonObject, markdown: boolean): CardError[] => {
  if (!isManifest(document)) return manifestErrors(document)
  const { card, exposed } = document
  const isInvalid = markdown && exposed !== undefined && typeof exposed !== 'boolean'
  return [
    ...(isInvalid ? [{ pointer: '/exposed', message: 'must be true or false' }] : []),
    ...(isJsonObject(card) ? manifestErrors({ card }) : []),
  ]
}

/** Returns the id of a file's agent: the one in its manifest, else the file's name. */
export const agentIdFor = (file: string, declared: Json | undefined): { id: string } | { message: string } => {
  if (declared !== undefined) return typeof declared === 'string' ? { id: declared } : { message: 'must be a string' }
  const extension = extname(file)
  const name = basename(file, extension)
  if (agentIdPattern.test(name)) return { id: name }
  const suggestion = toSlug(name, 'my-agent')
  return {
    message: `"${name}" is not a valid id (lower-case letters, digits and hyphens): name the file ${suggestion}${extension}, or write \`id: ${suggestion}\` in a manifest`,
  }
}

/** Removes the name of the schema, which is for the author's editor. */
const withoutSchema = (document: JsonObject): JsonObject =>
  '$schema' in document ? omit(document, '$schema') : document

const manifestErrors = (document: JsonObject): CardError[] => {
  const result = readManifest(document)
  return 'errors' in result ? result.errors : []
}

const isManifest = (document: JsonObject): boolean =>
  isJsonObject(document.card) ||
  (!('name' in document) && Object.keys(Manifest.entries).some(field => field in document))

const wrapCard = (
  card: JsonObject,
  markdown: boolean,
  isRemote = false,
): Pick<NormalizedManifest, 'manifest' | 'unexposed'> => {
  // Markdown with settings of a model is Shaman's, even without any other mark.
  const isShaman = markdown && privateFields.some(field => field in card)
  const { exposed } = card
  const manifest = readFrontMatter(isShaman ? { ...card, exposed: exposed ?? null } : card, isRemote)
  return {
    manifest: { ...(manifest ?? { card }), ...toVisibility(exposed) },
    unexposed: manifest !== undefined && exposed === undefined,
  }
}

const toVisibility = (exposed: unknown): JsonObject =>
  typeof exposed === 'boolean' ? { visibility: exposed ? 'public' : 'internal' } : {}
