import { type A2ACall, type OperationName, operations } from '../a2a/operations.ts'
import { pathOf } from '../a2a/rest-paths.ts'
import type { Form } from '../a2a/result-shapes.ts'
import type { Protocol, WireVersion } from '../card/model/calls.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit, toText } from '../json/json.ts'
import { translateObject } from './objects.ts'
import { translatePushConfig, translateTaskPushConfig } from './push-configs.ts'
import { definedMembers, type Loss, protoNames, readProto, type Translation } from './translation.ts'

/**
 * A call as its agent gets it: `params` are those of JSON-RPC, or the body of HTTP+JSON, which has also a `path` below the agent's
 * endpoint.
 */
export type TranslatedRequest = { httpMethod: string; path?: string; params?: JsonObject; losses: Loss[] }

/**
 * Translates a call to the version and binding of an agent. Returns undefined if they cannot express the operation: 0.3 has no list
 * of tasks.
 */
export const translateRequest = (call: A2ACall, to: Protocol): TranslatedRequest | undefined => {
  const { operation } = call
  if (operations[operation][to.version] === undefined) return undefined
  const translation: Translation = { from: formOfCall(call), to: formOf(to), losses: [] }
  const params = translateParams(operation, readParams(call), translation)
  const request =
    to.binding === 'JSONRPC'
      ? { httpMethod: 'POST', params: definedMembers(jsonRpcParams(operation, params, to.version)) }
      : writeRest(operation, params, to.version)
  return { ...request, losses: translation.losses }
}

/** Returns the form of objects in a binding and version. Over HTTP, the official agents and clients of 0.3 write ProtoJSON. */
export const formOf = ({ binding, version }: Protocol): Form => {
  if (version === '1.0') return 'proto 1.0'
  return binding === 'JSONRPC' ? 'kinds' : 'proto 0.3'
}

/** Over HTTP, some clients of 0.3 write messages with `kind`. */
const formOfCall = (call: A2ACall): Form => {
  const { message } = call.params
  const form = formOf(call)
  return form === 'proto 0.3' && isJsonObject(message) && Array.isArray(message.parts) ? 'kinds' : form
}

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

const TASK_OPERATIONS: readonly OperationName[] = ['getTask', 'cancel', 'resubscribe']

// Read

const readParams = ({ operation, binding, version, params }: A2ACall): Params => {
  if (operations[operation].sends) return readSendParams(params)
  if (operation === 'createPushConfig') return { pushConfig: params, others: {} }
  if (TASK_OPERATIONS.includes(operation)) return { task: params.id, others: omit(params, 'id') }
  if (operations[operation].needs !== 'pushNotifications') return { others: params }
  if (binding === 'JSONRPC' && version === '0.3')
    return {
      task: params.id,
      config: params.pushNotificationConfigId,
      others: omit(params, 'id', 'pushNotificationConfigId'),
    }
  return { task: readProto(params, 'taskId'), config: params.id, others: omit(params, 'id', ...protoNames('taskId')) }
}

/** Over HTTP, 0.3 has two names for the message. */
const readSendParams = (params: JsonObject): Params => {
  const { message = params.request, configuration } = params
  return {
    ...(isJsonObject(message) && { message }),
    ...(isJsonObject(configuration) && { configuration }),
    others: omit(params, 'message', 'request', 'configuration'),
  }
}

// Translate

const translateParams = (operation: OperationName, params: Params, translation: Translation): Params => {
  const { message, configuration, pushConfig, others } = params
  const waits = operation === 'send'
  return {
    ...params,
    ...(message && { message: translateObject('message', message, translation, 'message.') }),
    ...(operations[operation].sends && { configuration: translateConfiguration(configuration, translation, waits) }),
    ...(pushConfig && { pushConfig: translateTaskPushConfig(pushConfig, translation) }),
    others: translation.to === 'proto 1.0' ? others : omit(others, 'tenant'),
  }
}

/** The names of a push configuration in the configuration of a message. */
const PUSH_CONFIG: Readonly<Record<Form, string>> = {
  kinds: 'pushNotificationConfig',
  'proto 0.3': 'pushNotification',
  'proto 1.0': 'taskPushNotificationConfig',
}

/**
 * Translates the configuration of a message. A call that names neither `blocking` nor `returnImmediately` waits in both versions, as
 * the official servers do. `waits` is set where that matters: then 0.3 is told, because some of its agents do not.
 */
const translateConfiguration = (
  configuration: JsonObject | undefined,
  translation: Translation,
  waits: boolean,
): JsonObject | undefined => {
  const { from, to } = translation
  const given = configuration ?? {}
  const pushConfig = readProto(given, PUSH_CONFIG[from])
  const returnsImmediately =
    from === 'proto 1.0' ? readProto(given, 'returnImmediately') === true : given.blocking === false
  const known = [PUSH_CONFIG[from], 'acceptedOutputModes', 'historyLength', 'returnImmediately'].flatMap(protoNames)
  const translated = definedMembers({
    ...omit(given, ...known, 'blocking'),
    acceptedOutputModes: readProto(given, 'acceptedOutputModes'),
    historyLength: readProto(given, 'historyLength'),
    ...(isJsonObject(pushConfig) && {
      [PUSH_CONFIG[to]]: translatePushConfig(pushConfig, translation, `configuration.${PUSH_CONFIG[from]}.`),
    }),
    ...(to === 'proto 1.0'
      ? { returnImmediately: returnsImmediately || undefined }
      : { blocking: waits ? !returnsImmediately : undefined }),
  })
  return Object.keys(translated).length > 0 || configuration ? translated : undefined
}

// Write

const jsonRpcParams = (operation: OperationName, params: Params, version: WireVersion): JsonObject => {
  const { task, config, message, configuration, pushConfig, others } = params
  if (pushConfig) return pushConfig
  if (operations[operation].sends) return { message, configuration, ...withNumbers(others) }
  if (TASK_OPERATIONS.includes(operation)) return { id: task, ...withNumbers(others) }
  if (operations[operation].needs !== 'pushNotifications') return withNumbers(others)
  return version === '0.3'
    ? { id: task, pushNotificationConfigId: config, ...omit(others, 'pageSize', 'pageToken') }
    : { taskId: task, id: config, ...withNumbers(others) }
}

/** The members that HTTP+JSON has in its query, as text. */
const withNumbers = (others: JsonObject): JsonObject =>
  Object.fromEntries(jsonEntries(others).map(([name, value]) => [name, fromQuery(name, value)]))

const fromQuery = (name: string, value: Json): Json => {
  if (typeof value !== 'string') return value
  if (/^(?:historyLength|pageSize)$/.test(name) && /^\d{1,9}$/.test(value)) return Number(value)
  return name === 'includeArtifacts' && /^(?:true|false)$/.test(value) ? value === 'true' : value
}

const writeRest = (
  operation: OperationName,
  { task, config, message, configuration, pushConfig, others }: Params,
  version: WireVersion,
): Pick<TranslatedRequest, 'httpMethod' | 'path' | 'params'> => {
  const [httpMethod = 'GET'] = operations[operation].http[0]
  const template = pathOf(operation, version) ?? ''
  const owner = pushConfig ? (pushConfig.taskId ?? nameOfTask(pushConfig)) : task
  const path = template
    .replace(
      operations[operation].needs === 'pushNotifications' ? '{taskId}' : '{id}',
      encodeURIComponent(toText(owner)),
    )
    .replace('{id}', encodeURIComponent(toText(config)))
  if (pushConfig) return { httpMethod, path, params: pushConfig }
  if (message) return { httpMethod, path, params: definedMembers({ message, configuration, ...others }) }
  if (httpMethod === 'POST') return { httpMethod, path, params: others }
  const query = new URLSearchParams(jsonEntries(others).flatMap(([name, value]) => toQuery(name, value)))
  return { httpMethod, path: query.size > 0 ? `${path}?${query}` : path }
}

const nameOfTask = ({ name }: JsonObject): string => /^tasks\/([^/]+)/.exec(toText(name))?.[1] ?? ''

/** Objects such as `metadata` have no place in a query. */
const toQuery = (name: string, value: Json): [string, string][] => {
  const text = toText(value)
  return text === '' ? [] : [[name, text]]
}
