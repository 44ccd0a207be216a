import * as v from 'valibot'
import { essence } from '../../json/index.ts'
import { MAX_OBSERVED_MEDIA_TYPES } from '../../limits.ts'
import { record, timestamp, wholeNumber } from './validation.ts'

/** The outcome of a call: a result, the error that the agent does not support what the call needs, or neither. */
export type Outcome = keyof Outcomes

/** Calls by outcome. */
export type Outcomes = v.InferOutput<typeof outcomes>

/** Numbers by name. */
export type Counts = Record<string, number>

/** The observations of one call, without its content and its caller. */
export type ObservedCall = {
  operation: string
  /** The binding and version in which the agent was called, such as `JSONRPC 1.0`. */
  protocol: string
  outcome: Outcome
  /** Whether the agent speaks the protocol: an agent that refuses an operation does. */
  protocolOutcome: Outcome
  /** Set for a call that asks for a stream. An answer that is no stream is `failed`. */
  streaming?: Outcome
  /** Set for a call for push configurations, and for a message whose configuration the agent refuses. */
  pushNotifications?: Outcome
  /** The reason why there is no result: an error of this host, or a code of the agent's. */
  failure?: string
}

const count = wholeNumber(0)
const outcomes = v.object({ answered: count, refused: count, failed: count })

/** The counted calls of an agent, from the first to the last, in ms since 1970. */
export const Observations = v.object({
  ...{ first: timestamp, last: timestamp, calls: count, failures: record(count) },
  ...{ operations: record(outcomes), protocols: record(outcomes), streaming: outcomes, pushNotifications: outcomes },
  /** The results and events in which the agent produced a media type. */
  mediaTypes: record(count),
})
export type Observations = v.InferOutput<typeof Observations>

/** The most kinds of failures: an agent can invent error codes. */
const MAX_FAILURE_KINDS = 50

/** The name under which names that are not counted by themselves are counted. */
export const OTHER = 'other'

/** The media types that are counted by themselves. An agent may echo the text of a caller in the others. */
const observableMediaType = /^(?:application|audio|font|image|message|model|multipart|text|video)\/[a-z0-9.+-]{1,64}$/

/** Creates the observations of an agent at a time at which it was not called yet. */
export const createObservations = (now: number): Observations => ({
  ...{ first: now, last: now, calls: 0, failures: {}, operations: {}, protocols: {}, mediaTypes: {} },
  ...{ streaming: createOutcomes(), pushNotifications: createOutcomes() },
})

/** Adds a call. */
export const addCall = (observations: Observations, call: ObservedCall, now: number): void => {
  observations.last = Math.max(observations.last, now)
  observations.calls = add(observations.calls, 1)
  increase(outcomesOf(observations.operations, call.operation), call.outcome)
  increase(outcomesOf(observations.protocols, call.protocol), call.protocolOutcome)
  if (call.streaming) increase(observations.streaming, call.streaming)
  if (call.pushNotifications) increase(observations.pushNotifications, call.pushNotifications)
  if (call.failure !== undefined) increase(observations.failures, call.failure, 1, MAX_FAILURE_KINDS)
}

const NONE: readonly string[] = []

/** Adds the media types of one result or event, without parameters. Returns the names that had no count before. */
export const addMediaTypes = ({ mediaTypes: counts }: Observations, mediaTypes: readonly string[]) => {
  const type = mediaTypes[0]
  if (type === undefined) return NONE
  // Most results have one type, which is counted already under its own name.
  if (mediaTypes.length === 1 && Object.hasOwn(counts, type)) {
    increase(counts, type)
    return NONE
  }
  const names = new Set<string>()
  const added: string[] = []
  for (const type of mediaTypes.map(essence)) {
    const name = observableMediaType.test(type) && hasRoom(counts, type, MAX_OBSERVED_MEDIA_TYPES) ? type : OTHER
    if (!Object.hasOwn(counts, name)) added.push(name)
    if (!names.has(name)) increase(counts, name)
    names.add(name)
  }
  return added
}

/** Adds `other` to `observations`. Counts stop at the largest safe integer, and lists at their limits. */
export const mergeObservations = (observations: Observations, other: Observations): void => {
  observations.first = Math.min(observations.first, other.first)
  observations.last = Math.max(observations.last, other.last)
  observations.calls = add(observations.calls, other.calls)
  increaseAll(observations.streaming, other.streaming)
  increaseAll(observations.pushNotifications, other.pushNotifications)
  for (const group of ['operations', 'protocols'] as const)
    for (const [name, outcomes] of Object.entries(other[group]))
      increaseAll(outcomesOf(observations[group], name), outcomes)
  increaseAll(observations.failures, other.failures, MAX_FAILURE_KINDS)
  increaseAll(observations.mediaTypes, other.mediaTypes, MAX_OBSERVED_MEDIA_TYPES)
}

const createOutcomes = (): Outcomes => ({ answered: 0, refused: 0, failed: 0 })

const outcomesOf = (group: Record<string, Outcomes>, name: string): Outcomes => {
  group[name] ??= createOutcomes()
  return group[name]
}

const increaseAll = (counts: Counts, others: Counts, limit?: number): void => {
  for (const [name, count] of Object.entries(others)) increase(counts, name, count, limit)
}

/** Adds to the count of a name, or of `other` where there is no room for another name. */
const increase = (counts: Counts, name: string, count = 1, limit = Number.POSITIVE_INFINITY): void => {
  const counted = hasRoom(counts, name, limit) ? name : OTHER
  counts[counted] = add(counts[counted] ?? 0, count)
}

const hasRoom = (counts: Counts, name: string, limit: number): boolean =>
  Object.hasOwn(counts, name) || Object.keys(counts).length < limit

const add = (count: number, more: number): number => Math.min(count + more, Number.MAX_SAFE_INTEGER)
