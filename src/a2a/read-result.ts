import type { WireVersion } from '../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../json/index.ts'
import type { CallError } from './call-error.ts'
import {
  type Check,
  checkBareError,
  checkCard,
  checkError,
  type Form,
  formOfResult,
  protoNames,
  readProto,
  readWrapped,
  resultKinds,
  resultNames,
  type Shapes,
  shapes,
  wrappers,
} from './forms.ts'
import { partMediaTypes } from './message.ts'
import type { A2ACall, OperationName } from './operations.ts'

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

type ResultKind = (typeof objectKinds)[ObjectName] | 'task-list' | 'push-config-list' | 'card' | 'empty' | 'error'

const NOTHING: Omit<ResultFacts, 'kind'> = { tasks: [], contexts: [], mediaTypes: [] }

const objectKinds = { ...resultKinds, pushConfig: 'push-config' } as const
type ObjectName = keyof typeof objectKinds

/** The facts of an answer; or, if it is not A2A, the path in it and what must be there, without text of the agent. */
export type ReadResult = ResultFacts | { fault: string }

/** The place of an answer: the body of a response, that of one with an error status, or the data of an event. */
export type AnswerPlace = 'response' | 'error-response' | 'event'

type AnsweredCall = Pick<A2ACall, 'operation' | 'version' | 'binding'>

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
  if (error !== undefined) return readError(error, checkError)
  // The official Python server of 0.3 leaves out a result that is null.
  const mayBeAbsent = call.operation === 'deletePushConfig' && call.version === '0.3'
  if (result === undefined && !mayBeAbsent) return { fault: 'result or error must be present' }
  return readOperationResult(call, result)
}

// Errors

const RESULT_AND_ERROR = { fault: 'result and error must not both be present' }

const readError = (error: unknown, check: Check): ReadResult => {
  const fault = check(error)
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
  if (body.error !== undefined) return readError(body.error, checkError)
  return version === '0.3' ? readError(body, checkBareError) : { fault: 'error must be present' }
}

// Results

type Answer = { value: unknown; form: Form }
type ResultReader = (answer: Answer) => ReadResult

const readOperationResult = (call: AnsweredCall, value: unknown): ReadResult =>
  resultReaders[call.operation]({ value, form: formOfResult(call, value) })

const readOne = (name: ObjectName, { value, form }: Answer): ReadResult => {
  const fault = shapes[form][name](value)
  if (fault !== undefined) return { fault: `result${fault}` }
  const found = new FoundFacts()
  collectors[name](value as JsonObject, shapes[form], found)
  return found.toFacts(objectKinds[name])
}

/** Reads one of several objects: in the form with `kind` it is the value itself, in ProtoJSON its only member. */
const oneOf = (...names: ObjectName[]): ResultReader => {
  const byKind = new Map<unknown, ObjectName>(names.map(name => [objectKinds[name], name]))
  return ({ value, form }) => {
    if (!isJsonObject(value)) return { fault: 'result must be an object' }
    if (form === 'json-0.3') {
      const name = byKind.get(value.kind)
      return name === undefined
        ? { fault: `result.kind must be ${[...byKind.keys()].join(' or ')}` }
        : readOne(name, { value, form })
    }
    const present = names.filter(name => readWrapped(value, name, form) !== undefined)
    const [name] = present
    if (name === undefined || present.length > 1) return { fault: `result must have one of ${names.join(', ')}` }
    const read = readOne(name, { value: readWrapped(value, name, form), form })
    return 'fault' in read ? { fault: read.fault.replace('result', `result.${name}`) } : read
  }
}

/** Reads a list: in the form with `kind` the value itself, in ProtoJSON a member that is absent if it is empty. */
const listOf =
  (member: string, name: ObjectName, kind: ResultKind): ResultReader =>
  ({ value, form }) => {
    const items = form === 'json-0.3' ? value : readList(value, member)
    if (!Array.isArray(items)) return { fault: `result must have a list of ${member}` }
    const found = new FoundFacts()
    for (let index = 0; index < items.length; index++) {
      const fault = shapes[form][name](items[index])
      if (fault !== undefined) return { fault: `result.${member}[${index}]${fault}` }
      const item = new FoundFacts()
      collectors[name](items[index], shapes[form], item)
      found.addItem(item.toFacts(kind))
    }
    const facts = found.toFacts(kind)
    // ProtoJSON may leave out an empty token.
    const token = isJsonObject(value) ? readProto(value, 'nextPageToken') : undefined
    return kind === 'task-list' ? { ...facts, nextPageToken: typeof token === 'string' ? token : '' } : facts
  }

const PAGE_FIELDS = new Set(['nextPageToken', 'pageSize', 'totalSize'].flatMap(protoNames))

/** An object with other members than those of a page is no empty list. */
const readList = (value: unknown, member: string): unknown => {
  if (!isJsonObject(value)) return undefined
  const items = value[member] ?? undefined
  return items === undefined && Object.keys(value).every(name => name === member || PAGE_FIELDS.has(name)) ? [] : items
}

const events = oneOf(...resultNames)

const resultReaders: Readonly<Record<OperationName, ResultReader>> = {
  send: oneOf('task', 'message'),
  stream: events,
  getTask: answer => readOne('task', answer),
  listTasks: listOf('tasks', 'task', 'task-list'),
  cancel: answer => readOne('task', answer),
  resubscribe: events,
  createPushConfig: answer => readOne('pushConfig', answer),
  getPushConfig: answer => readOne('pushConfig', answer),
  listPushConfigs: listOf('configs', 'pushConfig', 'push-config-list'),
  deletePushConfig: ({ value }) =>
    (value ?? null) === null || (isJsonObject(value) && Object.keys(value).length === 0)
      ? { ...NOTHING, kind: 'empty' }
      : { fault: 'result must be empty' },
  extendedCard: ({ value }) => {
    const fault = checkCard(value)
    return fault === undefined ? { ...NOTHING, kind: 'card' } : { fault: `result${fault}` }
  },
}

// Facts

/** Collects the facts of the objects in one answer. */
class FoundFacts {
  readonly #tasks: NamedTask[] = []
  readonly #contexts = new Set<string>()
  readonly #mediaTypes = new Set<string>()
  #lacksKinds = false

  addTask(id: Json | undefined, contextId: Json | undefined): void {
    const context = typeof contextId === 'string' && contextId !== '' ? contextId : undefined
    if (typeof id === 'string' && id !== '')
      this.#tasks.push(context === undefined ? { id } : { id, contextId: context })
    if (context !== undefined) this.#contexts.add(context)
  }

  /** Adds the media types of the parts of a message or an artifact. */
  addParts(object: Json | undefined, member: string, { form, version }: Shapes): void {
    const parts = isJsonObject(object) ? object[member] : undefined
    if (!Array.isArray(parts)) return
    for (const part of parts) {
      for (const type of partMediaTypes(part, version)) this.#mediaTypes.add(type)
      if (form === 'json-0.3') this.#checkKind(part)
    }
  }

  addStatus({ status }: JsonObject, shape: Shapes): void {
    if (!isJsonObject(status)) return
    this.addParts(status.message, shape.messageParts, shape)
    if (shape.form === 'json-0.3' && isJsonObject(status.message)) this.#checkKind(status.message)
  }

  #checkKind(object: Json): void {
    if (isJsonObject(object) && (object.kind ?? null) === null) this.#lacksKinds = true
  }

  /** Adds what is found in one item of a list. */
  addItem({ tasks, contexts, mediaTypes }: ResultFacts): void {
    for (const task of tasks) this.#tasks.push({ ...task, mediaTypes })
    for (const context of contexts) this.#contexts.add(context)
    for (const type of mediaTypes) this.#mediaTypes.add(type)
  }

  toFacts(kind: ResultKind): ResultFacts {
    const facts = { kind, tasks: this.#tasks, contexts: [...this.#contexts], mediaTypes: [...this.#mediaTypes] }
    return this.#lacksKinds ? { ...facts, lacksKinds: true } : facts
  }
}

/** Collects the facts of objects that have passed their check. */
const collectors: Readonly<Record<ObjectName, (value: JsonObject, shape: Shapes, found: FoundFacts) => void>> = {
  task: (task, shape, found) => {
    found.addTask(task.id, shape.read(task, 'contextId'))
    found.addStatus(task, shape)
    if (Array.isArray(task.artifacts)) for (const artifact of task.artifacts) found.addParts(artifact, 'parts', shape)
  },
  message: (message, shape, found) => {
    found.addTask(shape.read(message, 'taskId'), shape.read(message, 'contextId'))
    found.addParts(message, shape.messageParts, shape)
  },
  statusUpdate: (event, shape, found) => {
    found.addTask(shape.read(event, 'taskId'), shape.read(event, 'contextId'))
    found.addStatus(event, shape)
  },
  artifactUpdate: (event, shape, found) => {
    found.addTask(shape.read(event, 'taskId'), shape.read(event, 'contextId'))
    found.addParts(event.artifact, 'parts', shape)
  },
  pushConfig: (config, shape, found) => {
    // Over HTTP, 0.3 names the configuration as a resource.
    const [, taskId] = typeof config.name === 'string' ? (/^tasks\/([^/]+)/.exec(config.name) ?? []) : []
    found.addTask(shape.read(config, 'taskId') ?? taskId, undefined)
  },
}
