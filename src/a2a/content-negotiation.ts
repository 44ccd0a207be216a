import type { CallModes, Modes } from '../card/model/index.ts'
import {
  createAcceptance,
  isMediaRange,
  type Json,
  type MediaRange,
  ModeIndex,
  parseMediaRange,
} from '../json/index.ts'
import { MAX_OUTPUT_MODES, MAX_PARTS } from '../limits.ts'
import { type CallError, invalidParam } from './call-error.ts'
import type { MessageFacts } from './message.ts'

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
  const { types, ranges } = indexModes(accepted)
  const unknown = mediaTypes.filter(type => !types.has(type))
  if (unknown.length === 0) return undefined
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
  const invalid = acceptedOutputModes.findIndex(mode => typeof mode !== 'string' || !isMediaRange(mode))
  if (invalid >= 0)
    return invalidParam(`${field}[${invalid}]`, 'must be a media type or a range, such as "text/plain" or "image/*"')
  const offered = acceptedOutputModes as string[]
  const accepted = modesFor(skillId, modes, 'output')
  return offered.length === 0 || accepted.length === 0 || canProduce(offered, accepted)
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

const isDeclared = (type: string, { union: { output } }: CallModes): boolean => {
  if (output.length === 0) return true
  const { types, ranges } = indexModes(output)
  return types.has(type) || ranges.intersects(parseMediaRange(type))
}

/** Returns the modes of the skill that the message names, else the agent's; those of all skills if it is unknown. */
const modesFor = (skillId = '', { defaults, union, skills }: CallModes, direction: keyof Modes): string[] =>
  Object.hasOwn(skills, skillId) ? (skills[skillId]?.[direction] ?? defaults[direction]) : union[direction]

/** Matches as `Accept` does (RFC 9110 §12.5.1): the most specific range decides, and `q=0` wins between equals. */
const canProduce = (offered: readonly string[], accepted: readonly string[]): boolean => {
  const { types, parsed, ranges } = indexModes(accepted)
  // A text without parameters has no `q`.
  if (offered.every(mode => !mode.includes(';') && types.has(mode))) return true
  const wanted = offered.map(parseMediaRange)
  if (wanted.some(range => range.excluded)) return parsed.some(createAcceptance(wanted))
  return offered.some(mode => types.has(mode)) || wanted.some(range => ranges.intersects(range))
}

/** The lists of modes of cards in memory. */
const indexes = new WeakMap<readonly string[], ModeIndex>()

const indexModes = (modes: readonly string[]): ModeIndex => {
  const index = indexes.get(modes) ?? new ModeIndex(modes)
  indexes.set(modes, index)
  return index
}
