import type { Refusal } from '../a2a/errors.ts'
import { firstDefined, hasOddType, messageNames, messageParts, partMediaTypes } from '../a2a/message.ts'
import type { CallProfile } from '../card/call-profile.ts'
import type { Modes, WireVersion } from '../card/model/calls.ts'
import { covers, intersects, isMediaRange, type MediaRange, parseMediaRange, specificity } from '../http/media-type.ts'
import type { Json, JsonObject } from '../json/json.ts'

/** The most parts of a message, and modes of a list, that are checked; a call with more is refused. */
const most = 1000
const mostModes = 100

/** Why the media types of a message's parts do not go in; `offered` are those that do not. */
export const inputModesRefusal = (
  params: JsonObject,
  version: WireVersion,
  modes: CallProfile['modes'],
): Refusal | undefined => {
  const doubled = twice(params, '', ...messageNames)
  if (doubled) return doubled
  const accepted = modesFor(params, modes, 'input')
  const parts = messageParts(params)
  if (accepted.length === 0) return undefined
  if (parts.length > most) return invalid('message.parts', `must be at most ${most} parts`)
  const odd = parts.findIndex(hasOddType)
  if (odd >= 0) return invalid(`message.parts[${odd}]`, 'must say its media type as a string, and one type')
  const types = new Set(parts.flatMap(part => partMediaTypes(part, version)))
  const offered = [...types].filter(type => !goesIn(type, accepted))
  return offered.length > 0 ? { refused: 'input-modes', offered, accepted } : undefined
}

/** Why nothing that the agent puts out is among `acceptedOutputModes`; an absent or empty list accepts anything. */
export const outputModesRefusal = (params: JsonObject, modes: CallProfile['modes']): Refusal | undefined => {
  const { configuration } = params
  const doubled = twice(configuration, 'configuration.', 'acceptedOutputModes', 'accepted_output_modes')
  const wanted = firstDefined(configuration, 'acceptedOutputModes', 'accepted_output_modes')
  if (doubled || wanted === undefined) return doubled
  const field = 'configuration.acceptedOutputModes'
  if (!Array.isArray(wanted)) return invalid(field, 'must be a list of media types')
  if (wanted.length > mostModes) return invalid(field, `must be at most ${mostModes} media types`)
  const offered: string[] = []
  for (const [index, mode] of wanted.entries()) {
    if (typeof mode !== 'string') return invalid(`${field}[${index}]`, 'must be a string')
    if (!isMediaRange(mode))
      return invalid(`${field}[${index}]`, 'is no media type, such as "text/plain" or "image/*", and can never match')
    offered.push(mode)
  }
  const accepted = modesFor(params, modes, 'output')
  return offered.length === 0 || accepted.length === 0 || comesOut(offered, accepted)
    ? undefined
    : { refused: 'output-modes', offered, accepted }
}

const invalid = (field: string, description: string): Refusal => ({
  refused: 'invalid-params',
  detail: `\`${field}\` ${description}.`,
  violations: [{ field, description }],
})

/** Why a field that is there under both of its names is refused: what was checked might not be what its reader takes. */
const twice = (object: Json | undefined, at: string, name: string, other: string): Refusal | undefined =>
  firstDefined(object, name) !== undefined && firstDefined(object, other) !== undefined
    ? invalid(at + other, `is another name of \`${name}\`, which is there too: send one of them`)
    : undefined

/** The modes of the skill that the message names, else the agent's; of a skill that is not known, those of any. */
const modesFor = (
  params: JsonObject,
  { defaults, union, skills }: CallProfile['modes'],
  way: keyof Modes,
): string[] => {
  const skill = firstDefined(firstDefined(firstDefined(params, ...messageNames), 'metadata'), 'skillId')
  if (typeof skill !== 'string' || !Object.hasOwn(skills, skill)) return union[way]
  return skills[skill]?.[way] ?? defaults[way]
}

const goesIn = (type: string, accepted: readonly string[]): boolean => {
  if (accepted.includes(type)) return true
  const offered = parseMediaRange(type)
  return readAll(accepted).some(mode => intersects(offered, mode))
}

/** The closest of the client's ranges that applies to a mode of the agent's decides; `q=0` wins between equals. */
const comesOut = (offered: readonly string[], accepted: readonly string[]): boolean => {
  const wanted = offered.map(parseMediaRange)
  const excluded = wanted.filter(range => range.excluded)
  if (excluded.length === 0 && accepted.some(mode => offered.includes(mode))) return true
  const included = wanted.filter(
    range => !range.excluded && !excluded.some(no => covers(no, range) && covers(range, no)),
  )
  return readAll(accepted).some(mode => {
    const against = closest(excluded.filter(range => covers(range, mode)))
    return closest(included.filter(range => intersects(range, mode))) > against
  })
}

const closest = (ranges: readonly MediaRange[]): number => Math.max(-1, ...ranges.map(specificity))

/** An agent's modes are the same lists from call to call. */
const readModes = new WeakMap<readonly string[], MediaRange[]>()

const readAll = (modes: readonly string[]): MediaRange[] => {
  const known = readModes.get(modes)
  if (known !== undefined) return known
  const read = modes.map(parseMediaRange)
  readModes.set(modes, read)
  return read
}
