import { createAcceptance, type Json, type MediaRange, ModeIndex, parseMediaRange } from '../../json/index.ts'
import { MAX_OUTPUT_MODES } from '../../limits.ts'
import type { AgentCard } from './agent-card.ts'

/** Input and output media types. */
export type Modes = { input: string[]; output: string[] }

/** The modes of a card: its defaults, these with the modes of every skill, and by skill id those that replace them. */
export type CallModes = { defaults: Modes; union: Modes; skills: Record<string, Partial<Modes>> }

/** Collects the modes of a card and its skills. */
export const collectModes = ({ defaultInputModes, defaultOutputModes, skills }: AgentCard): CallModes => {
  const own = skills.map(({ id, inputModes: input = [], outputModes: output = [] }) => ({ id, input, output }))
  const input = unique([...defaultInputModes, ...own.flatMap(skill => skill.input)])
  const output = unique([...defaultOutputModes, ...own.flatMap(skill => skill.output)])
  const ownModes = own.map(({ id, input, output }): [string, Partial<Modes>] => [
    id,
    { ...(input.length > 0 && { input: unique(input) }), ...(output.length > 0 && { output: unique(output) }) },
  ])
  return {
    defaults: { input: unique(defaultInputModes), output: unique(defaultOutputModes) },
    union: { input, output },
    skills: Object.fromEntries(ownModes),
  }
}

const unique = (modes: readonly string[]): string[] => [...new Set(modes)]

/** The lists of modes of cards in memory. */
const indexes = new WeakMap<readonly string[], ModeIndex>()

/** Returns an index of a list of modes, made once while its card is in memory. */
export const indexModes = (modes: readonly string[]): ModeIndex => {
  const index = indexes.get(modes) ?? new ModeIndex(modes)
  indexes.set(modes, index)
  return index
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
