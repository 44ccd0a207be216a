import { type Json, type JsonObject, jsonEquals, omit } from '../../json/json.ts'
import { mergePatch } from '../../json/merge-patch.ts'
import { formatPointer, type Pointer, parsePointer } from '../../json/pointer.ts'
import type { CardError } from '../model/report.ts'
import { endpointFields } from '../read/endpoint.ts'
import { findField } from '../read/same-field.ts'
import { overlaySkills } from './overlay-skills.ts'

/** What a manifest lays over its card, and where it stands there; `overTools`: over skills that are all there can be. */
export type Overlay = { at: Pointer; patch: JsonObject; overTools?: boolean }

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
export const overlayErrors = ({ at, patch }: Overlay): CardError[] => [
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
export const applyOverlay = ({ document, from }: Overlaid, { at, patch, overTools }: Overlay): Overlaid => {
  const { skills, sources, leftOut } = overlaySkills(listOf(document.skills), listOf(patch.skills), overTools)
  const names = new Map(Object.keys(patch).map(name => [findField(document, name), name]))
  const renamed = Object.fromEntries([...names].map(([name, own]) => [name, patch[own] as Json]))
  const merged = mergePatch(document, { ...renamed, ...(Array.isArray(patch.skills) && { skills }) }) as JsonObject
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
