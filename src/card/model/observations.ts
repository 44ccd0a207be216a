import { test as isMediaType } from 'media-typer'
import { essence } from '../../http/media-type.ts'
import { MAX_OBSERVED_MEDIA_TYPES } from '../../limits.ts'

/** How an agent met a call: with a result, with the error that it does not support what the call needs, or with neither. */
export type Outcome = 'answered' | 'refused' | 'failed'

/** Calls by outcome. */
export type Outcomes = Record<Outcome, number>

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
  /** Why there is no result: an error of this host, or a code of the agent's. */
  failure?: string
}

/** What the calls of an agent have shown of it, counted. */
export type Observations = {
  /** When the first and the last call were made, in ms since 1970. */
  first: number
  last: number
  calls: number
  failures: Counts
  operations: Record<string, Outcomes>
  protocols: Record<string, Outcomes>
  streaming: Outcomes
  pushNotifications: Outcomes
  /** The media types that the agent produced. */
  mediaTypes: Counts
}

/** Failures of different kinds beyond these count as `other`: an agent can invent error codes. */
const MAX_FAILURE_KINDS = 50
const OTHER_FAILURE = 'other'

/** A media type and its subtype; RFC 6838 allows 127 characters for each. */
const MAX_MEDIA_TYPE_LENGTH = 200

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
  if (call.failure !== undefined) countFailure(failures, call.failure, 1)
}

/** Adds the media types of one result or event, without parameters. Returns those that are valid. */
export const addMediaTypes = (observations: Observations, mediaTypes: readonly string[]): string[] => {
  const valid = [...new Set(mediaTypes.map(essence))].filter(isObservable)
  for (const type of valid) countMediaType(observations.mediaTypes, type, 1)
  return valid
}

const isObservable = (type: string): boolean => type.length <= MAX_MEDIA_TYPE_LENGTH && isMediaType(type)

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
  for (const [kind, count] of Object.entries(other.failures)) countFailure(observations.failures, kind, count)
  for (const [type, count] of Object.entries(other.mediaTypes)) countMediaType(observations.mediaTypes, type, count)
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

const countFailure = (failures: Counts, kind: string, count: number): void => {
  const name = hasRoom(failures, kind, MAX_FAILURE_KINDS) ? kind : OTHER_FAILURE
  failures[name] = add(failures[name] ?? 0, count)
}

const countMediaType = (mediaTypes: Counts, type: string, count: number): void => {
  if (hasRoom(mediaTypes, type, MAX_OBSERVED_MEDIA_TYPES)) mediaTypes[type] = add(mediaTypes[type] ?? 0, count)
}

const hasRoom = (counts: Counts, name: string, limit: number): boolean =>
  Object.hasOwn(counts, name) || Object.keys(counts).length < limit

const add = (count: number, more: number): number => Math.min(count + more, Number.MAX_SAFE_INTEGER)
