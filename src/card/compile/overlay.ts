import type { Json, JsonObject, Pointer } from '../../json/index.ts'
import { asList, formatPointer, isJsonObject, jsonEquals, mergePatch, omit, parsePointer } from '../../json/index.ts'
import type { Overlay } from '../manifest/index.ts'
import { type Finding, relocate } from '../model/index.ts'
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
import type { ParsedManifest } from './parse.ts'

/** A manifest whose `card` is merged over a fetched one. What looks like a secret was searched for before that. */
export type MergedCard = ParsedManifest & {
  /** The part of the card that the manifest itself contains. */
  ownerCard: JsonObject
  /** The card as it was fetched, if it was, with absolute URLs. */
  fetched?: JsonObject
  /** The document that the card's signatures cover. */
  signedDocument: JsonObject
  /** Returns whether the manifest itself contains a place in the card. */
  isOwnerAuthored: (pointer: Pointer) => boolean
  /** Notes on what merging changed: relative URLs, and the parts of the manifest's card that have no effect. */
  notes: Finding[]
}

/** Returns a manifest with its whole card. `fetched` is the card from its source, required if it has one. */
export const mergeFetchedCard = (
  parsed: ParsedManifest,
  fetched: JsonObject | undefined,
): MergedCard | { errors: Finding[] } => {
  const { source, errorPointer } = parsed
  const ownerCard = parsed.manifest.card
  if (source === undefined)
    return { ...parsed, ownerCard, signedDocument: ownerCard, isOwnerAuthored: () => true, notes: [] }
  const reject = (pointer: Pointer, message: string) => ({ errors: [{ pointer, message }] })
  if (fetched === undefined)
    return reject(`/upstream/${source.kind}`, 'is the source of the card, and no card was fetched from it')
  if (!isJsonObject(fetched)) return reject('', 'is not a JSON object, so it is not an Agent Card')
  const overlay = { pointer: '', patch: ownerCard, toolsOnly: source.kind === 'mcp' }
  const invalid = [...checkDocument(fetched), ...relocate(duplicateFields(overlay), errorPointer)]
  if (invalid.length > 0) return { errors: invalid }
  // A signed card is served as it was signed.
  const unsigned = fetched.signatures === undefined ? omit(fetched, '$schema') : fetched
  const absolute = source.kind === 'card' ? resolveInterfaceUrls(unsigned, source.url) : { card: unsigned, notes: [] }
  const base = { document: absolute.card, originOf: () => undefined }
  const { document, originOf, ignored = [] } = applyOverlay(base, overlay)
  const toSource = (pointer: Pointer): Pointer => {
    const own = originOf(pointer)
    return own === undefined ? pointer : errorPointer(own)
  }
  const isSignedByOwner = Object.hasOwn(ownerCard, 'signatures')
  // The source's signatures are kept for now: a representation drops them if it is not the document that they cover.
  const { signatures } = isSignedByOwner ? {} : fetched
  const card = signatures === undefined ? document : { ...document, signatures }
  const errors = checkDocument(card)
  if (errors.length > 0) return { errors: relocate(errors, toSource) }
  return {
    ...parsed,
    manifest: { ...parsed.manifest, card },
    schema: fetched.$schema,
    authoredPointer: toSource,
    errorPointer: toSource,
    ownerCard,
    fetched: absolute.card,
    signedDocument: isSignedByOwner ? card : fetched,
    isOwnerAuthored: pointer => originOf(pointer) !== undefined,
    notes: [
      ...absolute.notes.filter(({ pointer }) => originOf(pointer) === undefined),
      ...relocate(ignored, errorPointer),
    ],
  }
}

/**
 * A card with overlays merged over it. `originOf` returns the place in the uppermost overlay that set a place in the
 * document, undefined if no overlay did; `ignored` are notes on the places in the last overlay that have no effect.
 */
export type OverlayResult = {
  document: JsonObject
  originOf: (pointer: Pointer) => Pointer | undefined
  ignored?: Finding[]
}

/**
 * Merges an overlay over an authored card: a JSON Merge Patch, except that skills merge by id. Removes signatures of a
 * card that it changes, unless it brings its own.
 */
export const applyOverlay = ({ document, originOf }: OverlayResult, overlay: Overlay): OverlayResult => {
  const { pointer: at, patch, toolsOnly } = overlay
  const { skills, sources, ignored } = mergeSkills(asList(document.skills), asList(patch.skills), toolsOnly)
  const names = targetNames(document, patch)
  const renamed = Object.fromEntries([...names].map(([target, name]) => [target, patch[name]]))
  const merged = mergePatch(document, { ...renamed, ...(Array.isArray(patch.skills) && { skills }) })
  const message = 'left out: the MCP server has no such tool'
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
    ignored: ignored.map(source => ({ pointer: at + formatPointer('skills', source), message })),
  }
}

/**
 * Maps the name under which the document has a field to the patch's name of it. Of two aliases in the patch, one takes
 * that name and the other keeps its own, as in any card that has both.
 */
const targetNames = (document: JsonObject, patch: JsonObject): Map<string, string> => {
  const targetOf = indexFields(document)
  const names = Object.keys(patch)
  // By target, the alias that takes its name: the one with its spelling, else the first.
  const chosen = new Map(names.toReversed().map(name => [targetOf(name), name]))
  for (const name of names.toReversed())
    if (canonicalKey(name, 'card') === canonicalKey(targetOf(name), 'card')) chosen.set(targetOf(name), name)
  return new Map(names.map(name => [chosen.get(targetOf(name)) === name ? targetOf(name) : name, name]))
}

/** Fields besides the endpoints that route calls, as the public card does for every caller. */
const routingField =
  /^(?:preferredTransport|preferred_transport|transport|protocol|protocolVersion|protocol_version|agentCard)$/

/** Rejects what an overlay for an extended card cannot change. */
export const overlayErrors = (overlay: Overlay): Finding[] => {
  const { pointer: at, patch } = overlay
  const message = 'belongs in the card itself: an extended card has the endpoints of the public one'
  const skillsMessage = 'must be a list of skills: a skill with a known id changes that skill, any other is added'
  const isWrongSkills = Object.hasOwn(patch, 'skills') && !Array.isArray(patch.skills)
  return [
    ...Object.keys(patch)
      .filter(name => routingField.test(name) || endpointFields.some(field => field === name))
      .map(name => ({ pointer: at + formatPointer(name), message })),
    ...(isWrongSkills ? [{ pointer: `${at}/skills`, message: skillsMessage }] : []),
    ...duplicateFields(overlay),
  ]
}

/** Rejects two spellings of one field that have different values: only one of them could apply. */
const duplicateFields = ({ pointer, patch }: Overlay): Finding[] =>
  Object.keys(patch).flatMap(name => {
    const standard = canonicalKey(name, 'card')
    const isSame = standard === name || !Object.hasOwn(patch, standard) || jsonEquals(patch[name], patch[standard])
    const message = `is another spelling of \`${standard}\`, which has another value here: keep one of them`
    return isSame ? [] : [{ pointer: pointer + formatPointer(name), message }]
  })

/**
 * Merges skills by id: patches existing ones, and adds the others. Tools of an MCP server match by tool name or skill
 * id, and none can be added. `sources` has the index of the patch of each skill, `ignored` those that match no tool.
 */
const mergeSkills = (base: readonly Json[], patches: readonly Json[], toolsOnly = false) => {
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
