import type { MessageFacts } from '../../a2a/index.ts'
import { type CallError, invalidParam } from '../../a2a/start.ts'
import type { CallModes, Modes } from '../../card/model/index.ts'
import type { Json } from '../../json/index.ts'
import {
  covers,
  intersects,
  isMediaRange,
  type MediaRange,
  MediaRanges,
  parseMediaRange,
  specificity,
} from '../../json/start.ts'
import { MAX_OUTPUT_MODES, MAX_PARTS } from '../../limits.ts'

/** Refuses a message with a part whose media type the agent does not accept. */
export const checkInputModes = (
  { parts, mediaTypes, ambiguousPart, skillId }: MessageFacts,
  modes: CallModes,
): CallError | undefined => {
  const accepted = modesFor(skillId, modes, 'input')
  if (accepted.length === 0) return undefined
  if (parts.length > MAX_PARTS) return invalidParam('message.parts', `must be at most ${MAX_PARTS} parts`)
  if (ambiguousPart !== undefined)
    return invalidParam(`message.parts[${ambiguousPart}]`, 'must declare one media type, as a string without wildcards')
  const listed = new Set(accepted)
  const unknown = mediaTypes.filter(type => !listed.has(type))
  if (unknown.length === 0) return undefined
  const ranges = new MediaRanges(parseModes(accepted, modes))
  const offered = unknown.filter(type => !ranges.intersects(parseMediaRange(type)))
  return offered.length > 0 ? { kind: 'input-modes', offered, accepted } : undefined
}

/** Refuses a call whose `acceptedOutputModes` the agent cannot produce. An absent or empty list accepts anything. */
export const checkOutputModes = (
  { acceptedOutputModes, skillId }: MessageFacts,
  modes: CallModes,
): CallError | undefined => {
  if (acceptedOutputModes === undefined) return undefined
  const field = 'configuration.acceptedOutputModes'
  if (!Array.isArray(acceptedOutputModes)) return invalidParam(field, 'must be a list of media types')
  if (acceptedOutputModes.length > MAX_OUTPUT_MODES)
    return invalidParam(field, `must be at most ${MAX_OUTPUT_MODES} media types`)
  const offered: string[] = []
  for (const [index, mode] of acceptedOutputModes.entries()) {
    if (typeof mode !== 'string' || !isMediaRange(mode))
      return invalidParam(`${field}[${index}]`, 'must be a media type or a range, such as "text/plain" or "image/*"')
    offered.push(mode)
  }
  const accepted = modesFor(skillId, modes, 'output')
  return offered.length === 0 || accepted.length === 0 || canProduce(offered, accepted, modes)
    ? undefined
    : { kind: 'output-modes', offered, accepted }
}

/** A media type in an answer that the card does not declare, or the caller does not accept. It is never refused. */
export type OutputWarning = { kind: 'undeclared-output-modes' | 'unaccepted-output-modes' }

/**
 * Compares the answers to one call with the output modes of the agent and its skills, and with those that the caller
 * accepts, which are parsed once, when an answer has another type: a stream may have very many answers. The comparison
 * skips the kinds of differences that are `known`.
 */
export const createOutputComparison = (acceptedOutputModes: Json | undefined) => {
  const accepted = Array.isArray(acceptedOutputModes)
    ? acceptedOutputModes.slice(0, MAX_OUTPUT_MODES).filter(mode => typeof mode === 'string')
    : []
  let isAcceptable: ((mode: MediaRange) => boolean) | undefined
  const isAccepted = (type: string): boolean => {
    if (accepted.length === 0 || accepted.includes(type)) return true
    isAcceptable ??= createAcceptance(accepted.map(parseMediaRange))
    return isAcceptable(parseMediaRange(type))
  }
  return (mediaTypes: readonly string[], modes: CallModes, known?: ReadonlySet<string>): OutputWarning[] => {
    const produced = mediaTypes.slice(0, MAX_OUTPUT_MODES)
    const warnings: OutputWarning[] = []
    if (!known?.has('undeclared-output-modes') && !produced.every(type => isDeclared(type, modes)))
      warnings.push({ kind: 'undeclared-output-modes' })
    if (!known?.has('unaccepted-output-modes') && !produced.every(isAccepted))
      warnings.push({ kind: 'unaccepted-output-modes' })
    return warnings
  }
}

/** The output modes of an agent and its skills, indexed once while its profile is in memory. */
const declaredRanges = new WeakMap<CallModes, MediaRanges>()

const isDeclared = (type: string, modes: CallModes): boolean => {
  const declared = modes.union.output
  if (declared.length === 0 || declared.includes(type)) return true
  const ranges = declaredRanges.get(modes) ?? new MediaRanges(parseModes(declared, modes))
  declaredRanges.set(modes, ranges)
  return ranges.intersects(parseMediaRange(type))
}

/** Returns the modes of the skill that the message names, else the agent's; those of all skills if it is unknown. */
const modesFor = (skillId = '', { defaults, union, skills }: CallModes, direction: keyof Modes): string[] =>
  Object.hasOwn(skills, skillId) ? (skills[skillId]?.[direction] ?? defaults[direction]) : union[direction]

/** Matches as `Accept` does (RFC 9110 §12.5.1): the most specific range decides, and `q=0` wins between equals. */
const canProduce = (offered: readonly string[], accepted: readonly string[], modes: CallModes): boolean => {
  const wanted = offered.map(parseMediaRange)
  if (wanted.some(range => range.excluded)) return parseModes(accepted, modes).some(createAcceptance(wanted))
  if (accepted.some(mode => offered.includes(mode))) return true
  const ranges = new MediaRanges(parseModes(accepted, modes))
  return wanted.some(range => ranges.intersects(range))
}

/** Returns a check of whether the ranges of a caller accept a mode. */
const createAcceptance = (wanted: readonly MediaRange[]): ((mode: MediaRange) => boolean) => {
  const excluded = wanted.filter(range => range.excluded)
  const included = wanted.filter(
    range => !range.excluded && !excluded.some(other => covers(other, range) && covers(range, other)),
  )
  return mode => {
    const against = highestSpecificity(excluded.filter(range => covers(range, mode)))
    return highestSpecificity(included.filter(range => intersects(range, mode))) > against
  }
}

/** The modes of an agent, parsed once while its profile is in memory. Their number is limited. */
const parsedModes = new WeakMap<CallModes, Map<string, MediaRange>>()

const parseModes = (accepted: readonly string[], modes: CallModes): MediaRange[] => {
  const parsed = parsedModes.get(modes) ?? new Map<string, MediaRange>()
  parsedModes.set(modes, parsed)
  return accepted.map(mode => {
    const range = parsed.get(mode) ?? parseMediaRange(mode)
    parsed.set(mode, range)
    return range
  })
}

const highestSpecificity = (ranges: readonly MediaRange[]): number => Math.max(-1, ...ranges.map(specificity))
