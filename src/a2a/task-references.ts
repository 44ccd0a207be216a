import { formOf } from '../card/model/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, mapMembers } from '../json/index.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_NAMED_TASKS } from '../limits.ts'
import { type InvalidParams, invalidParam } from './call-error.ts'
import { foldName, isFreeForm } from './message.ts'
import { type A2ACall, type OperationName, operations } from './operations.ts'

/** The tasks and contexts that a call names, each once. */
export type TaskReferences = { tasks: string[]; contexts: string[] }

/**
 * Reads every task and context that an agent might find in a call, in both versions and bindings: under the names of
 * the specifications, of their drafts and of 0.1, in any case and with any separators, and in objects that wrap them.
 * Leaves out only the content of messages and `metadata`, whose form is free. Rejects ids that agents could read in two
 * ways.
 */
export const readTaskReferences = (call: A2ACall): TaskReferences | InvalidParams => {
  const { operation, params, sources } = call
  const { sends, task } = operations[operation]
  const reader = new ReferenceReader(operation)
  // With `kind`, the parameters about a push configuration have the id of the task.
  const idIsTask = sends || task === 'id' || (task !== undefined && formOf(call) === 'json-0.3')
  for (const source of Object.values(sources ?? { params })) reader.read(source, '', idIsTask)
  return reader.finish()
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

class ReferenceReader {
  readonly #operation: OperationName
  readonly #tasks = new Set<string>()
  readonly #contexts = new Set<string>()
  #invalid: InvalidParams | undefined

  constructor(operation: OperationName) {
    this.#operation = operation
  }

  /** Reads an object of the call. `idIsTask`: its member `id` is a task. */
  read(object: JsonObject, path: string, idIsTask: boolean): void {
    for (const [name, value] of Object.entries(object)) {
      if (name.length > MAX_NAME_LENGTH || value === undefined || value === null || this.#invalid) continue
      const folded = foldName(name)
      if (isFreeForm(folded)) continue
      const field = path + name
      if (/taskids?$/.test(folded) || (idIsTask && /^ids?$/.test(folded))) this.#add(this.#tasks, value, field)
      else if (/(?:contextids?|sessionid)$/.test(folded)) this.#addContext(value, field)
      else if (folded === 'name' || folded === 'parent') this.#addResource(value, idIsTask, field)
      else {
        const isSent = operations[this.#operation].sends === true && MESSAGE.test(folded)
        this.#descend(value, `${field}.`, idIsTask && !PUSH_CONFIG.test(folded) && !isSent)
      }
    }
  }

  finish(): TaskReferences | InvalidParams {
    if (this.#invalid) return this.#invalid
    const tasks = [...this.#tasks]
    const contexts = [...this.#contexts]
    for (const [field, ids] of Object.entries({ referenceTaskIds: tasks, contextId: contexts }))
      if (ids.length > MAX_NAMED_TASKS) return invalidParam(field, `must be at most ${MAX_NAMED_TASKS} in one call`)
    return { tasks, contexts }
  }

  #descend(value: Json, path: string, idIsTask: boolean): void {
    if (Array.isArray(value)) for (const item of value) this.#descend(item, path, idIsTask)
    else if (isJsonObject(value)) this.read(value, path, idIsTask)
  }

  /** Adds an id or a list of them. An empty one counts as absent, as in ProtoJSON. */
  #add(ids: Set<string>, value: Json, field: string): void {
    if (Array.isArray(value)) for (const item of value) this.#add(ids, item, field)
    else if (typeof value !== 'string') this.#invalid ??= invalidParam(field, 'must be a string')
    else if (value !== '') ids.add(value)
  }

  #addContext(value: Json, field: string): void {
    this.#add(this.#contexts, value, field)
    // An agent or its database could cut other characters off, replace them, or compare them without accents.
    if ([value].flat().some(id => typeof id === 'string' && (id.length > MAX_CONTEXT_ID_LENGTH || !ASCII.test(id))))
      this.#invalid ??= invalidParam(field, `must be at most ${MAX_CONTEXT_ID_LENGTH} printable characters of ASCII`)
  }

  /** Adds tasks in `name` and `parent`, where an agent finds only a resource name or an id if there is no message. */
  #addResource(value: Json, idIsTask: boolean, field: string): void {
    if (operations[this.#operation].sends) {
      if (typeof value !== 'string') this.#descend(value, `${field}.`, idIsTask)
      else for (const [task] of value.matchAll(NAMED_TASKS)) this.#tasks.add(task)
    } else if (value !== '') {
      const name = typeof value === 'string' ? value : ''
      const isId = idIsTask && operations[this.#operation].task === 'id' && !name.includes('/')
      const task = RESOURCE_NAME.exec(name)?.[1] ?? (isId ? name : '')
      if (task === '') this.#invalid ??= invalidParam(field, 'must be the name of a task, such as `tasks/1`')
      else this.#tasks.add(task)
    }
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
