import {
  type AnswerPlace,
  type Form,
  formOfResult,
  isPlainObject,
  isRestError,
  type OperationName,
  operations,
  parseJsonLossless,
  type ResultName,
  resultKinds,
  resultNames,
  wrappers,
} from '../../a2a/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../json/index.ts'
import type { AnsweredCall } from './request.ts'

/** A correction of an answer whose meaning is certain, by its name in `Gate-Warning` and the log: mostly the member. */
export type AnswerRepair =
  | 'content-type'
  | 'context'
  | 'end-of-stream'
  | 'error'
  | 'final'
  | 'id'
  | 'jsonrpc'
  | 'kind'
  | 'message'
  | 'record-separator'
  | 'role'
  | 'stack-trace'
  | 'state'
  | 'wrapper'

/** A task that a stream has named, for updates that leave out its context. */
type StreamTask = { id: string; contextId: string }

/**
 * Repairs mistakes of agents in the field, with every number as the agent wrote it. Returns undefined if there are
 * none. The result may still not be A2A. Its text is empty for an event without data, which is left out.
 */
export const repairAnswer = (
  text: string,
  place: AnswerPlace,
  call: AnsweredCall,
  task?: StreamTask,
): { text: string; repairs: readonly AnswerRepair[] } | undefined => {
  const json = withoutSeparators(text)
  if (place === 'event' && /^\s*(?:\[DONE\]\s*)?$/.test(json)) return { text: '', repairs: ['end-of-stream'] }
  const separated: readonly AnswerRepair[] = json === text ? [] : ['record-separator']
  const parsed = parseJsonLossless(json)
  if (!('value' in parsed)) return undefined
  const repairs = new Set(separated)
  const { value } = parsed
  const repairing = { call, task, repairs }
  const repairBody = call.binding === 'JSONRPC' ? repairJsonRpc : isRestError(value, place) ? repairError : repairResult
  const repaired = isJsonObject(value) ? repairBody(value, repairing) : value
  if (repairs.size === 0) return undefined
  return { text: repairs.size > separated.length ? JSON.stringify(repaired) : json, repairs: [...repairs] }
}

/** The call that an answer is for, and its repairs so far. */
type Repairing = { call: AnsweredCall; task?: StreamTask | undefined; repairs: Set<AnswerRepair> }

/** The repairs of a result in a form. */
type ResultRepairing = Repairing & { form: Form }

/** The character with which some servers mark each JSON text of a stream (RFC 7464). */
const RECORD_SEPARATOR = '\u001e'

/** Removes the record separators before and after a text, with a byte order mark before them. */
const withoutSeparators = (text: string): string => {
  const first = text.startsWith('\ufeff') ? 1 : 0
  let start = first
  while (text[start] === RECORD_SEPARATOR) start++
  const last = text.trimEnd().length
  let end = last
  while (end > start && text[end - 1] === RECORD_SEPARATOR) end--
  return text.slice(start > first ? start : 0, end < last ? end : undefined)
}

const repairJsonRpc = (body: JsonObject, repairing: Repairing): JsonObject => {
  const { repairs } = repairing
  const { result, error } = body
  const envelope = body.jsonrpc === undefined ? { jsonrpc: '2.0', ...body } : body
  if (body.jsonrpc === undefined) repairs.add('jsonrpc')
  if (isJsonObject(error)) return repairError(envelope, repairing)
  if (!isJsonObject(result) || (error ?? null) !== null) return envelope
  const repaired = repairResult(result, repairing)
  if (error === undefined) return { ...envelope, result: repaired }
  // Serializers write every member of a response, and some clients take one with an error for that.
  repairs.add('error')
  return { ...omit(envelope, 'error'), result: repaired }
}

/** Removes the members in which servers show their code, from an error and from what is beside it. */
const repairError = (body: JsonObject, repairing: Repairing): JsonObject => {
  const entries = jsonEntries(body)
  const kept = entries.filter(([name]) => name !== 'stack' && name !== 'stackTrace')
  if (kept.length < entries.length) repairing.repairs.add('stack-trace')
  return Object.fromEntries(kept.map(([name, value]) => [name, repairErrorValue(value, repairing)]))
}

const repairErrorValue = (value: Json, repairing: Repairing): Json => {
  if (Array.isArray(value)) return value.map(item => repairErrorValue(item, repairing))
  return isPlainObject(value) ? repairError(value, repairing) : value
}

// Results

/** Returns the objects that the result of an operation can be; none for others, of which nothing is repaired. */
const namesOf = (operation: OperationName): readonly ResultName[] => {
  if (operation === 'getTask' || operation === 'cancel') return ['task']
  if (operation === 'send') return ['task', 'message']
  return operations[operation].streams ? resultNames : []
}

const repairResult = (result: JsonObject, given: Repairing): JsonObject => {
  const repairing = { ...given, form: formOfResult(given.call, result) }
  const { operation } = given.call
  const { tasks } = result
  if (operation === 'listTasks' && Array.isArray(tasks))
    return { ...result, tasks: mapObjects(tasks, task => repairTask(task, repairing)) }
  const names = namesOf(operation)
  if (names.length === 0) return result
  if (repairing.form === 'json-0.3') return repairKinds(result, names, repairing)
  return names.length > 1 ? repairWrapped(result, names, repairing) : repairBare(result, repairing)
}

const repairKinds = (result: JsonObject, names: readonly ResultName[], repairing: ResultRepairing): JsonObject => {
  const isNamed = (result.kind ?? null) !== null
  const name = isNamed ? names.find(each => resultKinds[each] === result.kind) : recognize(result, names)
  if (name === undefined) return result
  const repaired = repairers[name](result, repairing)
  if (isNamed) return repaired
  repairing.repairs.add('kind')
  return { ...repaired, kind: resultKinds[name] }
}

/** ProtoJSON has a result that can be several objects as a member with the name of one. */
const repairWrapped = (result: JsonObject, names: readonly ResultName[], repairing: ResultRepairing): JsonObject => {
  for (const [wrapper, name] of wrappers) {
    const object = result[wrapper]
    if (isJsonObject(object)) return { ...result, [wrapper]: repairers[name](object, repairing) }
  }
  // Only 0.3 has `kind`.
  const bare = result.kind === undefined ? recognize(result, names) : undefined
  if (bare === undefined) return result
  repairing.repairs.add('wrapper')
  return { [bare]: repairers[bare](result, repairing) }
}

/** A task that is the only thing an operation returns is not wrapped. */
const repairBare = (result: JsonObject, repairing: ResultRepairing): JsonObject => {
  const { task } = result
  if (!isJsonObject(task) || Object.keys(result).length > 1) return repairTask(result, repairing)
  repairing.repairs.add('wrapper')
  return repairTask(task, repairing)
}

/** Recognizes an object by its members, where it can be one only. */
const recognize = (object: JsonObject, names: readonly ResultName[]): ResultName | undefined => {
  const has = (member: string) => (object[member] ?? null) !== null
  const isUpdate = has('taskId') || has('task_id')
  const found: ResultName[] = []
  // An update of 0.1 has the id of its task as `id`.
  if (typeof object.id === 'string' && isJsonObject(object.status) && !isUpdate && !has('final')) found.push('task')
  if (typeof object.role === 'string' && (Array.isArray(object.parts) || Array.isArray(object.content)))
    found.push('message')
  if (isUpdate && isJsonObject(object.status) && !has('id')) found.push('statusUpdate')
  if (isUpdate && isJsonObject(object.artifact) && !has('id')) found.push('artifactUpdate')
  const [name] = found
  return name !== undefined && found.length === 1 && names.includes(name) ? name : undefined
}

// Objects

const repairTask = (task: JsonObject, repairing: ResultRepairing): JsonObject => ({
  ...repairStatusOf(task, repairing),
  ...(Array.isArray(task.artifacts) && {
    artifacts: mapObjects(task.artifacts, artifact => repairParts(artifact, repairing)),
  }),
  ...(Array.isArray(task.history) && {
    history: mapObjects(task.history, message => repairMessage(message, repairing)),
  }),
})

const mapObjects = (items: Json[], repair: (object: JsonObject) => JsonObject): Json[] =>
  items.map(item => (isJsonObject(item) ? repair(item) : item))

const repairMessage = (message: JsonObject, repairing: ResultRepairing): JsonObject => {
  const { form, repairs } = repairing
  const isUnnamed = (message.messageId ?? message.message_id ?? null) === null
  const isAssistant = form === 'json-0.3' && message.role === 'assistant'
  const lacksKind = form === 'json-0.3' && (message.kind ?? null) === null
  if (isUnnamed) repairs.add('message')
  if (isAssistant) repairs.add('role')
  if (lacksKind) repairs.add('kind')
  return {
    ...repairParts(message, repairing),
    ...(isUnnamed && { messageId: crypto.randomUUID() }),
    ...(isAssistant && { role: 'agent' }),
    ...(lacksKind && { kind: 'message' }),
  }
}

/** Adds the kinds of the parts of a message or an artifact, by which some clients of 0.3 distinguish them. */
const repairParts = (object: JsonObject, { form, repairs }: ResultRepairing): JsonObject => {
  if (form !== 'json-0.3' || !Array.isArray(object.parts)) return object
  const parts = mapObjects(object.parts, part => {
    const present = PART_KINDS.filter(kind => (part[kind] ?? null) !== null)
    if ((part.kind ?? null) !== null || present.length !== 1) return part
    repairs.add('kind')
    return { ...part, kind: present[0] }
  })
  return { ...object, parts }
}

const PART_KINDS = ['text', 'data', 'file'] as const

/** Adds the context of its task to an update, which the official .NET server leaves empty. */
const repairContext = (update: JsonObject, { task, repairs }: ResultRepairing): JsonObject => {
  if (task === undefined || (update.taskId ?? update.task_id) !== task.id) return update
  if ((update.contextId ?? update.context_id ?? '') !== '') return update
  repairs.add('context')
  return { ...omit(update, 'context_id'), contextId: task.contextId }
}

const repairers: Readonly<Record<ResultName, (object: JsonObject, repairing: ResultRepairing) => JsonObject>> = {
  task: repairTask,
  message: repairMessage,
  statusUpdate: (update, repairing) => {
    const { form, repairs } = repairing
    const repaired = repairContext(repairStatusOf(update, repairing), repairing)
    if (form !== 'json-0.3' || (update.final ?? null) !== null) return repaired
    repairs.add('final')
    return { ...repaired, final: false }
  },
  artifactUpdate: (update, repairing) => {
    const { artifact } = update
    const repaired = isJsonObject(artifact) ? { ...update, artifact: repairParts(artifact, repairing) } : update
    return repairContext(repaired, repairing)
  },
}

/** Repairs the status of a task or an update. */
const repairStatusOf = (object: JsonObject, repairing: ResultRepairing): JsonObject => {
  const { form, repairs } = repairing
  const { status } = object
  if (!isJsonObject(status)) return object
  const { state, message } = status
  const normalized = typeof state === 'string' ? normalizeState(state, form) : state
  if (normalized !== state) repairs.add('state')
  const repaired = normalized === undefined ? status : { ...status, state: normalized }
  if (isJsonObject(message)) return { ...object, status: { ...repaired, message: repairMessage(message, repairing) } }
  if (typeof message !== 'string') return { ...object, status: repaired }
  repairs.add('message')
  const rest = omit(repaired, 'message')
  return { ...object, status: message === '' ? rest : { ...rest, message: textMessage(message, form) } }
}

/** Writes a state with the hyphens and the one L or two of its version. */
const normalizeState = (state: string, form: Form): string => {
  if (form === 'proto-0.3') return state === 'TASK_STATE_CANCELED' ? 'TASK_STATE_CANCELLED' : state
  if (form === 'proto-1.0') return state === 'TASK_STATE_CANCELLED' ? 'TASK_STATE_CANCELED' : state
  return state === 'cancelled' ? 'canceled' : /^(?:input|auth)_required$/.test(state) ? state.replace('_', '-') : state
}

const textMessage = (text: string, form: Form): JsonObject => {
  const messageId = crypto.randomUUID()
  if (form === 'json-0.3') return { kind: 'message', messageId, role: 'agent', parts: [{ kind: 'text', text }] }
  return { messageId, role: 'ROLE_AGENT', [form === 'proto-0.3' ? 'content' : 'parts']: [{ text }] }
}
