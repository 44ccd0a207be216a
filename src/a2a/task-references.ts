import { formOf } from '../card/model/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, mapMembers, toText } from '../json/index.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_NAMED_TASKS } from '../limits.ts'
import { type InvalidParams, invalidParam } from './call-error.ts'
import { foldName, isFreeForm } from './message.ts'
import { type A2ACall, type OperationName, operations } from './operations.ts'

/** The tasks and contexts that a call names, each once. */
type TaskReferences = { tasks: string[]; contexts: string[] }

/**
 * Reads every task and context that an agent might find in a call, in both versions and bindings: under the names of
 * the specifications, of their drafts and of 0.1, in any case and with any separators, and in objects that wrap them.
 * Leaves out only the content of messages and `metadata`, whose form is free. Rejects ids that agents could read in two
 * ways.
 */
export const readTaskReferences = (call: A2ACall): TaskReferences | InvalidParams => {
  const { operation, params, sources } = call
  const { sends, task } = operations[operation]
  // With `kind`, the parameters about a push configuration have the id of the task.
  const idIsTask = sends || task === 'id' || (task !== undefined && formOf(call) === 'json-0.3')
  const found: Found = { operation, tasks: new Set(), contexts: new Set(), invalid: undefined }
  for (const source of Object.values(sources ?? { params })) read(found, source, '', idIsTask)
  if (found.invalid) return found.invalid
  const tasks = [...found.tasks]
  const contexts = [...found.contexts]
  for (const [field, ids] of Object.entries({ referenceTaskIds: tasks, contextId: contexts }))
    if (ids.length > MAX_NAMED_TASKS) return invalidParam(field, `must be at most ${MAX_NAMED_TASKS} in one call`)
  return { tasks, contexts }
}

/** Names of push configurations, and of what a message is sent in, in folded form: their `id` is not that of a task. */
const PUSH_CONFIG = /^config$|pushnotification(?:config)?$/
const MESSAGE = /^(?:message|request|configuration)$/

/** A resource name of 0.3's gRPC binding and of drafts of 1.0, such as `tasks/1/pushNotificationConfigs/2`. */
const RESOURCE_NAME = /^tasks\/([^/]+)(?:\/pushNotificationConfigs(?:\/[^/]+)?)?$/

/** Every task in a name whose form is free. */
const NAMED_TASKS = /(?<=(?:^|\/)tasks\/)[^/]+/g

const ASCII = /^[\x20-\x7e]*$/

/** No agent looks for an id under a longer name. */
const MAX_NAME_LENGTH = 64

/** What a call of an operation names, as far as it was read, and the first id that is invalid. */
type Found = {
  operation: OperationName
  tasks: Set<string>
  contexts: Set<string>
  invalid: InvalidParams | undefined
}

/** Reads an object of the call. `idIsTask`: its member `id` is a task. */
const read = (found: Found, object: JsonObject, path: string, idIsTask: boolean): void => {
  for (const [name, value] of Object.entries(object)) {
    if (name.length > MAX_NAME_LENGTH || value === undefined || value === null || found.invalid) continue
    const folded = foldName(name)
    if (isFreeForm(folded)) continue
    const field = path + name
    if (/taskids?$/.test(folded) || (idIsTask && /^ids?$/.test(folded))) add(found, found.tasks, value, field)
    else if (/(?:contextids?|sessionid)$/.test(folded)) addContext(found, value, field)
    else if (folded === 'name' || folded === 'parent') addResource(found, value, idIsTask, field)
    else {
      const isSent = operations[found.operation].sends === true && MESSAGE.test(folded)
      descend(found, value, `${field}.`, idIsTask && !PUSH_CONFIG.test(folded) && !isSent)
    }
  }
}

const descend = (found: Found, value: Json, path: string, idIsTask: boolean): void => {
  if (Array.isArray(value)) for (const item of value) descend(found, item, path, idIsTask)
  else if (isJsonObject(value)) read(found, value, path, idIsTask)
}

/** Adds an id or a list of them. An empty one counts as absent, as in ProtoJSON. */
const add = (found: Found, ids: Set<string>, value: Json, field: string): void => {
  if (Array.isArray(value)) for (const item of value) add(found, ids, item, field)
  else if (typeof value !== 'string') found.invalid ??= invalidParam(field, 'must be a string')
  else if (value !== '') ids.add(value)
}

const addContext = (found: Found, value: Json, field: string): void => {
  add(found, found.contexts, value, field)
  // An agent or its database could cut other characters off, replace them, or compare them without accents.
  if ([value].flat().some(id => typeof id === 'string' && (id.length > MAX_CONTEXT_ID_LENGTH || !ASCII.test(id))))
    found.invalid ??= invalidParam(field, `must be at most ${MAX_CONTEXT_ID_LENGTH} printable characters of ASCII`)
}

/** Adds tasks in `name` and `parent`, where an agent finds only a resource name or an id if there is no message. */
const addResource = (found: Found, value: Json, idIsTask: boolean, field: string): void => {
  const { sends, task: idName } = operations[found.operation]
  if (sends) {
    if (typeof value !== 'string') descend(found, value, `${field}.`, idIsTask)
    else for (const [task] of value.matchAll(NAMED_TASKS)) found.tasks.add(task)
  } else if (value !== '') {
    const name = typeof value === 'string' ? value : ''
    const isId = idIsTask && idName === 'id' && !name.includes('/')
    const task = RESOURCE_NAME.exec(name)?.[1] ?? (isId ? name : '')
    if (task === '') found.invalid ??= invalidParam(field, 'must be the name of a task, such as `tasks/1`')
    else found.tasks.add(task)
  }
}

// Routing

/**
 * Returns a call without the tenant and agent name of its caller, which 1.0 has in push configurations too. Where this
 * host's own credentials or its record of owners decide what a caller reaches, the card alone selects the tenant:
 * otherwise a caller could choose another one's.
 */
export const dropRoutingParams = (call: A2ACall): A2ACall => {
  const { params, sources } = call
  if (!sources) return { ...call, params: withoutRouting(params) }
  const query = Object.fromEntries(Object.entries(sources.query).filter(([name]) => !isRoutingParam(name)))
  const body = withoutRouting(sources.body)
  return { ...call, params: withoutRouting(params), sources: { ...sources, query, body } }
}

const isRoutingParam = (name: string): boolean => ['tenant', 'agentname'].includes(foldName(name))

const withoutRouting = (object: JsonObject): JsonObject =>
  mapMembers(object, (value, name) => {
    if (isRoutingParam(name)) return undefined
    return isFreeForm(foldName(name)) ? value : withoutNestedRouting(value)
  })

const withoutNestedRouting = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(withoutNestedRouting)
  return isPlainObject(value) ? withoutRouting(value) : value
}

// Pages

/** The error of a page token that is not of this list. */
export const INVALID_PAGE_TOKEN = invalidParam('pageToken', 'must be the `nextPageToken` of a page of this list')

/** The size of a page where a call has none (A2A 1.0 §3.1.4). */
const DEFAULT_PAGE_SIZE = 50

/** A page of a list; its token is empty for the first. */
type Page = { token: string; size: number }

/** Reads the page that a call for a list names, under every name that an agent might read. */
export const readPage = ({ params, sources }: A2ACall, maxTokenLength: number): Page | InvalidParams => {
  const objects: readonly JsonObject[] = sources ? Object.values(sources) : [params]
  const [token = '', ...others] = new Set(readMembers(objects, 'pagetoken'))
  if (typeof token !== 'string' || token.length > maxTokenLength || others.length > 0) return INVALID_PAGE_TOKEN
  const [value = 0] = readMembers(objects, 'pagesize')
  const size = Number(toText(value) || Number.NaN)
  if (!Number.isInteger(size) || size < 0 || size > 100)
    return invalidParam('pageSize', 'must be an integer from 1 to 100')
  // Zero counts as absent, as in ProtoJSON.
  return { token, size: size || DEFAULT_PAGE_SIZE }
}

/** Returns a call that names another page, and under no other name. */
export const withPage = (call: A2ACall, { token, size }: Page): A2ACall => {
  const { params, sources } = call
  const page = { pageSize: size, ...(token !== '' && { pageToken: token }) }
  const query = sources && { ...withoutPage(sources.query), ...page, pageSize: String(size) }
  return { ...call, params: { ...withoutPage(params), ...page }, ...(query && { sources: { ...sources, query } }) }
}

/** Returns the values of a member under every name that an agent might read, unless they are empty. */
const readMembers = (objects: readonly JsonObject[], folded: string): Json[] =>
  objects
    .flatMap(object => Object.entries(object))
    .flatMap(([name, value = null]) => (foldName(name) === folded && value !== null && value !== '' ? [value] : []))

const withoutPage = <Value>(members: Record<string, Value>): Record<string, Value> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !['pagetoken', 'pagesize'].includes(foldName(name))))
