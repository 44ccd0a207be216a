import { versions, type WireVersion } from '../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/index.ts'
import type { CallError } from './call-error.ts'
import { addMediaTypes } from './message.ts'
import type { FormMember, ObjectName, ResultName, Shape } from './objects/index.ts'
import {
  checkBareError,
  checkCard,
  checkError,
  checks,
  forEachObject,
  forEachShape,
  isObjectName,
  namesInPushConfig,
  protoNames,
  readMember,
  readProto,
  readWrapped,
  resultKinds,
  shapeOfResult,
  wrappers,
} from './objects/index.ts'
import { type A2ACall, operations } from './operations.ts'

/** A task that an answer names, with its context if the answer has one; in a list, also its own media types. */
type NamedTask = { id: string; contextId?: string; mediaTypes?: readonly string[] }

/** The content of an answer or an event of an agent, as far as this host uses it. */
export type ResultFacts = {
  kind: ResultKind
  /** The tasks that the result is, lists or belongs to; not those that only its history or its references mention. */
  tasks: readonly NamedTask[]
  /** The contexts of these tasks, and that of a message without a task. */
  contexts: readonly string[]
  /** The media types of the parts in messages, status messages and artifacts, each once; not those of the history. */
  mediaTypes: readonly string[]
  /** An error's code, if it has one; over HTTP+JSON that is a status, and `reason` identifies the error. */
  error?: { code?: number; reason?: string }
  /** The token of the next page of a list of tasks, empty for none. */
  nextPageToken?: string
  /** Set if parts or inner messages leave out their `kind`, by which some clients of 0.3 distinguish them. */
  lacksKinds?: true
}

/** The part of a list of tasks that its caller may see: the tasks with these ids, and the other members of the list. */
export type VisibleTasks = { ids: ReadonlySet<string>; nextPageToken: string; pageSize: number; totalSize: number }

/** The decision about an answer: undefined if it passes, an error in its place, or the visible part of a task list. */
export type Inspected = CallError | { list: VisibleTasks } | undefined

/**
 * The result of a check: undefined if the answer passes, the text that replaces it (empty for an event that is left
 * out), or the error in its place. An event keeps its type, unless `eventType` replaces it.
 */
export type CheckedAnswer = { text: string; eventType?: 'message' | 'error' } | CallError | undefined

type ObjectKind = (typeof objectKinds)[ResultObject]
type ResultKind = ObjectKind | `${ObjectKind}-list` | 'card' | 'empty' | 'error'

const NOTHING: Omit<ResultFacts, 'kind'> = { tasks: [], contexts: [], mediaTypes: [] }

const objectKinds = { ...resultKinds, pushConfig: 'push-config' } as const
type ResultObject = keyof typeof objectKinds

/** The facts of an answer; or, if it is not A2A, the path in it and what must be there, without text of the agent. */
export type ReadResult = ResultFacts | { fault: string }

/** The fault of a body that is not JSON. */
export const NOT_JSON = { fault: 'the body must be JSON' }

/** The place of an answer: the body of a response, that of one with an error status, or the data of an event. */
export type AnswerPlace = 'response' | 'error-response' | 'event'

/** The call that an answer is for, as far as its form depends on it. */
export type AnsweredCall = Pick<A2ACall, 'operation' | 'version' | 'binding'>

/**
 * Reads the answer to a call from its parsed JSON: over JSON-RPC the response object, whose id is not checked; over
 * HTTP+JSON the body. `place` matters over HTTP+JSON alone, where the status of the response marks an error.
 */
export const readResult = (call: AnsweredCall, body: unknown, place: AnswerPlace = 'response'): ReadResult => {
  if (call.binding === 'JSONRPC') return readJsonRpcResult(call, body)
  return isRestError(body, place) ? readRestError(body, call.version) : readOperationResult(call, body)
}

const readJsonRpcResult = (call: AnsweredCall, body: unknown): ReadResult => {
  if (!isJsonObject(body)) return { fault: 'the response must be an object' }
  if (body.jsonrpc !== '2.0') return { fault: 'jsonrpc must be "2.0"' }
  const { result, error } = body
  // Official clients read a response with an error as that, and some servers add a result of null.
  if (error !== undefined && (result ?? undefined) !== undefined) return RESULT_AND_ERROR
  if (error !== undefined) return readError(error, checkError(error))
  // The official Python server of 0.3 leaves out a result that is null.
  const mayBeAbsent = operations[call.operation].result === 'none' && versions[call.version].hasKinds
  if (result === undefined && !mayBeAbsent) return { fault: 'result or error must be present' }
  return readOperationResult(call, result)
}

// Errors

const RESULT_AND_ERROR = { fault: 'result and error must not both be present' }

const readError = (error: unknown, fault: string | undefined): ReadResult => {
  if (fault !== undefined) return { fault: `error${fault}` }
  const { code, details } = error as { code?: number; details?: unknown }
  const reason = reasonOf(details)
  return {
    ...NOTHING,
    kind: 'error',
    error: { ...(code !== undefined && { code }), ...(reason !== undefined && { reason }) },
  }
}

/** Returns the reason in the google.rpc.ErrorInfo of an error. */
export const reasonOf = (details: unknown): string | undefined => {
  for (const detail of Array.isArray(details) ? details : [])
    if (isJsonObject(detail) && typeof detail.reason === 'string') return detail.reason
  return undefined
}

/** Checks whether a body of HTTP+JSON is an error: the status of a response shows it, and the members of an event. */
export const isRestError = (body: unknown, place: AnswerPlace): boolean =>
  place === 'error-response' ||
  (place === 'event' && isJsonObject(body) && (body.error !== undefined || typeof body.message === 'string'))

/** Reads a google.rpc.Status, or a bare error of 0.3. Rejects a result beside it, which nothing would check. */
const readRestError = (body: unknown, version: WireVersion): ReadResult => {
  if (!isJsonObject(body)) return { fault: 'error must be an object' }
  if (wrappers.some(([name]) => isJsonObject(body[name])) || Object.values<unknown>(resultKinds).includes(body.kind))
    return RESULT_AND_ERROR
  if (body.error !== undefined) return readError(body.error, checkError(body.error))
  return versions[version].errors === 'data'
    ? readError(body, checkBareError(body))
    : { fault: 'error must be present' }
}

// Results

const readOperationResult = (call: AnsweredCall, value: unknown): ReadResult => {
  const { result } = operations[call.operation]
  if (result === 'none')
    return (value ?? null) === null || (isJsonObject(value) && Object.keys(value).length === 0)
      ? { ...NOTHING, kind: 'empty' }
      : { fault: 'result must be empty' }
  if (result === 'card') {
    const fault = checkCard(value)
    return fault === undefined ? { ...NOTHING, kind: 'card' } : { fault: `result${fault}` }
  }
  const shape = shapeOfResult(call, value)
  if ('one' in result) return readOne(result.one, value, shape)
  return 'list' in result ? readList(result, value, shape) : readOneOf(result.oneOf, value, shape)
}

const readOne = (name: ResultObject, value: unknown, shape: Shape, path = 'result'): ReadResult => {
  const fault = checks[shape.form][name](value)
  if (fault !== undefined) return { fault: path + fault }
  const found: Found = { kind: objectKinds[name], tasks: [], contexts: [], mediaTypes: [] }
  addResult(found, value as JsonObject, places[shape.form][name], shape)
  if (found.mediaTypes.length > 1) found.mediaTypes = [...new Set(found.mediaTypes)]
  return found
}

/** Reads one of several objects: in the form with `kind` it is the value itself, in ProtoJSON its only member. */
const readOneOf = (names: readonly ResultObject[], value: unknown, shape: Shape): ReadResult => {
  if (!isJsonObject(value)) return { fault: 'result must be an object' }
  if (shape.hasKinds) {
    const name = names.find(each => objectKinds[each] === value.kind)
    return name === undefined
      ? { fault: `result.kind must be ${names.map(each => objectKinds[each]).join(' or ')}` }
      : readOne(name, value, shape)
  }
  let present: ResultName | undefined
  let count = 0
  for (const member in value) {
    const name = wrapped.get(member)
    if (name === undefined || name === present || !names.includes(name)) continue
    if (readWrapped(value, name, shape) === undefined) continue
    present = name
    count++
  }
  return present === undefined || count > 1
    ? { fault: `result must have one of ${names.join(', ')}` }
    : readOne(present, readWrapped(value, present, shape), shape, `result.${present}`)
}

const wrapped = new Map(wrappers)

/** Reads a list: in the form with `kind` the value itself, in ProtoJSON a member that is absent if it is empty. */
const readList = ({ list: member, of }: { list: string; of: ResultObject }, value: unknown, shape: Shape) => {
  const items = shape.hasKinds ? value : readItems(value, member)
  if (!Array.isArray(items)) return { fault: `result must have a list of ${member}` }
  const tasks: NamedTask[] = []
  const contexts = new Set<string>()
  const mediaTypes = new Set<string>()
  for (let index = 0; index < items.length; index++) {
    const item = readOne(of, items[index], shape, '')
    if ('fault' in item) return { fault: `result.${member}[${index}]${item.fault}` }
    for (const task of item.tasks) tasks.push({ ...task, mediaTypes: item.mediaTypes })
    for (const context of item.contexts) contexts.add(context)
    for (const type of item.mediaTypes) mediaTypes.add(type)
  }
  const kind = `${objectKinds[of]}-list` as const
  const facts: ResultFacts = { kind, tasks, contexts: [...contexts], mediaTypes: [...mediaTypes] }
  // ProtoJSON may leave out an empty token.
  const token = isJsonObject(value) ? readProto(value, 'nextPageToken') : undefined
  return of === 'task' ? { ...facts, nextPageToken: typeof token === 'string' ? token : '' } : facts
}

const PAGE_FIELDS = new Set(['nextPageToken', 'pageSize', 'totalSize'].flatMap(protoNames))

/** An object with other members than those of a page is no empty list. */
const readItems = (value: unknown, member: string): unknown => {
  if (!isJsonObject(value)) return undefined
  const items = value[member] ?? undefined
  return items === undefined && Object.keys(value).every(name => name === member || PAGE_FIELDS.has(name)) ? [] : items
}

// Facts

/** The members of an object that name its task and context, and that are objects: parts, or with parts in them. */
type Places = {
  task: FormMember | undefined
  context: FormMember | undefined
  objects: readonly (FormMember & Places)[]
}

/** Returns the places in an object, but for its past. */
const placesOf = (name: ObjectName, shape: Shape): Places => {
  const members = [...shape.members[name].values()].filter(({ isPast }) => !isPast)
  const find = (type: FormMember['is']) => members.find(({ is }) => is === type)
  const objects = members.flatMap(each => (isObjectName(each.is) ? { ...each, ...placesOf(each.is, shape) } : []))
  return { task: find('taskId'), context: find('contextId'), objects }
}

const places = forEachShape(shape => forEachObject(name => placesOf(name, shape)))

/** The facts of an object while it is read, which has passed its check. */
type Found = ResultFacts & { tasks: NamedTask[]; contexts: string[]; mediaTypes: string[] }

/** Adds the task and context of a result, and the media types in it. */
const addResult = (found: Found, object: JsonObject, own: Places, shape: Shape): void => {
  // Over HTTP, 0.3 names a push configuration as a resource of its task.
  const id = own.task
    ? readMember(object, own.task)
    : (readProto(object, 'taskId') ?? namesInPushConfig(object.name).taskId)
  const contextId = readMember(object, own.context)
  const context = typeof contextId === 'string' && contextId !== '' ? contextId : undefined
  if (typeof id === 'string' && id !== '') found.tasks.push(context === undefined ? { id } : { id, contextId: context })
  if (context !== undefined) found.contexts.push(context)
  for (const member of own.objects) addParts(found, readMember(object, member), member, shape)
}

/** Adds the media types of a part, or of the parts of an object or a list, at any depth. */
const addParts = (found: Found, value: Json | undefined, place: Places['objects'][number], shape: Shape): void => {
  if (Array.isArray(value)) for (const item of value) addParts(found, item, place, shape)
  if (!isJsonObject(value)) return
  const { is, objects } = place
  if (is === 'part') addMediaTypes(found.mediaTypes, value, shape.version)
  if (shape.hasKinds && (is === 'part' || is === 'message') && (value.kind ?? null) === null) found.lacksKinds = true
  for (const member of objects) addParts(found, readMember(value, member), member, shape)
}
