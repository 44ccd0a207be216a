import type { Protocol } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit, toText } from '../../json/index.ts'
import { type CallError, invalidParam } from '../call-error.ts'
import { type Form, formOf, protoNames, readProto } from '../forms.ts'
import { isPlainObject } from '../jsonrpc.ts'
import { foldName } from '../message.ts'
import { type A2ACall, type OperationName, operations } from '../operations.ts'
import { checkMessage, messageOf } from '../sent-message.ts'
import { definedMembers, isPresent, type Loss, type Translation, translateObject } from './objects.ts'

/** The parameters of a call, whatever its version and binding. */
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

const isId = (value: Json | undefined): boolean => typeof value === 'string' && value !== ''

/** Rejects parameters that agents of one version might read in another way than those of the other. */
export const checkParams = (call: A2ACall, read: Params, form: Form): CallError | undefined => {
  const { operation, params } = call
  if (operations[operation].sends) return checkMessage(call) ?? checkConfiguration(params, form)
  if (operation === 'listTasks' || operation === 'extendedCard') return undefined
  const isV03 = call.version === '0.3' && call.binding === 'JSONRPC' && operation !== 'createPushConfig'
  const taskField = isV03 || operations[operation].task === 'id' ? 'id' : 'taskId'
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

/** Reads the parameters of a call. */
export const readParams = ({ operation, binding, version, params }: A2ACall): Params => {
  if (operations[operation].sends) {
    const message = messageOf(params)
    const { configuration } = params
    return {
      ...(isJsonObject(message) && { message }),
      ...(isJsonObject(configuration) && { configuration }),
      others: omit(params, 'message', 'request', 'configuration'),
    }
  }
  if (operation === 'createPushConfig') return { pushConfig: params, others: {} }
  // Over HTTP, the path has what 0.3 also has in a name.
  const isNamed = binding === 'HTTP+JSON' && version === '0.3'
  const others = isNamed ? omit(params, 'name', 'parent') : params
  if (operations[operation].task === 'id') return { task: params.id, others: omit(others, 'id') }
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
  'json-0.3': 'pushNotificationConfig',
  'proto-0.3': 'pushNotification',
  'proto-1.0': 'taskPushNotificationConfig',
}

/** The members of a configuration that have the same name everywhere. */
const COMMON_CONFIGURATION = ['acceptedOutputModes', 'historyLength'] as const

/** Every name that some form has in the configuration of a message. */
const CONFIGURATION_NAMES = [
  ...[...COMMON_CONFIGURATION, ...Object.values(PUSH_CONFIG), 'returnImmediately'].flatMap(protoNames),
  'blocking',
]

/**
 * Translates the configuration of a message. A call that names neither `blocking` nor `returnImmediately` waits in both
 * versions, as at the official servers. Where `waits` is set, a call of 0.3 states it, because some agents do not.
 */
const translateConfiguration = (
  configuration: JsonObject | undefined,
  translation: Translation,
  waits: boolean,
): JsonObject | undefined => {
  const { from, to, losses } = translation
  const given = configuration ?? {}
  const pushConfig = readProto(given, PUSH_CONFIG[from])
  const wait = from === 'proto-1.0' ? 'returnImmediately' : 'blocking'
  const read = [...COMMON_CONFIGURATION, PUSH_CONFIG[from], wait].flatMap(protoNames)
  if (CONFIGURATION_NAMES.some(name => !read.includes(name) && isPresent(given[name]))) losses.push('configuration.*')
  const returns = returnsImmediately(configuration, from)
  // Over HTTP, a configuration of 0.3 without `blocking` does not wait.
  const isStated = waits || returns || (to === 'proto-0.3' && configuration !== undefined)
  const translated = definedMembers({
    ...omit(given, ...CONFIGURATION_NAMES),
    ...Object.fromEntries(COMMON_CONFIGURATION.map(name => [name, readProto(given, name)])),
    ...(isJsonObject(pushConfig) && {
      [PUSH_CONFIG[to]]: translatePushConfig(pushConfig, translation, `configuration.${PUSH_CONFIG[from]}.`),
    }),
    ...(to === 'proto-1.0' ? returns && { returnImmediately: true } : isStated && { blocking: !returns }),
  })
  return Object.keys(translated).length > 0 ? translated : undefined
}

/** ProtoJSON leaves out what is false: over HTTP, a configuration of 0.3 without `blocking` does not wait. */
const returnsImmediately = (configuration: JsonObject | undefined, form: Form): boolean => {
  if (!configuration) return false
  if (form === 'proto-1.0') return readProto(configuration, 'returnImmediately') === true
  return form === 'json-0.3' ? configuration.blocking === false : configuration.blocking !== true
}

/** Returns the parameters that a protocol has for an operation, and reports the others that have a value. */
const supportedOthers = (
  operation: OperationName,
  others: JsonObject,
  { binding, version }: Protocol,
  losses: Loss[],
): JsonObject => {
  const { sends = false } = operations[operation]
  const hasMetadata = sends || (version === '0.3' ? binding === 'JSONRPC' : operation === 'cancel')
  const hasPages = operation !== 'listPushConfigs' || formOf({ binding, version }) !== 'json-0.3'
  const unsupported = [
    ...(hasMetadata ? [] : ['metadata']),
    ...(version === '1.0' ? [] : ['tenant']),
    ...(hasPages ? [] : ['pageSize', 'pageToken'].flatMap(protoNames)),
  ]
  const namesTask = !sends && operation !== 'listTasks'
  // No operation on a task has an object or a list, except for its metadata.
  const mayHideId = (name: string, value: Json): boolean =>
    ID_NAMES.includes(foldName(name)) || (name !== 'metadata' && (Array.isArray(value) || isPlainObject(value)))
  const lost = new Set<Loss>()
  const supported = jsonEntries(others).filter(([name, value]) => {
    const isUnsupported = unsupported.includes(name)
    if (!isUnsupported && !(namesTask && mayHideId(name, value))) return true
    if (isPresent(value)) lost.add(isUnsupported ? name : '*')
    return false
  })
  losses.push(...lost)
  return Object.fromEntries(supported)
}

/** The folded names of ids in any form: one that the caller's version lacks could be another task in the agent's. */
const ID_NAMES = ['id', 'ids', 'taskid', 'taskids', 'name', 'parent', 'configid', 'pushnotificationconfigid']

// Push configurations

/** Translates a push configuration; `path` ends in a period. */
const translatePushConfig = (config: JsonObject, { from, to, losses }: Translation, path = ''): JsonObject => {
  const { authentication } = config
  const isRewritten = isPlainObject(authentication) && (from === 'proto-1.0') !== (to === 'proto-1.0')
  const lose = (name: string) => losses.push(path + name)
  // 1.0 has the tenant and the task in each configuration, 0.3 has neither.
  const ofTask = to === 'proto-1.0' ? [] : ['tenant', ...protoNames('taskId')].filter(name => isPresent(config[name]))
  for (const name of ofTask) lose(name)
  return definedMembers({
    ...omit(config, ...ofTask),
    ...(isRewritten && { authentication: translateSchemes(authentication, to, lose) }),
  })
}

/** Translates an authentication, which has one scheme in 1.0, and a list of them in 0.3. */
const translateSchemes = (authentication: JsonObject, to: Form, lose: (name: string) => void): JsonObject => {
  const { scheme, schemes, ...others } = authentication
  const isV1 = to === 'proto-1.0'
  if (isPresent(isV1 ? scheme : schemes)) lose('authentication.*')
  if (!isV1) return { ...others, schemes: isPresent(scheme) ? [scheme ?? null] : [] }
  const [first = '', ...rest] = Array.isArray(schemes) ? schemes : []
  if (rest.length > 0) lose('authentication.schemes')
  return { ...others, scheme: first }
}

/**
 * Translates the push configuration of a task, which is nested in 0.3, and whose task is in its `name` over HTTP.
 * `ofCall` is the task that the call names: some agents leave it out of their answers.
 */
export const translateTaskPushConfig = (
  object: JsonObject,
  translation: Translation,
  ofCall: Json | undefined = '',
): JsonObject => {
  const { from, to } = translation
  const { taskId = ofCall, config } = from === 'proto-1.0' ? readV1(object, translation) : readV03(object, translation)
  const written = translatePushConfig(config, translation)
  if (to === 'proto-1.0') return { ...written, taskId }
  if (to === 'json-0.3') return { taskId, pushNotificationConfig: written }
  const ids = [toText(taskId), toText(config.id)]
  if (ids.some(id => id.includes('/'))) translation.losses.push('name')
  return { name: `tasks/${ids.join('/pushNotificationConfigs/')}`, pushNotificationConfig: written }
}

/** Returns the task and id that are in the name of a push configuration of 0.3. */
export const namesInPushConfig = (name: Json | undefined): { taskId?: string; id?: string } => {
  const [, taskId, id] = /^tasks\/([^/]+)(?:\/pushNotificationConfigs\/([^/]+))?/.exec(toText(name)) ?? []
  return { ...(taskId !== undefined && { taskId }), ...(id !== undefined && { id }) }
}

type TaskPushConfig = { taskId?: Json | undefined; config: JsonObject }

const readV1 = (object: JsonObject, { losses }: Translation): TaskPushConfig => {
  const taskId = readProto(object, 'taskId')
  if (isPresent(taskId) && !isId(taskId)) losses.push('taskId')
  return { taskId: isId(taskId) ? taskId : undefined, config: omit(object, ...protoNames('taskId')) }
}

/**
 * Reads a push configuration of 0.3. Over HTTP, what creates one is wrapped in `config`, and names the task in the path
 * and in `parent`; the official JavaScript client sends the configuration itself.
 */
const readV03 = (object: JsonObject, { from, losses }: Translation): TaskPushConfig => {
  const isWrapped = from === 'proto-0.3' && readProto(object, 'pushNotificationConfig') === undefined
  const wrapped = isWrapped && isJsonObject(object.config) ? object.config : object
  const ofName = namesInPushConfig([wrapped.name, object.parent].find(isPresent))
  const config = readProto(wrapped, 'pushNotificationConfig')
  const given = isPlainObject(config) ? config : {}
  const id = [readProto(object, 'configId'), ofName.id].find(isPresent)
  const known = from === 'json-0.3' ? ['taskId', 'pushNotificationConfig'] : KNOWN_PROTO_V03
  const isKnown = (name: string) => known.includes(name) || (name === 'config' && wrapped !== object)
  if (![...Object.keys(wrapped), ...Object.keys(object)].every(isKnown)) losses.push('*')
  return {
    taskId: [readProto(object, 'taskId'), readProto(wrapped, 'taskId'), ofName.taskId].find(isId),
    config: id === undefined || isPresent(given.id) ? given : { ...given, id },
  }
}

/** The names around a push configuration of 0.3 over HTTP. */
const KNOWN_PROTO_V03 = ['name', 'parent', ...['taskId', 'configId', 'pushNotificationConfig'].flatMap(protoNames)]
