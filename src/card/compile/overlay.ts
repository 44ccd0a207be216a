import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  mergePatch,
  omit,
  type Pointer,
  parsePointer,
} from '../../json/index.ts'
import { type Manifest, type Overlay, type ParsedManifest, resolveSource, type Source } from '../manifest/index.ts'
import type { CardError, Note } from '../model/index.ts'
import {
  canonicalKey,
  checkDocument,
  endpointFields,
  indexFields,
  Provenance,
  readSkills,
  toolIds,
} from '../read/index.ts'
import { resolveInterfaceUrls } from '../rewrite/index.ts'

/** The card of a manifest: the manifest's own, or a fetched one with the manifest's `card` merged over it. */
export type MergedCard = {
  /** The manifest with the whole card. */
  manifest: Manifest
  /** The part of the card that the manifest itself contains. */
  ownerCard: JsonObject
  /** The `$schema` of the document that the card is made from. */
  schema: Json | undefined
  /** The card as it was fetched, if it was, with absolute URLs. */
  fetched?: JsonObject
  /** The document that the card's signatures cover. */
  signedDocument: JsonObject
  /** Maps a place in the card to the place that the report names: in the owner's card, or in the fetched one. */
  reportPointer: (pointer: Pointer) => Pointer
  /** Maps a place in the card to the place that an error names: in the registered document, or in the fetched card. */
  errorPointer: (pointer: Pointer) => Pointer
  /** Returns whether the manifest itself contains a place in the card. */
  isOwnerAuthored: (pointer: Pointer) => boolean
  /** Notes on what merging changed: relative URLs, and the parts of the manifest's card that have no effect. */
  notes: Note[]
}

type MergeResult = MergedCard | { errors: CardError[] }

/** Returns the card of a manifest. `fetched` is the card from its source, required if it has one. */
export const mergeFetchedCard = (parsed: ParsedManifest, fetched: JsonObject | undefined): MergeResult => {
  const { manifest, schema, authoredPointer, errorPointer } = parsed
  const source = resolveSource(manifest.upstream)
  if (source === undefined)
    return {
      manifest,
      schema,
      ownerCard: manifest.card,
      signedDocument: manifest.card,
      reportPointer: authoredPointer,
      errorPointer,
      isOwnerAuthored: () => true,
      notes: [],
    }
  if (fetched === undefined)
    return rejected(`/upstream/${source.kind}`, 'is the source of the card, and no card was fetched from it')
  if (!isJsonObject(fetched)) return rejected('', 'is not a JSON object, so it is not an Agent Card')
  const duplicates = duplicateFields({ pointer: '', patch: manifest.card })
  const errors = [
    ...checkDocument(fetched),
    ...duplicates.map(error => ({ ...error, pointer: errorPointer(error.pointer) })),
  ]
  return errors.length > 0 ? { errors } : merge(manifest, fetched, source, errorPointer)
}

const rejected = (pointer: Pointer, message: string): { errors: CardError[] } => ({ errors: [{ pointer, message }] })

const merge = (
  manifest: Manifest,
  fetched: JsonObject,
  { kind, url }: Source,
  manifestPointer: (pointer: Pointer) => Pointer,
): MergeResult => {
  const { card: ownerCard } = manifest
  // A signed card is served as it was signed.
  const unsigned = fetched.signatures === undefined ? omit(fetched, '$schema') : fetched
  const absolute = kind === 'card' ? resolveInterfaceUrls(unsigned, url) : { card: unsigned, notes: [] }
  const base = { document: absolute.card, originOf: () => undefined }
  const overlay = { pointer: '', patch: ownerCard, toolsOnly: kind === 'mcp' }
  const { document, originOf, ignored = [] } = applyOverlay(base, overlay)
  const toSource = (pointer: Pointer): Pointer => {
    const origin = originOf(pointer)
    return origin === undefined ? pointer : manifestPointer(origin)
  }
  const isSignedByOwner = Object.hasOwn(ownerCard, 'signatures')
  // Signatures of the source are kept for now: each representation drops them if it is not the document that they cover.
  const { signatures } = isSignedByOwner ? {} : fetched
  const card = signatures === undefined ? document : { ...document, signatures }
  const errors = checkDocument(card)
  if (errors.length > 0) return { errors: errors.map(error => ({ ...error, pointer: toSource(error.pointer) })) }
  return {
    manifest: { ...manifest, card },
    schema: fetched.$schema,
    ownerCard,
    fetched: absolute.card,
    signedDocument: isSignedByOwner ? card : fetched,
    reportPointer: toSource,
    errorPointer: toSource,
    isOwnerAuthored: pointer => originOf(pointer) !== undefined,
    notes: [
      ...absolute.notes.filter(({ pointer }) => originOf(pointer) === undefined),
      ...ignored.map(pointer => ({ pointer: manifestPointer(pointer), message: noSuchTool })),
    ],
  }
}

/** The note on an overlay skill that matches no tool of the MCP server. */
export const noSuchTool = 'left out: the MCP server has no such tool'

/** A card with overlays merged over it. */
export type OverlayResult = {
  document: JsonObject
  /** Returns the place in the uppermost overlay that set a place in the document; undefined if no overlay did. */
  originOf: (pointer: Pointer) => Pointer | undefined
  /** The places in the last overlay that have no effect. */
  ignored?: Pointer[]
}

/**
 * Merges an overlay over an authored card: a JSON Merge Patch, except that skills merge by id. Removes signatures of a card that
 * it changes, unless it brings its own.
 */
export const applyOverlay = ({ document, originOf }: OverlayResult, overlay: Overlay): OverlayResult => {
  const { pointer: at, patch, toolsOnly } = overlay
  const { skills, sources, ignored } = mergeSkills(asList(document.skills), asList(patch.skills), toolsOnly)
  const names = targetNames(document, patch)
  const renamed = Object.fromEntries([...names].map(([target, name]) => [target, patch[name]]))
  const merged = mergePatch(document, { ...renamed, ...(Array.isArray(patch.skills) && { skills }) })
  const keepsSignatures = names.has('signatures') || jsonEquals(merged, document)
  const ownPointer = (pointer: Pointer): Pointer | undefined => {
    const [target = '', index, ...rest] = parsePointer(pointer)
    const name = names.get(target)
    if (name === undefined) return undefined
    if (target !== 'skills' || index === undefined)
      return at + formatPointer(name) + pointer.slice(formatPointer(target).length)
    const source = sources.get(Number(index))
    return source === undefined ? undefined : at + formatPointer('skills', source, ...rest)
  }
  return {
    document: keepsSignatures ? merged : omit(merged, 'signatures'),
    originOf: pointer => ownPointer(pointer) ?? originOf(pointer),
    ignored: ignored.map(source => at + formatPointer('skills', source)),
  }
}

const asList = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/**
 * Maps the name under which the document has a field to the patch's name of it. Of two aliases in the patch, one takes that name
 * and the other keeps its own, as in any card that has both.
 */
const targetNames = (document: JsonObject, patch: JsonObject): Map<string, string> => {
  const targetOf = indexFields(document)
  const namesByTarget = new Map<string, string[]>()
  for (const name of Object.keys(patch)) {
    const target = targetOf(name)
    const names = namesByTarget.get(target)
    if (names) names.push(name)
    else namesByTarget.set(target, [name])
  }
  const targets = new Map<string, string>()
  for (const [target, names] of namesByTarget) {
    const spelling = names.find(name => canonicalKey(name, 'card') === canonicalKey(target, 'card'))
    for (const name of names) targets.set(name === (spelling ?? names[0]) ? target : name, name)
  }
  return targets
}

/** Fields that route calls. Every caller is routed by the public card. */
const routingFields = [
  ...endpointFields,
  'preferredTransport',
  'preferred_transport',
  'transport',
  'protocol',
  'protocolVersion',
  'protocol_version',
  'agentCard',
]

/** Rejects what an overlay for an extended card cannot change. */
export const overlayErrors = (overlay: Overlay): CardError[] => {
  const { pointer: at, patch } = overlay
  const errors = routingFields
    .filter(name => Object.hasOwn(patch, name))
    .map(name => ({
      pointer: at + formatPointer(name),
      message: 'belongs in the card itself: an extended card has the endpoints of the public one',
    }))
  if (Object.hasOwn(patch, 'skills') && !Array.isArray(patch.skills))
    errors.push({
      pointer: `${at}/skills`,
      message: 'must be a list of skills: a skill with a known id changes that skill, any other is added',
    })
  return [...errors, ...duplicateFields(overlay)]
}

/** Rejects two spellings of one field that have different values: only one of them could apply. */
const duplicateFields = ({ pointer, patch }: Overlay): CardError[] =>
  Object.keys(patch).flatMap(name => {
    const standard = canonicalKey(name, 'card')
    return standard === name || !Object.hasOwn(patch, standard) || jsonEquals(patch[name], patch[standard])
      ? []
      : [
          {
            pointer: pointer + formatPointer(name),
            message: `is another spelling of \`${standard}\`, which has another value here: keep one of them`,
          },
        ]
  })

type MergedSkills = {
  skills: Json[]
  /** By index of a merged skill, the index of the patch that set it. */
  sources: ReadonlyMap<number, number>
  /** The indexes of patches that match no tool. */
  ignored: number[]
}

/**
 * Merges skills by id: patches existing ones, and adds the others. Tools of an MCP server match by tool name or skill id,
 * and none can be added.
 */
const mergeSkills = (base: readonly Json[], patches: readonly Json[], toolsOnly = false): MergedSkills => {
  const skills = [...base]
  const sources = new Map<number, number>()
  const ignored: number[] = []
  const ids = [...(toolsOnly ? toolIds(base, () => true).entries() : []), ...skillIds(base).entries()]
  const indexes = new Map(ids.flatMap(([index, id]) => (id === undefined ? [] : [[id, index] as const])))
  for (const [source, patch] of patches.entries()) {
    const [id] = skillIds([patch])
    const known = id === undefined ? undefined : indexes.get(id)
    if (toolsOnly && known === undefined) {
      ignored.push(source)
      continue
    }
    const index = known ?? skills.length
    const skill = skills[index]
    skills[index] = skill === undefined ? patch : patchSkill(skill, patch)
    sources.set(index, source)
  }
  return { skills, sources, ignored }
}

/** Returns the ids of skills in the canonical card: some dialects have no ids, or skills that are only a name. */
const skillIds = (skills: readonly Json[]): (string | undefined)[] =>
  readSkills([...skills], { split: new Map(), form: undefined }, new Provenance()).map(skill =>
    isJsonObject(skill) && typeof skill.id === 'string' ? skill.id : undefined,
  )

/** Applies a patch to a skill, whose id stays. A patch that is only a name changes nothing. */
const patchSkill = (skill: Json, patch: Json): Json => {
  if (!isJsonObject(patch)) return skill
  const object: JsonObject = isJsonObject(skill) ? skill : { name: skill }
  const merged = mergePatch(object, patch)
  return object.id === undefined ? merged : { ...merged, id: object.id }
}
