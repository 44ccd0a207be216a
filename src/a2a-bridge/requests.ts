import { type CallError, invalidParam } from '../a2a/errors.ts'
import { type Form, formOf, protoNames, readProto } from '../a2a/forms.ts'
import { isPlainObject } from '../a2a/jsonrpc.ts'
import { foldName } from '../a2a/message.ts'
import { type A2ACall, type OperationName, operations } from '../a2a/operations.ts'
import { matchRestPath, normalizeRestPath, pathOf } from '../a2a/rest-paths.ts'
import { shapes } from '../a2a/result-shapes.ts'
import type { Protocol } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit, toText } from '../json/json.ts'
import { MAX_TRANSLATED_PATH_LENGTH } from '../limits.ts'
import { translateObject } from './objects.ts'
import { namesInPushConfig, translatePushConfig, translateTaskPushConfig } from './push-configs.ts'
import { definedMembers, isPresent, type Loss, type Translation } from './translation.ts'

/**
 * A call as its agent gets it: `params` are those of JSON-RPC, or the body of HTTP+JSON, which has also a `path` below the agent's
 * endpoint. `task` is the one that a call about a task names.
 */
export type TranslatedRequest = {
  httpMethod: string
  path?: string
  params?: JsonObject
  task: Json | undefined
  losses: Loss[]
}

/**
 * Translates a call to the version and binding of an agent. Refuses an operation that the version does not have, as 0.3 has no list
 * of tasks, and parameters that cannot be read.
 */
export const translateRequest = (call: A2ACall, to: Protocol): TranslatedRequest | CallError => {
  const { operation } = call
  if (operations[operation][to.version] === undefined) {
    const method = operations[operation][call.version] ?? operation
    return { kind: 'operation-missing', method, version: to.version }
  }
  const translation: Translation = { from: formOfCall(call), to: formOf(to), losses: [] }
  const read = readParams(call)
  const invalid = checkParams(call, read, translation.from)
  if (invalid) return invalid
  const params = translateParams(operation, read, translation)
  const task = taskOf(read)
  const sent = {
    ...params,
    task,
    others: supportedOthers(operation, params.others, to, translation.losses),
  }
  const request =
    to.binding === 'JSONRPC' ? writeJsonRpc(operation, sent, to) : writeRest(operation, sent, to, translation.losses)
  if ('kind' in request) return request
  const { path = '' } = request
  if (path.length > MAX_TRANSLATED_PATH_LENGTH)
    return invalidParam('params', `must fit into ${MAX_TRANSLATED_PATH_LENGTH} characters of a path and query`)
  return { ...request, task, losses: translation.losses }
}

/** Over HTTP, some clients of 0.3 write messages with `kind`. */
const formOfCall = (call: A2ACall): Form => {
  const message = messageOf(call.params)
  const form = formOf(call)
  return form === 'proto 0.3' && isJsonObject(message) && Array.isArray(message.parts) ? 'kinds' : form
}

/** Over HTTP, 0.3 has two names for the message. */
const messageOf = ({ message, request }: JsonObject): Json | undefined => message ?? request

/** What the parameters of a call name, whatever its version and binding. */
type Params = {
  task?: Json | undefined
  /** The id of a push configuration. */
  config?: Json | undefined
  message?: JsonObject | undefined
  configuration?: JsonObject | undefined
  pushConfig?: JsonObject | undefined
  /** All others, which have the same names everywhere. */
  others: JsonObject
}

/** Returns the task that a call about a task names. */
const taskOf = ({ task, pushConfig }: Params): Json | undefined =>
  task ?? (pushConfig && (readProto(pushConfig, 'taskId') ?? namesInPushConfig(pushConfig.name).taskId))

const TASK_OPERATIONS: readonly OperationName[] = ['getTask', 'cancel', 'resubscribe']

// Check

/** Rejects what agents of one version might read in another way than those of the other. Other calls are the agent's to check. */
const checkParams = (call: A2ACall, read: Params, form: Form): CallError | undefined => {
  const { operation, params } = call
  if (operations[operation].sends) return checkSendParams(params, form)
  if (operation === 'listTasks' || operation === 'extendedCard') return undefined
  const isId = (id: Json | undefined): boolean => typeof id === 'string' && id !== ''
  const isV03 = call.version === '0.3' && call.binding === 'JSONRPC' && operation !== 'createPushConfig'
  const taskField = isV03 || TASK_OPERATIONS.includes(operation) ? 'id' : 'taskId'
  if (!isId(taskOf(read))) return invalidParam(taskField, 'must be the id of a task')
  const namesConfig = operation === 'getPushConfig' || operation === 'deletePushConfig'
  return namesConfig && !isId(read.config)
    ? invalidParam(isV03 ? 'pushNotificationConfigId' : 'id', 'must be the id of a push configuration')
    : undefined
}

const checkSendParams = (params: JsonObject, form: Form): CallError | undefined => {
  const { configuration } = params
  const fault = shapes[form].sentMessage(messageOf(params))
  if (fault !== undefined) {
    const [, path = '', description = ''] = /^(\S*) (.*)$/.exec(fault) ?? []
    return invalidParam(`message${path}`, description)
  }
  if ((configuration ?? null) !== null && !isPlainObject(configuration))
    return invalidParam('configuration', 'must be an object')
  const pushConfig = isPlainObject(configuration) ? readProto(configuration, PUSH_CONFIG[form]) : undefined
  return pushConfig === undefined || isPlainObject(pushConfig)
    ? undefined
    : invalidParam(`configuration.${PUSH_CONFIG[form]}`, 'must be an object')
}

// Read

const readParams = ({ operation, binding, version, params }: A2ACall): Params => {
  if (operations[operation].sends) return readSendParams(params)
  if (operation === 'createPushConfig') return { pushConfig: params, others: {} }
  // Over HTTP, the path has what 0.3 also has in a name.
  const isNamed = binding === 'HTTP+JSON' && version === '0.3'
  const others = isNamed ? omit(params, 'name', 'parent') : params
  if (TASK_OPERATIONS.includes(operation)) return { task: params.id, others: omit(others, 'id') }
  if (operations[operation].needs !== 'pushNotifications') return { others }
  if (binding === 'JSONRPC' && version === '0.3')
    return {
      task: params.id,
      // In 0.2, a configuration has the id of its task.
      config: params.pushNotificationConfigId ?? (operation === 'getPushConfig' ? params.id : undefined),
      others: omit(others, 'id', 'pushNotificationConfigId'),
    }
  return { task: readProto(params, 'taskId'), config: params.id, others: omit(others, 'id', ...protoNames('taskId')) }
}

const readSendParams = (params: JsonObject): Params => {
  const message = messageOf(params)
  const { configuration } = params
  return {
    ...(isJsonObject(message) && { message }),
    ...(isJsonObject(configuration) && { configuration }),
    others: omit(params, 'message', 'request', 'configuration'),
  }
}

// Translate

const translateParams = (operation: OperationName, params: Params, translation: Translation): Params => {
  const { message, configuration, pushConfig } = params
  return {
    ...params,
    ...(message && { message: translateObject('message', message, translation, 'message.') }),
    ...(operations[operation].sends && {
      configuration: translateConfiguration(configuration, translation, operation === 'send'),
    }),
    ...(pushConfig && { pushConfig: translateTaskPushConfig(pushConfig, translation) }),
  }
}

/** The names of a push configuration in the configuration of a message. */
const PUSH_CONFIG: Readonly<Record<Form, string>> = {
  kinds: 'pushNotificationConfig',
  'proto 0.3': 'pushNotification',
  'proto 1.0': 'taskPushNotificationConfig',
}

/** The members of a configuration that have the same name everywhere. */
const COMMON_CONFIGURATION = ['acceptedOutputModes', 'historyLength'] as const

/** Every name that some form has in the configuration of a message. */
const CONFIGURATION_NAMES = [
  ...[...COMMON_CONFIGURATION, ...Object.values(PUSH_CONFIG), 'returnImmediately'].flatMap(protoNames),
  'blocking',
]

/**
 * Translates the configuration of a message. A call that names neither `blocking` nor `returnImmediately` waits in both versions, as
 * at the official servers. `waits` is set where that matters: then a call of 0.3 states it, because some agents do not.
 */
const translateConfiguration = (
  configuration: JsonObject | undefined,
  translation: Translation,
  waits: boolean,
): JsonObject | undefined => {
  const { from, to, losses } = translation
  const given = configuration ?? {}
  const pushConfig = readProto(given, PUSH_CONFIG[from])
  const wait = from === 'proto 1.0' ? 'returnImmediately' : 'blocking'
  const read = [...COMMON_CONFIGURATION, PUSH_CONFIG[from], wait].flatMap(protoNames)
  if (CONFIGURATION_NAMES.some(name => !read.includes(name) && isPresent(given[name]))) losses.push('configuration.*')
  const returns = returnsImmediately(configuration, from)
  // Over HTTP, a configuration of 0.3 without `blocking` does not wait.
  const isStated = waits || returns || (to === 'proto 0.3' && configuration !== undefined)
  const translated = definedMembers({
    ...omit(given, ...CONFIGURATION_NAMES),
    ...Object.fromEntries(COMMON_CONFIGURATION.map(name => [name, readProto(given, name)])),
    ...(isJsonObject(pushConfig) && {
      [PUSH_CONFIG[to]]: translatePushConfig(pushConfig, translation, `configuration.${PUSH_CONFIG[from]}.`),
    }),
    ...(to === 'proto 1.0' ? returns && { returnImmediately: true } : isStated && { blocking: !returns }),
  })
  return Object.keys(translated).length > 0 ? translated : undefined
}

/** ProtoJSON leaves out what is false: over HTTP, a configuration of 0.3 without `blocking` does not wait. */
const returnsImmediately = (configuration: JsonObject | undefined, form: Form): boolean => {
  if (!configuration) return false
  if (form === 'proto 1.0') return readProto(configuration, 'returnImmediately') === true
  return form === 'kinds' ? configuration.blocking === false : configuration.blocking !== true
}

/** Returns the parameters that a binding and version have for an operation, and reports the others that have a value. */
const supportedOthers = (
  operation: OperationName,
  others: JsonObject,
  { binding, version }: Protocol,
  losses: Loss[],
): JsonObject => {
  const { sends = false } = operations[operation]
  const hasMetadata = sends || (version === '0.3' ? binding === 'JSONRPC' : operation === 'cancel')
  const hasPages = operation !== 'listPushConfigs' || formOf({ binding, version }) !== 'kinds'
  const unsupported = [
    ...(hasMetadata ? [] : ['metadata']),
    ...(version === '1.0' ? [] : ['tenant']),
    ...(hasPages ? [] : ['pageSize', 'pageToken'].flatMap(protoNames)),
  ]
  const namesTask = !sends && operation !== 'listTasks'
  const mayHideId = (name: string, value: Json): boolean =>
    namesTask && (ID_NAMES.has(foldName(name)) || hasMembers(name, value))
  const lost = new Set<Loss>()
  const supported = jsonEntries(others).filter(([name, value]) => {
    const isUnsupported = unsupported.includes(name)
    if (!isUnsupported && !mayHideId(name, value)) return true
    if (isPresent(value)) lost.add(isUnsupported ? name : '*')
    return false
  })
  losses.push(...lost)
  return Object.fromEntries(supported)
}

/** Whether a parameter is an object or a list, which no operation on a task has but for its metadata. */
const hasMembers = (name: string, value: Json): boolean =>
  name !== 'metadata' && typeof value === 'object' && value !== null && !JSON.isRawJSON(value)

/** Every name of an id in some form, folded: what means nothing to the caller's version could be another task in the agent's. */
const ID_NAMES: ReadonlySet<string> = new Set([
  ...['id', 'ids', 'taskid', 'taskids', 'name', 'parent', 'configid', 'pushnotificationconfigid'],
])

// Write

type WrittenRequest = Omit<TranslatedRequest, 'task' | 'losses'>

const writeJsonRpc = (operation: OperationName, params: Params, { version }: Protocol): WrittenRequest => {
  const { task, message, configuration, pushConfig } = params
  // A list names none.
  const config = operation === 'listPushConfigs' ? undefined : params.config
  const others = readQueryMembers(params.others)
  const write = (written: JsonObject) => ({ httpMethod: 'POST', params: definedMembers(written) })
  if (pushConfig) return write(pushConfig)
  if (operations[operation].sends) return write({ message, configuration, ...others })
  if (TASK_OPERATIONS.includes(operation)) return write({ id: task, ...others })
  if (operations[operation].needs !== 'pushNotifications') return write(others)
  return version === '0.3'
    ? write({ id: task, pushNotificationConfigId: config, ...others })
    : write({ taskId: task, id: config, ...others })
}

/** Returns members with numbers and booleans in place of the text that a query of HTTP+JSON has. */
const readQueryMembers = (others: JsonObject): JsonObject =>
  Object.fromEntries(jsonEntries(others).map(([name, value]) => [name, fromQuery(name, value)]))

const fromQuery = (name: string, value: Json): Json => {
  if (typeof value !== 'string') return value
  if (/^(?:history_?length|page_?size)$/i.test(name) && /^\d{1,9}$/.test(value)) return Number(value)
  return /^include_?artifacts$/i.test(name) && /^(?:true|false)$/.test(value) ? value === 'true' : value
}

const writeRest = (
  operation: OperationName,
  { task, config, message, configuration, pushConfig, others }: Params,
  { version }: Protocol,
  losses: Loss[],
): WrittenRequest | CallError => {
  const [httpMethod = 'GET'] = operations[operation].http[0]
  const { tenant } = pushConfig ?? others
  if (isPresent(tenant) && !fitsPath(tenant)) return invalidParam('tenant', 'must be a tenant that a path can have')
  const isAboutTask = operations[operation].needs !== 'pushNotifications'
  const path = (pathOf(operation, version) ?? '')
    .replace(isAboutTask ? '{id}' : '{taskId}', () => encodeSegment(task))
    .replace('{id}', () => encodeSegment(config))
  // An id could be another path, to a server that decodes before it routes.
  const match = matchRestPath(httpMethod, normalizeRestPath(path))
  const isMisread = pushConfig && version === '0.3' && !namesConfig(pushConfig, task)
  if ('kind' in match || match.operation !== operation || isMisread)
    return invalidParam('id', 'must be an id that a path can have')
  // Over HTTP, 1.0 has the tenant in the path.
  const below = isPresent(tenant) ? `${encodeURIComponent(toText(tenant))}/${path}` : path
  const rest = omit(others, 'tenant')
  if (pushConfig) return { httpMethod, path: below, params: version === '0.3' ? toCreate(pushConfig) : pushConfig }
  if (message) return { httpMethod, path: below, params: definedMembers({ message, configuration, ...rest }) }
  if (httpMethod === 'POST') return { httpMethod, path: below, params: rest }
  const query = new URLSearchParams()
  for (const [name, value] of jsonEntries(rest)) {
    const text = JSON.isRawJSON(value) ? JSON.stringify(value) : toText(value)
    if (text !== '') query.append(name, text)
    // An object or a list has no place in a query.
    else if (isPresent(value)) losses.push('*')
  }
  return { httpMethod, path: query.size > 0 ? `${below}?${query}` : below }
}

/** Encodes a segment of a path. One that is empty or that UTF-8 cannot express becomes one that no path can have. */
const encodeSegment = (value: Json | undefined): string => {
  const text = toText(value)
  return text !== '' && text.isWellFormed() ? encodeURIComponent(text) : '..'
}

/** Whether a value means the same in a path, even to a server that decodes before it routes. */
const fitsPath = (value: Json | undefined): boolean =>
  'operation' in matchRestPath('GET', `tasks/${encodeSegment(value)}`)

/** Whether a configuration of 0.3 over HTTP has its task and its own id in its name, in which a slash would end them. */
const namesConfig = ({ name, pushNotificationConfig: config }: JsonObject, task: Json | undefined): boolean => {
  const { taskId, id = '' } = namesInPushConfig(name)
  return taskId === task && id === toText(isJsonObject(config) ? config.id : undefined)
}

/** Wraps a configuration of 0.3 over HTTP in what creates it there. */
const toCreate = (config: JsonObject): JsonObject => {
  const { taskId = '', id } = namesInPushConfig(config.name)
  return { parent: `tasks/${taskId}`, ...(id !== undefined && { configId: id }), config }
}
