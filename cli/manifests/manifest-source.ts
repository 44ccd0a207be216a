import { basename } from 'node:path'
import * as v from 'valibot'
import { mapCardTo, type ParsedFile, type PointerMapping, pointerInCard } from '../../src/card/file/index.ts'
import { hasRemoteCard, Manifest, privateFields, readFrontMatter, readManifest } from '../../src/card/manifest/index.ts'
import { type Finding, hostname as Hostname, toSlug } from '../../src/card/model/index.ts'
import { parseUrl, toHttpUrl } from '../../src/http/shared.ts'
import { formatPointer, isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../src/json/index.ts'

/** The manifest of one agent as an owner wrote it: a file, or an entry of one. */
export type ManifestSource = {
  /** The file, and which entry of it. */
  label: string
  /** As it is registered, but without what it inherits; it may have its `id`. */
  manifest: JsonObject
  mapping: PointerMapping
  /** Set if it is internal only because its front matter has no `exposed`. */
  unexposed: boolean
  /** Errors that cannot be seen in the manifest. Their pointers are into the manifest. */
  errors: Finding[]
}

/** Returns a document – a manifest, a bare card or Shaman's front matter – as a manifest source. */
export const normalizeDocument = (label: string, document: JsonObject, markdown: boolean): ManifestSource => {
  const root = isManifest(document) ? '/card' : ''
  const mapping = mapCardTo(['', '/agentcard', '/agentcard/customFields'].map(pointer => root + pointer))
  return { label, mapping, ...normalizeManifest(document, markdown), errors: findExposureErrors(document, markdown) }
}

/** Brings a manifest, a bare card or Shaman's front matter into the form `{ card, … }`. */
export const normalizeManifest = (written: JsonObject, markdown: boolean) => {
  const document = omit(written, '$schema')
  if (!isManifest(document)) return wrapCard(document, markdown)
  const { card, exposed, ...hosting } = markdown ? omit(document, ...privateFields) : document
  const isRemote = hasRemoteCard(document)
  const inner = isJsonObject(card) ? wrapCard(omit(card, '$schema'), markdown, isRemote) : undefined
  const visibility = markdown ? toVisibility(exposed) : exposed !== undefined && { exposed }
  return {
    manifest: { ...(inner?.manifest ?? (isRemote && { card: {} })), ...visibility, ...hosting },
    unexposed: inner?.unexposed === true && exposed === undefined && hosting.visibility === undefined,
  }
}

/** Returns errors in the visibility of an agent, which normalizing removes. Pointers are into the document. */
const findExposureErrors = (document: JsonObject, markdown: boolean): Finding[] => {
  if (!isManifest(document)) return manifestErrors(document)
  const { card, exposed } = document
  const isInvalid = markdown && exposed !== undefined && typeof exposed !== 'boolean'
  return [
    ...(isInvalid ? [{ pointer: '/exposed', message: 'must be true or false' }] : []),
    ...(isJsonObject(card) ? manifestErrors({ card }) : []),
  ]
}

const manifestErrors = (document: JsonObject): Finding[] => {
  const result = readManifest(document)
  return 'errors' in result ? result.errors : []
}

const isManifest = (document: JsonObject): boolean =>
  isJsonObject(document.card) ||
  (!('name' in document) && Object.keys(Manifest.entries).some(field => field in document))

const wrapCard = (card: JsonObject, markdown: boolean, isRemote = false) => {
  // Markdown with settings of a model is Shaman's, even without any other mark.
  const isShaman = markdown && privateFields.some(field => field in card)
  const { exposed } = card
  const manifest = readFrontMatter(isShaman ? { ...card, exposed: exposed ?? null } : card, isRemote)?.manifest
  return {
    manifest: { ...(manifest ?? { card }), ...toVisibility(exposed) },
    unexposed: manifest !== undefined && exposed === undefined,
  }
}

const toVisibility = (exposed: unknown): JsonObject =>
  typeof exposed === 'boolean' ? { visibility: exposed ? 'public' : 'internal' } : {}

/** Checks whether a file has the name under which Shaman keeps external agents. */
export const isExternalAgentsName = (file: string): boolean => basename(file) === 'agents.json'

/** Checks whether a file is a map of external agents. A file of that name may also be a card or a manifest. */
export const isExternalAgents = (source: ParsedFile): source is ParsedFile & { value: JsonObject } => {
  const { file, value } = source
  if (!isExternalAgentsName(file) || !isJsonObject(value)) return false
  // A bare card of any dialect has one of these members as text.
  const isCard = ['name', 'description', 'url'].some(name => typeof value[name] === 'string')
  return !isCard && !Object.keys(value).some(name => name in Manifest.entries)
}

/** Returns the agents of a file of external agents. An invalid entry does not affect the others. */
export const readExternalAgents = ({ file, locate, value }: ParsedFile & { value: JsonObject }) =>
  jsonEntries(value).map(([name, entry]) => {
    const root = formatPointer(name)
    const label = `${file}#${root}`
    const result = readEntry(name, entry)
    // The card is in `agentCard`, or in the entry itself for members that only the entry has.
    const mapping: PointerMapping = pointer => {
      const inner = pointerInCard(pointer)
      if (inner !== undefined) return inner === '/url' ? [`${root}/url`] : [`${root}/agentCard${inner}`, root + inner]
      return pointer === '/upstream/agentName' ? [`${root}/agentName`] : [root + pointer]
    }
    if ('manifest' in result) return { label, ...result, mapping, unexposed: false, errors: [] }
    const pointer = root + result.pointer
    const position = locate(pointer) ?? locate(root) ?? { line: 1, column: 1 }
    return { file: label, problems: [{ file, ...position, pointer, message: result.message }] }
  })

const readEntry = (name: string, entry: Json): { manifest: JsonObject } | Finding => {
  if (!isJsonObject(entry)) return { pointer: '', message: 'must be an object with a `url`: an external agent' }
  const { agentCard = {}, url, agentName, upstream = {}, id = toSlug(name, ''), ...others } = entry
  if (typeof url !== 'string') return { pointer: '/url', message: 'must be the URL where the agent is called' }
  if (!isJsonObject(agentCard))
    return { pointer: '/agentCard', message: 'must be an object: the known part of its card' }
  if (!isJsonObject(upstream)) return { pointer: '/upstream', message: 'must be an object' }
  if (id === '') return { pointer: '', message: 'has no letter or digit for an id: add an `id` to the entry' }
  const hosting = Object.keys(others).filter(field => field in Manifest.entries && field !== 'card')
  return {
    manifest: {
      // Only this host can add the agent's name to each call.
      route: 'gateway',
      ...Object.fromEntries(hosting.map(field => [field, others[field] as Json])),
      id,
      card: { ...omit(others, ...hosting), ...completeCard(name, url, agentCard) },
      upstream: { ...allowHostname(url), ...upstream, ...(agentName !== undefined && { agentName }) },
    },
  }
}

/** Adds what every card has to the known part of a card. Shaman's hosts speak A2A 0.3. */
const completeCard = (key: string, url: string, known: JsonObject): JsonObject => {
  const { name = key, description = `The external agent ${String(name)}` } = known
  return { ...(!('supportedInterfaces' in known) && { protocolVersion: '0.3.0' }), ...known, name, description, url }
}

/** Lets the card name the agent's host: although calls go through this host, where the agent is, is public. */
const allowHostname = (url: string): JsonObject => {
  const hostname = parseUrl(toHttpUrl(url))?.hostname.replace(/\.$/, '') ?? ''
  return v.is(Hostname, hostname) ? { mayShow: [hostname] } : {}
}
