import { isJsonObject, isPlainObject, type Json, type JsonObject, mapMembers, omit, toText } from '../json/index.ts'
import { parseJsonLossless } from './jsonrpc.ts'
import type { ObjectName, ResultName, Shape } from './objects/index.ts'
import { isObjectName, resultKinds, shapeOfResult, wrappers } from './objects/index.ts'
import { type A2ACall, operations } from './operations.ts'
import type { AnsweredCall, AnswerPlace, CheckedAnswer, VisibleTasks } from './read-result.ts'
import { isRestError, NOT_JSON } from './read-result.ts'

/** A correction of an answer whose meaning is certain, by its name in `Gate-Warning` and the log: mostly the member. */
export type AnswerRepair =
  | ('content-type' | 'end-of-stream' | 'record-separator')
  | ('error' | 'id' | 'jsonrpc' | 'stack-trace' | 'wrapper')
  | ('context' | 'final' | 'kind' | 'message' | 'role' | 'state')

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
type ResultRepairing = Repairing & { shape: Shape }

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

const repairJsonRpc = (body: JsonObject, repairing: Repairing): Json => {
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
const repairError = (value: Json, { repairs }: Repairing): Json =>
  withoutMembers(value, /^stack(?:Trace)?$/, () => repairs.add('stack-trace'))

// Results

const repairResult = (result: JsonObject, given: Repairing): JsonObject => {
  const repairing = { ...given, shape: shapeOfResult(given.call, result) }
  const { result: type } = operations[given.call.operation]
  if (typeof type === 'string') return result
  if ('list' in type) {
    const items = result[type.list]
    if (type.of === 'pushConfig' || !Array.isArray(items)) return result
    return { ...result, [type.list]: repairValue(type.of, items, repairing) }
  }
  const names = ('one' in type ? [type.one] : type.oneOf).filter(name => name !== 'pushConfig')
  const [name] = names
  if (name === undefined) return result
  if (repairing.shape.hasKinds) return repairKinds(result, names, repairing)
  return 'oneOf' in type ? repairWrapped(result, names, repairing) : repairBare(result, name, repairing)
}

const repairKinds = (result: JsonObject, names: readonly ResultName[], repairing: ResultRepairing): JsonObject => {
  const isNamed = (result.kind ?? null) !== null
  const name = isNamed ? names.find(each => resultKinds[each] === result.kind) : recognize(result, names)
  return name === undefined
    ? result
    : addMember(repairObject(name, result, repairing), 'kind', resultKinds[name], repairing)
}

/** ProtoJSON has a result that can be several objects as a member with the name of one. */
const repairWrapped = (result: JsonObject, names: readonly ResultName[], repairing: ResultRepairing): JsonObject => {
  for (const [wrapper, name] of wrappers) {
    const object = result[wrapper]
    if (isJsonObject(object)) return { ...result, [wrapper]: repairObject(name, object, repairing) }
  }
  // Only 0.3 has `kind`.
  const bare = result.kind === undefined ? recognize(result, names) : undefined
  if (bare === undefined) return result
  repairing.repairs.add('wrapper')
  return { [bare]: repairObject(bare, result, repairing) }
}

/** A task that is the only thing an operation returns is not wrapped. */
const repairBare = (result: JsonObject, name: ResultName, repairing: ResultRepairing): JsonObject => {
  const wrapped = result[name]
  if (!isJsonObject(wrapped) || Object.keys(result).length > 1) return repairObject(name, result, repairing)
  repairing.repairs.add('wrapper')
  return repairObject(name, wrapped, repairing)
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

type Repair = (object: JsonObject, repairing: ResultRepairing) => JsonObject

const repairValue = (name: ObjectName, value: Json, repairing: ResultRepairing): Json => {
  if (Array.isArray(value)) return value.map(item => (isJsonObject(item) ? repairObject(name, item, repairing) : item))
  return isJsonObject(value) ? repairObject(name, value, repairing) : value
}

/** Repairs an object, and the states and objects in it. */
const repairObject = (name: ObjectName, object: JsonObject, repairing: ResultRepairing): JsonObject => {
  const repaired = { ...(firstRepairs[name]?.(object, repairing) ?? object) }
  for (const { key, is, list = false } of repairing.shape.members[name].values()) {
    const value = repaired[key] ?? null
    if (is === 'state' && typeof value === 'string') repaired[key] = repairState(value, repairing)
    else if (isObjectName(is) && value !== null && Array.isArray(value) === list)
      repaired[key] = repairValue(is, value, repairing)
  }
  return lastRepairs[name]?.(repaired, repairing) ?? repaired
}

const addMember = (object: JsonObject, name: 'kind' | 'final', value: Json, { repairs }: Repairing) => {
  if ((object[name] ?? null) !== null) return object
  repairs.add(name)
  return { ...object, [name]: value }
}

/** Adds the kind of a part, by which some clients of 0.3 distinguish them. */
const repairPart: Repair = (part, repairing) => {
  const { hasKinds, contents } = repairing.shape
  const [kind, other] = contents.filter(each => (part[each] ?? null) !== null)
  return hasKinds && kind !== undefined && other === undefined ? addMember(part, 'kind', kind, repairing) : part
}

const repairMessage: Repair = (message, repairing) => {
  const { shape, repairs } = repairing
  const repaired = { ...message }
  if ((message.messageId ?? message.message_id ?? null) === null) {
    repairs.add('message')
    repaired.messageId = crypto.randomUUID()
  }
  if (!shape.hasKinds) return repaired
  if (message.role === 'assistant') {
    repairs.add('role')
    repaired.role = shape.roles.at(-1)
  }
  return addMember(repaired, 'kind', 'message', repairing)
}

/** Adds the context of its task to an update, which the official .NET server leaves empty. */
const repairContext: Repair = (update, { task, repairs }) => {
  if (task === undefined || (update.taskId ?? update.task_id) !== task.id) return update
  if ((update.contextId ?? update.context_id ?? '') !== '') return update
  repairs.add('context')
  return { ...omit(update, 'context_id'), contextId: task.contextId }
}

/** Writes a state with the hyphens and the one L or two of its form. */
const repairState = (state: string, { shape, repairs }: ResultRepairing): string => {
  const spelled = normalizeState(state)
  const known = shape.taskStates.find(name => name !== undefined && normalizeState(name) === spelled) ?? state
  if (known !== state) repairs.add('state')
  return known
}

const normalizeState = (state: string): string =>
  state.replaceAll('_', '-').replace(/cancell/i, match => match.slice(0, -1))

/** Makes the text that some agents have in a status a message. */
const repairText: Repair = (status, { shape, repairs }) => {
  const { message: text } = status
  if (typeof text !== 'string') return status
  repairs.add('message')
  const rest = omit(status, 'message')
  if (text === '') return rest
  const { hasKinds, roles, parts } = shape
  const part = { ...(hasKinds && { kind: 'text' }), text }
  const kind = hasKinds && { kind: 'message' }
  return { ...rest, message: { ...kind, messageId: crypto.randomUUID(), role: roles.at(-1), [parts]: [part] } }
}

/** Adds whether an update ends the stream, which clients of 0.3 require. */
const repairUpdate: Repair = (update, repairing) => {
  const repaired = repairContext(update, repairing)
  return repairing.shape.hasKinds ? addMember(repaired, 'final', false, repairing) : repaired
}

/** The repairs of objects before those of what is in them, and after these. */
const firstRepairs: Readonly<Partial<Record<ObjectName, Repair>>> = { part: repairPart, message: repairMessage }
const lastRepairs: Readonly<Partial<Record<ObjectName, Repair>>> = {
  status: repairText,
  statusUpdate: repairUpdate,
  artifactUpdate: repairContext,
}

// Rewriting

/** Compares the ids as they are written where JavaScript would round them. */
export const hasId = (text: string, body: unknown, id: Json): boolean => {
  const answered = (body as { id?: Json }).id
  if (typeof id === 'string' || id === null || Number.isSafeInteger(id)) return answered === id
  const lossless = parseJsonLossless(text)
  return 'value' in lossless && isJsonObject(lossless.value) && JSON.stringify(lossless.value.id) === JSON.stringify(id)
}

/** Writes an answer again: every number as the agent wrote it, the caller's id, and the visible tasks of a list. */
export const rewriteAnswer = (
  text: string,
  { binding, id }: Pick<A2ACall, 'binding' | 'id'>,
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

/**
 * Removes the secrets from push configurations that are read back, at every level: callers who know the id of a task
 * could read them (https://github.com/a2aproject/A2A/issues/1988). Numbers stay as the agent wrote them.
 */
export const redactPushConfigs = (checked: CheckedAnswer, text: string, status: number): CheckedAnswer => {
  if (checked !== undefined && 'kind' in checked) return checked
  const parsed = parseJsonLossless(checked?.text ?? text)
  if ('kind' in parsed) return { kind: 'invalid-response', status, detail: NOT_JSON.fault }
  return { ...checked, text: JSON.stringify(withoutMembers(parsed.value, /^(?:token|credentials)$/i)) }
}

/** Removes the members of some names at any depth. */
const withoutMembers = (value: Json, names: RegExp, onRemoved?: () => void): Json => {
  if (Array.isArray(value)) return value.map(item => withoutMembers(item, names, onRemoved))
  if (!isPlainObject(value)) return value
  return mapMembers(value, (member, name) =>
    names.test(name) ? void onRemoved?.() : withoutMembers(member, names, onRemoved),
  )
}
