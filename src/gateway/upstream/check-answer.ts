import {
  type AnswerPlace,
  type CallError,
  type CheckedAnswer,
  type Inspected,
  operations,
  parseJsonLossless,
  type ReadResult,
  type ResultFacts,
  readResult,
  type VisibleTasks,
} from '../../a2a/index.ts'
import type { CallProfile } from '../../card/index.ts'
import {
  hasDuplicateName,
  isDeeperThan,
  isJsonObject,
  isPlainObject,
  type Json,
  type JsonObject,
  mapMembers,
  toText,
} from '../../json/index.ts'
import { MAX_EVENT_BYTES, MAX_JSON_DEPTH } from '../../limits.ts'
import type { AnswerRepair } from './repair-answer.ts'
import type { AnsweredCall } from './request.ts'

/** The checks of answers. */
export type AnswerPolicy = {
  level: CallProfile['gate'][keyof CallProfile['gate']]
  /** Sees the facts of each answer and event before it passes on, whatever the level. */
  inspect?: ((facts: ResultFacts, place: AnswerPlace) => Inspected | Promise<Inspected>) | undefined
  /** Receives the errors that the level `warn` finds. */
  warn: (error: CallError, place: AnswerPlace) => void
  /** Receives the repairs of an answer. */
  onRepair?: ((repairs: readonly AnswerRepair[], place: AnswerPlace) => void) | undefined
  /** Called for an error with a stack trace that passes because the level is `warn`. */
  onStackTrace?: ((place: AnswerPlace) => void) | undefined
  /** The first task that a stream named with its context. */
  stream?: { task?: { id: string; contextId: string } } | undefined
  /** Receives the error with which this host ends a stream. */
  onStreamError?: ((error: CallError) => void) | undefined
}

/** The check of an answer: the call that it is for, its place, the status of the response, and the policy. */
type AnswerCheck = AnswerPolicy & { call: AnsweredCall; place: AnswerPlace; status: number }
type Checking = CheckedAnswer | Promise<CheckedAnswer>

/**
 * Checks the JSON text of an answer, or of an event. Text that is not JSON is refused at every level, but for an event:
 * part of its stream has passed. The text that replaces an event is empty if it is left out. The promise is for
 * repairs, and for an inspection that returns one.
 */
export const checkAnswer = (text: string, check: AnswerCheck): Checking => {
  const checked = checkUnredacted(text, check)
  const { needs, http } = operations[check.call.operation]
  if (needs !== 'pushNotifications' || !http[0].includes('GET')) return checked
  const redact = (answer: CheckedAnswer) => redactPushConfigs(answer, text, check.status)
  return checked instanceof Promise ? checked.then(redact) : redact(checked)
}

/**
 * Removes the secrets from push configurations that are read back, at every level: callers who know the id of a task
 * could read them (https://github.com/a2aproject/A2A/issues/1988). Numbers stay as the agent wrote them.
 */
const redactPushConfigs = (checked: CheckedAnswer, text: string, status: number): CheckedAnswer => {
  if (checked !== undefined && 'kind' in checked) return checked
  const parsed = parseJsonLossless(checked?.text ?? text)
  if ('kind' in parsed) return { kind: 'invalid-response', status, detail: 'the body must be JSON' }
  return { ...checked, text: JSON.stringify(withoutSecrets(parsed.value)) }
}

const withoutSecrets = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (!isPlainObject(value)) return value
  return mapMembers(value, (each, name) => (/^(?:token|credentials)$/i.test(name) ? undefined : withoutSecrets(each)))
}

const checkUnredacted = (text: string, check: AnswerCheck): Checking => {
  if (!readsAnswers(check)) {
    if (check.place === 'event' || parse(text) !== undefined) return undefined
    return { kind: 'invalid-response', status: check.status, detail: NOT_JSON.fault }
  }
  const answer = readAnswer(text, check)
  return check.level !== 'off' && mayNeedRepair(answer.read, check)
    ? repairAndDecide(answer, check)
    : decide(answer, check)
}

/** Finds answers that are not A2A, errors, which may have a stack trace, and those that lack what some clients need. */
const mayNeedRepair = (read: ReadResult, { level, stream }: AnswerPolicy): boolean => {
  if ('fault' in read) return level === 'enforce'
  if (read.kind === 'error') return true
  const [task] = read.tasks
  const lacksContext = task !== undefined && task.contextId === undefined && task.id === stream?.task?.id
  return level === 'enforce' && (lacksContext || read.lacksKinds === true)
}

/** An answer as it was read, and what was repaired before that. */
type Answer = { text: string; value: unknown; read: ReadResult; repairs: readonly AnswerRepair[] }

const NOT_JSON = { fault: 'the body must be JSON' }

const readAnswer = (text: string, check: AnswerCheck, repairs: readonly AnswerRepair[] = []): Answer => {
  const body = parse(text)
  return { text, value: body?.value, read: body ? readBody(text, body.value, check) : NOT_JSON, repairs }
}

/** Loaded on first use, because few agents need it. */
const repairAndDecide = async (answer: Answer, check: AnswerCheck): Promise<CheckedAnswer> => {
  const { repairAnswer } = await import('./repair-answer.ts')
  const { level, place } = check
  const repaired = repairAnswer(answer.text, place, check.call, check.stream?.task)
  if (repaired && level === 'warn') check.onStackTrace?.(place)
  if (repaired === undefined || level === 'warn') return decide(answer, check)
  if (repaired.text === '') {
    check.onRepair?.(repaired.repairs, place)
    return { text: '' }
  }
  const reread = readAnswer(repaired.text, check, repaired.repairs)
  return decide('fault' in reread.read ? answer : reread, check)
}

const decide = ({ text, value, read, repairs }: Answer, check: AnswerCheck): Checking => {
  const { level, inspect, warn, status, stream, place, call } = check
  if ('fault' in read) {
    const error: CallError = { kind: 'invalid-response', status, detail: read.fault }
    if (level === 'enforce' || (read === NOT_JSON && place !== 'event')) return error
    if (level === 'warn') warn(error, place)
    return undefined
  }
  const [task] = read.tasks
  if (stream && task?.contextId !== undefined) stream.task ??= { id: task.id, contextId: task.contextId }
  const hasOtherId = level !== 'off' && call.binding === 'JSONRPC' && !hasId(text, value, call.id)
  const isRestored = hasOtherId && level === 'enforce'
  const inspected = inspect?.(read, place)
  if (hasOtherId && level === 'warn')
    warn({ kind: 'invalid-response', status, detail: 'id must be that of the call' }, place)
  const rewrite = (decision: Inspected): CheckedAnswer => {
    if (decision !== undefined && 'kind' in decision) return decision
    const made: readonly AnswerRepair[] = isRestored ? [...repairs, 'id'] : repairs
    if (made.length > 0) check.onRepair?.(made, place)
    if (isRestored || decision) return rewriteAnswer(text, call, status, decision?.list)
    return repairs.length > 0 ? { text } : undefined
  }
  return inspected instanceof Promise ? inspected.then(rewrite) : rewrite(inspected)
}

/** Checks the data of an event, which is undefined if the event is too large to be read. */
export const checkEvent = (data: string | undefined, check: AnswerCheck): Checking => {
  if (data !== undefined) return checkAnswer(data, check)
  const error: CallError = { kind: 'response-too-large', maxBytes: MAX_EVENT_BYTES }
  if (check.level === 'enforce') return error
  if (check.level === 'warn') check.warn(error, 'event')
  return undefined
}

/** Checks whether answers must be read: if they are not checked, being JSON is enough. */
export const readsAnswers = ({ level, inspect }: AnswerPolicy): boolean => level !== 'off' || inspect !== undefined

const parse = (text: string): { value: Json } | undefined => {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Rejects bodies that callers may read in another way: their parsers have limits, too, and may take another value. */
const readBody = (text: string, body: Json, { call, place }: AnswerCheck): ReadResult => {
  if (isDeeperThan(text, MAX_JSON_DEPTH))
    return { fault: `the body must not nest deeper than ${MAX_JSON_DEPTH} levels` }
  const read = readResult(call, body, place)
  const isAmbiguous = !('fault' in read) && hasDuplicateName(text, body)
  return isAmbiguous ? { fault: 'the body must not have a name twice in one object' } : read
}

/** Compares the ids as they are written where JavaScript would round them. */
const hasId = (text: string, body: unknown, id: Json): boolean => {
  const answered = (body as { id?: Json }).id
  if (typeof id === 'string' || id === null || Number.isSafeInteger(id)) return answered === id
  const lossless = parseJsonLossless(text)
  return 'value' in lossless && isJsonObject(lossless.value) && JSON.stringify(lossless.value.id) === JSON.stringify(id)
}

/** Writes an answer again, with every number as the agent wrote it, the caller's id, and the visible part of a list. */
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

/** Leaves out members that the specification does not name, which could be about other tasks. */
const writeVisible = ({ tasks }: JsonObject, { ids, ...page }: VisibleTasks): JsonObject => ({
  tasks: (Array.isArray(tasks) ? tasks : []).filter(task => isJsonObject(task) && ids.has(toText(task.id))),
  ...page,
})
