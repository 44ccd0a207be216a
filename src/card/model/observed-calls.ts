import * as v from 'valibot'
import { essence } from '../../json/index.ts'
import { MAX_OBSERVED_MEDIA_TYPES } from '../../limits.ts'
import { record, timestamp, wholeNumber } from './validation.ts'

/** How an agent met a call: with a result, with the error that it does not support what the call needs, or with neither. */
export type Outcome = 'answered' | 'refused' | 'failed'

/** Calls by outcome. */
export type Outcomes = Observations['streaming']

/** Numbers by name. */
export type Counts = Record<string, number>

/** What one call has shown of its agent. It has no content, and nothing of the caller. */
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
  /** The media types of its result. Those of a stream are observed with each event. */
  mediaTypes?: readonly string[] | undefined
  /** Why there is no result: an error of this host, or a code of the agent's. */
  failure?: string
}

const count = wholeNumber(0)
const outcomes = v.object({ answered: count, refused: count, failed: count })

/** What the calls of an agent have shown of it, counted. */
export const Observations = v.object({
  /** When the first and the last call were made, in ms since 1970. */
  ...{ first: timestamp, last: timestamp, calls: count, failures: record(count) },
  ...{ operations: record(outcomes), protocols: record(outcomes), streaming: outcomes, pushNotifications: outcomes },
  /** The results and events in which the agent produced a media type. */
  mediaTypes: record(count),
})
export type Observations = v.InferOutput<typeof Observations>

/** Failures of different kinds: an agent can invent error codes. */
const MAX_FAILURE_KINDS = 50

/** What is counted in place of a name that is not counted by itself. */
export const OTHER = 'other'

/** The media types that are counted by themselves. An agent may echo the text of a caller in the others. */
const observableMediaType = /^(?:application|audio|font|image|message|model|multipart|text|video)\/[a-z0-9.+-]{1,64}$/

/** Creates the observations of an agent at a time at which it was not called yet. */
export const createObservations = (now: number): Observations => ({
  first: now,
  last: now,
  calls: 0,
  failures: {},
  operations: {},
  protocols: {},
  streaming: createOutcomes(),
  pushNotifications: createOutcomes(),
  mediaTypes: {},
})

/** Adds a call. */
export const addCall = (observations: Observations, call: ObservedCall, now: number): void => {
  const { operations, protocols, streaming, pushNotifications, failures } = observations
  observations.last = Math.max(observations.last, now)
  observations.calls = add(observations.calls, 1)
  countOutcome(outcomesOf(operations, call.operation), call.outcome)
  countOutcome(outcomesOf(protocols, call.protocol), call.protocolOutcome)
  if (call.streaming) countOutcome(streaming, call.streaming)
  if (call.pushNotifications) countOutcome(pushNotifications, call.pushNotifications)
  if (call.failure !== undefined) countName(failures, call.failure, 1, MAX_FAILURE_KINDS)
}

/** Adds the media types of one result or event, without parameters. Returns the names under which they count. */
export const addMediaTypes = ({ mediaTypes: counts }: Observations, mediaTypes: readonly string[]): string[] => {
  const names = new Set<string>()
  for (const type of mediaTypes.map(essence)) {
    const name = observableMediaType.test(type) && hasRoom(counts, type, MAX_OBSERVED_MEDIA_TYPES) ? type : OTHER
    if (names.has(name)) continue
    names.add(name)
    counts[name] = add(counts[name] ?? 0, 1)
  }
  return [...names]
}

/** Adds `other` to `observations`. Counts stop at the largest safe integer, and lists at their limits. */
export const mergeObservations = (observations: Observations, other: Observations): void => {
  observations.first = Math.min(observations.first, other.first)
  observations.last = Math.max(observations.last, other.last)
  observations.calls = add(observations.calls, other.calls)
  mergeOutcomes(observations.streaming, other.streaming)
  mergeOutcomes(observations.pushNotifications, other.pushNotifications)
  for (const group of ['operations', 'protocols'] as const)
    for (const [name, outcomes] of Object.entries(other[group]))
      mergeOutcomes(outcomesOf(observations[group], name), outcomes)
  for (const [kind, count] of Object.entries(other.failures))
    countName(observations.failures, kind, count, MAX_FAILURE_KINDS)
  for (const [type, count] of Object.entries(other.mediaTypes))
    countName(observations.mediaTypes, type, count, MAX_OBSERVED_MEDIA_TYPES)
}

const createOutcomes = (): Outcomes => ({ answered: 0, refused: 0, failed: 0 })

const outcomesOf = (group: Record<string, Outcomes>, name: string): Outcomes => {
  group[name] ??= createOutcomes()
  return group[name]
}

const countOutcome = (outcomes: Outcomes, outcome: Outcome): void => {
  outcomes[outcome] = add(outcomes[outcome], 1)
}

const mergeOutcomes = (outcomes: Outcomes, other: Outcomes): void => {
  for (const outcome of ['answered', 'refused', 'failed'] as const)
    outcomes[outcome] = add(outcomes[outcome], other[outcome])
}

const countName = (counts: Counts, name: string, count: number, limit: number): void => {
  const counted = hasRoom(counts, name, limit) ? name : OTHER
  counts[counted] = add(counts[counted] ?? 0, count)
}

const hasRoom = (counts: Counts, name: string, limit: number): boolean =>
  Object.hasOwn(counts, name) || Object.keys(counts).length < limit

const add = (count: number, more: number): number => Math.min(count + more, Number.MAX_SAFE_INTEGER)
