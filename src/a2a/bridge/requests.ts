import type { Protocol } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit, toText } from '../../json/index.ts'
import { MAX_TRANSLATED_PATH_LENGTH } from '../../limits.ts'
import { type CallError, invalidParam } from '../errors.ts'
import { formOf } from '../forms.ts'
import { type A2ACall, type OperationName, operations } from '../operations.ts'
import { matchRestPath, normalizeRestPath, pathOf } from '../rest-paths.ts'
import { formOfCall } from '../sent-message.ts'
import { checkParams, type Params, readParams, TASK_OPERATIONS, translateParams } from './params.ts'
import { namesInPushConfig } from './push-configs.ts'
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
  const params = translateParams(operation, read, to, translation)
  const { losses } = translation
  const request =
    to.binding === 'JSONRPC' ? writeJsonRpc(operation, params, to) : writeRest(operation, params, to, losses)
  if ('kind' in request) return request
  const { path = '' } = request
  if (path.length > MAX_TRANSLATED_PATH_LENGTH)
    return invalidParam('params', `must fit into ${MAX_TRANSLATED_PATH_LENGTH} characters of a path and query`)
  return { ...request, task: params.task, losses }
}

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
