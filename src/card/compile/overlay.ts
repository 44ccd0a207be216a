import {
  formatPointer,
  isJsonObject,
  type Json,
  type JsonObject,
  jsonEquals,
  omit,
  type Pointer,
  parsePointer,
} from '../../json/json.ts'
import { mergePatch } from '../../json/tree.ts'
import type { Manifest, ParsedManifest } from '../manifest/manifest.ts'
import type { Overlay } from '../manifest/tiers.ts'
import { getSource } from '../manifest/upstream.ts'
import type { CardError, Note } from '../model/report.ts'
import { findField } from '../read/field-names.ts'
import { endpointFields } from '../read/interfaces.ts'
import { toolIds } from '../read/mcp-tools.ts'
import { Provenance } from '../read/provenance.ts'
import { readSkills } from '../read/skills.ts'
import { checkDocument } from '../read/validate.ts'

/** Skills with others over them; for each that changed or is new the index of the one that says so; and which say nothing. */
type OverlaidSkills = { skills: Json[]; sources: ReadonlyMap<number, number>; leftOut: number[] }

/**
 * Lays skills over others: one of a known id is patched onto it, any other is added. None can be taken away. Of tools, which
 * are known by their own ids and by those of the skills that they become, there are no others.
 */
const overlaySkills = (below: readonly Json[], patches: readonly Json[], areTools = false): OverlaidSkills => {
  const skills = [...below]
  const sources = new Map<number, number>()
  const leftOut: number[] = []
  const ids = [...(areTools ? toolIds(below, () => true).entries() : []), ...idsOf(below).entries()]
  const known = new Map(ids.flatMap(([index, id]) => (id === undefined ? [] : [[id, index] as const])))
  for (const [source, patch] of patches.entries()) {
    const [id] = idsOf([patch])
    const there = id === undefined ? undefined : known.get(id)
    if (areTools && there === undefined) {
      leftOut.push(source)
      continue
    }
    const index = there ?? skills.length
    const skill = skills[index]
    skills[index] = skill === undefined ? patch : patched(skill, patch)
    sources.set(index, source)
  }
  return { skills, sources, leftOut }
}

/** The ids of skills as they are read: some dialects give none, or names alone. */
const idsOf = (skills: readonly Json[]): (string | undefined)[] =>
  readSkills([...skills], new Map(), new Provenance()).map(skill =>
    isJsonObject(skill) && typeof skill.id === 'string' ? skill.id : undefined,
  )

/** A bare name says nothing more of a skill that is there; and whatever is patched, the id stays. */
const patched = (skill: Json, patch: Json): Json => {
  if (!isJsonObject(patch)) return skill
  const object: JsonObject = isJsonObject(skill) ? skill : { name: skill }
  const merged = mergePatch(object, patch)
  return object.id === undefined ? merged : { ...merged, id: object.id }
}

/**
 * A card with overlays over it, and where the overlay that says a place of it stands; undefined: the card itself does.
 * `leftOut` is where the uppermost overlay says what it cannot.
 */
export type Overlaid = { document: JsonObject; from: (place: Pointer) => Pointer | undefined; leftOut?: Pointer[] }

/** What says where calls go. They go where the public card says, whoever makes them. */
const routing = [
  ...endpointFields,
  'preferredTransport',
  'preferred_transport',
  'protocol',
  'protocolVersion',
  'protocol_version',
  'agentCard',
]

/** What an overlay may not say. */
export const overlayErrors = ({ pointer: at, patch }: Overlay): CardError[] => [
  ...routing
    .filter(name => Object.hasOwn(patch, name))
    .map(name => ({
      pointer: at + formatPointer(name),
      message: 'belongs to the card itself: an extended card sends calls to where the public one does',
    })),
  ...(Object.hasOwn(patch, 'skills') && !Array.isArray(patch.skills)
    ? [
        {
          pointer: `${at}/skills`,
          message: 'must be a list of skills: one with the id of a skill of the card changes it, any other is added',
        },
      ]
    : []),
]

/**
 * Lays an overlay over a card in the author's words: a JSON Merge Patch, except that skills merge by their ids. A signature
 * that the overlay does not bring itself is over something else, and goes.
 */
export const applyOverlay = ({ document, from }: Overlaid, { pointer: at, patch, toolsOnly }: Overlay): Overlaid => {
  const { skills, sources, leftOut } = overlaySkills(listOf(document.skills), listOf(patch.skills), toolsOnly)
  const names = new Map(Object.keys(patch).map(name => [findField(document, name), name]))
  const renamed = Object.fromEntries([...names].map(([name, own]) => [name, patch[own]]))
  const merged = mergePatch(document, { ...renamed, ...(Array.isArray(patch.skills) && { skills }) })
  const isSigned = names.has('signatures') || jsonEquals(merged, document)
  const own = (place: Pointer): Pointer | undefined => {
    const [name = '', index, ...within] = parsePointer(place)
    const said = names.get(name)
    if (said === undefined) return undefined
    if (name !== 'skills' || index === undefined)
      return at + formatPointer(said) + place.slice(formatPointer(name).length)
    const source = sources.get(Number(index))
    return source === undefined ? undefined : at + formatPointer('skills', source, ...within)
  }
  return {
    document: isSigned ? merged : omit(merged, 'signatures'),
    from: place => own(place) ?? from(place),
    leftOut: leftOut.map(source => at + formatPointer('skills', source)),
  }
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

/** The card that a manifest stands for, wherever it comes from. */
export type SourcedCard = {
  /** The manifest with the whole card. */
  manifest: Manifest
  /** What of it the manifest itself says. */
  written: JsonObject
  /** The card as it came, where it came from elsewhere. */
  fetched?: JsonObject
  /** What the card's signatures are over. */
  signed: JsonObject
  /** Where a place of the card is told of: in the author's card, or in what was fetched. */
  toldAt: (place: Pointer) => Pointer
  /** Where a place of the card is refused: in the document, or in what was fetched. */
  refusedAt: (place: Pointer) => Pointer
  /** Whether the manifest itself says a place of the card. */
  isOwners: (place: Pointer) => boolean
  /** What the manifest says in vain. */
  leftOut: Note[]
}

/** The card that a manifest stands for: its own, or what was fetched with its own laid over. */
export const mergeFetchedCard = (
  hosted: ParsedManifest,
  fetched: JsonObject | undefined,
): SourcedCard | { errors: CardError[] } => {
  const { manifest, cardPointer, authoredPointer } = hosted
  const source = getSource(manifest.upstream)
  const refusedAt = (place: Pointer): Pointer => cardPointer + authoredPointer(place)
  if (source === undefined)
    return {
      ...{ manifest, written: manifest.card, signed: manifest.card },
      ...{ toldAt: authoredPointer, refusedAt, isOwners: () => true, leftOut: [] },
    }
  if (fetched === undefined)
    return refused(`/upstream/${source.kind}`, 'is where the card comes from, and nothing was fetched from there')
  if (!isJsonObject(fetched)) return refused('', 'is no JSON object, so it is not an Agent Card')
  const bounds = checkDocument(fetched)
  return bounds.length > 0 ? { errors: bounds } : laidOver(manifest, fetched, source.kind, refusedAt)
}

const laidOver = (
  manifest: Manifest,
  fetched: JsonObject,
  kind: 'card' | 'mcp',
  inManifest: (place: Pointer) => Pointer,
): SourcedCard | { errors: CardError[] } => {
  const { card: said } = manifest
  const bottom = { document: fetched, from: () => undefined }
  const { document, from, leftOut = [] } = applyOverlay(bottom, { pointer: '', patch: said, toolsOnly: kind === 'mcp' })
  const at = (place: Pointer): Pointer => {
    const own = from(place)
    return own === undefined ? place : inManifest(own)
  }
  const signsItself = Object.hasOwn(said, 'signatures')
  const { signatures } = signsItself ? {} : fetched
  // Kept until it is known which of the representations they are still over.
  const card = signatures === undefined ? document : { ...document, signatures }
  const bounds = checkDocument(card)
  if (bounds.length > 0) return { errors: bounds.map(error => ({ ...error, pointer: at(error.pointer) })) }
  return {
    manifest: { ...manifest, card },
    written: said,
    fetched,
    signed: signsItself ? card : fetched,
    toldAt: at,
    refusedAt: at,
    isOwners: place => from(place) !== undefined,
    leftOut: leftOut.map(place => ({ pointer: inManifest(place), message: noSuchTool })),
  }
}

/** What is told of a skill that is laid over the tools of an MCP server and is none of them. */
export const noSuchTool = 'left out: the MCP server has no such tool'

const refused = (pointer: Pointer, message: string): { errors: CardError[] } => ({ errors: [{ pointer, message }] })
