import type { CallError } from '../../a2a/errors.ts'
import { parseJsonLossless } from '../../a2a/jsonrpc.ts'
import {
  type AnswerPlace,
  type CheckedAnswer,
  type Inspected,
  type ReadResult,
  type ResultFacts,
  readResult,
  type VisibleTasks,
} from '../../a2a/results.ts'
import type { CallProfile } from '../../card/call-profile.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { isDeeperThan } from '../../json/parse.ts'
import { MAX_EVENT_BYTES, MAX_JSON_DEPTH } from '../../limits.ts'
import type { AnsweredCall } from './request.ts'

/** How answers are checked. */
export type AnswerPolicy = {
  level: CallProfile['gate'][keyof CallProfile['gate']]
  /** Sees the facts of each answer and event before it passes on, whatever the level. */
  inspect?: ((facts: ResultFacts, place: AnswerPlace) => Inspected | Promise<Inspected>) | undefined
  /** Receives what the level `warn` found. */
  warn: (error: CallError, place: AnswerPlace) => void
  /** Receives the error with which this host ends a stream. */
  onStreamError?: ((error: CallError) => void) | undefined
}

/**
 * Checks the JSON text of an answer, or of an event. What is not JSON is refused at every level, but for an event: part of its stream
 * has passed. The promise is only for an inspection that returns one.
 */
export const checkAnswer = (
  text: string,
  place: AnswerPlace,
  call: AnsweredCall,
  policy: AnswerPolicy & { status: number },
): CheckedAnswer | Promise<CheckedAnswer> => {
  const { level, inspect, warn, status } = policy
  const body = parse(text)
  if (body !== undefined && !readsAnswers(policy)) return undefined
  const read = body === undefined ? { fault: 'the body must be JSON' } : readBody(text, body.value, call, place)
  if ('fault' in read) {
    const error: CallError = { kind: 'invalid-response', status, detail: read.fault }
    if (level === 'enforce' || (body === undefined && place !== 'event')) return error
    if (level === 'warn') warn(error, place)
    return undefined
  }
  const hasOtherId = level !== 'off' && call.binding === 'JSONRPC' && !hasId(text, body?.value, call.id)
  const isRestored = hasOtherId && level === 'enforce'
  const inspected = inspect?.(read, place)
  if (hasOtherId && level === 'warn')
    warn({ kind: 'invalid-response', status, detail: 'id must be that of the call' }, place)
  const rewrite = (decision: Inspected): CheckedAnswer => {
    if (decision !== undefined && 'kind' in decision) return decision
    return isRestored || decision ? rewriteAnswer(text, call, status, decision?.list) : undefined
  }
  return inspected instanceof Promise ? inspected.then(rewrite) : rewrite(inspected)
}

/** Checks the data of an event, which is undefined if the event is too large to be read. */
export const checkEvent = (
  data: string | undefined,
  call: AnsweredCall,
  policy: AnswerPolicy & { status: number },
): CheckedAnswer | Promise<CheckedAnswer> => {
  if (data !== undefined) return checkAnswer(data, 'event', call, policy)
  const error: CallError = { kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES }
  if (policy.level === 'enforce') return error
  if (policy.level === 'warn') policy.warn(error, 'event')
  return undefined
}

/** Whether answers must be read: if they are not checked, being JSON is enough. */
export const readsAnswers = ({ level, inspect }: AnswerPolicy): boolean => level !== 'off' || inspect !== undefined

const parse = (text: string): { value: unknown } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Readers of JSON have limits, too, and some crash beyond them. */
const readBody = (text: string, body: unknown, call: AnsweredCall, place: AnswerPlace): ReadResult =>
  isDeeperThan(text, MAX_JSON_DEPTH)
    ? { fault: `the body must not nest deeper than ${MAX_JSON_DEPTH} levels` }
    : readResult(call, body, place)

/** Compares the ids as they are written where JavaScript would round them. */
const hasId = (text: string, body: unknown, id: Json): boolean => {
  const answered = (body as { id?: Json }).id
  if (typeof id === 'string' || id === null || Number.isSafeInteger(id)) return answered === id
  const lossless = parseJsonLossless(text)
  return 'value' in lossless && isJsonObject(lossless.value) && JSON.stringify(lossless.value.id) === JSON.stringify(id)
}

/** Writes an answer again, with every number as the agent wrote it: with the caller's id, and with the visible part of a list. */
const rewriteAnswer = (
  text: string,
  { binding, id }: AnsweredCall,
  status: number,
  visible: VisibleTasks | undefined,
): CheckedAnswer => {
  const parsed = parseJsonLossless(text)
  if (!('value' in parsed) || !isJsonObject(parsed.value)) return { kind: 'invalid-response', status }
  const { value } = parsed
  if (binding !== 'JSONRPC') return { text: JSON.stringify(visible ? writeVisible(value, visible) : value) }
  const result = visible && isJsonObject(value.result) ? writeVisible(value.result, visible) : value.result
  return { text: JSON.stringify({ ...value, id, ...(result !== undefined && { result }) }) }
}

/** Leaves out what the specification does not name, which could be about other tasks. */
const writeVisible = ({ tasks }: JsonObject, { ids, ...page }: VisibleTasks): JsonObject => ({
  tasks: Array.isArray(tasks)
    ? tasks.filter(task => isJsonObject(task) && typeof task.id === 'string' && ids.has(task.id))
    : [],
  ...page,
})
