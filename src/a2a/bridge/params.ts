import type { Protocol } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit } from '../../json/index.ts'
import { type CallError, invalidParam } from '../errors.ts'
import { type Form, formOf, protoNames, readProto } from '../forms.ts'
import { isPlainObject } from '../jsonrpc.ts'
import { foldName } from '../message.ts'
import { type A2ACall, type OperationName, operations } from '../operations.ts'
import { checkMessage, messageOf } from '../sent-message.ts'
import { translateObject } from './objects.ts'
import { namesInPushConfig, translatePushConfig, translateTaskPushConfig } from './push-configs.ts'
import { definedMembers, isPresent, type Loss, type Translation } from './translation.ts'

/** What the parameters of a call name, whatever its version and binding. */
export type Params = {
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

/** The operations whose only id is that of a task. */
export const TASK_OPERATIONS: readonly OperationName[] = ['getTask', 'cancel', 'resubscribe']

// Check

/** Rejects parameters that agents of one version might read in another way than those of the other. */
export const checkParams = (call: A2ACall, read: Params, form: Form): CallError | undefined => {
  const { operation, params } = call
  if (operations[operation].sends) return checkMessage(call) ?? checkConfiguration(params, form)
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

const checkConfiguration = ({ configuration }: JsonObject, form: Form): CallError | undefined => {
  if ((configuration ?? null) !== null && !isPlainObject(configuration))
    return invalidParam('configuration', 'must be an object')
  const pushConfig = isPlainObject(configuration) ? readProto(configuration, PUSH_CONFIG[form]) : undefined
  return pushConfig === undefined || isPlainObject(pushConfig)
    ? undefined
    : invalidParam(`configuration.${PUSH_CONFIG[form]}`, 'must be an object')
}

// Read

/** Reads the parameters of a call. */
export const readParams = ({ operation, binding, version, params }: A2ACall): Params => {
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

/** Translates parameters for an agent. Leaves out those that its binding and version do not have. */
export const translateParams = (
  operation: OperationName,
  params: Params,
  to: Protocol,
  translation: Translation,
): Params => {
  const { message, configuration, pushConfig, others } = params
  return {
    ...params,
    task: taskOf(params),
    ...(message && { message: translateObject('message', message, translation, 'message.') }),
    ...(operations[operation].sends && {
      configuration: translateConfiguration(configuration, translation, operation === 'send'),
    }),
    ...(pushConfig && { pushConfig: translateTaskPushConfig(pushConfig, translation) }),
    others: supportedOthers(operation, others, to, translation.losses),
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
