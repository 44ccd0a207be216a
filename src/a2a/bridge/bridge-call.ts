import { formOf, type Protocol } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEntries, omit, toText } from '../../json/index.ts'
import { MAX_TRANSLATED_PATH_LENGTH } from '../../limits.ts'
import { type CallError, invalidParam } from '../call-error.ts'
import { parseJsonLossless } from '../jsonrpc.ts'
import { namesInPushConfig, protoNames, shapes } from '../objects/index.ts'
import { type A2ACall, methodOf, type OperationName, operations } from '../operations.ts'
import { type AnswerPlace, NOT_JSON } from '../read-result.ts'
import { matchRestPath, normalizeRestPath, pathOf } from '../rest-paths.ts'
import { shapeOfCall } from '../sent-message.ts'
import { isPresent, type Loss, type Translation } from './objects.ts'
import { checkParams, definedMembers, idParams, type Params, readParams, translateParams } from './params.ts'
import { translateAnswer } from './translate-answer.ts'

/** An answer in the form of the caller: JSON text, the status of its response, and what was lost. */
export type AnswerForCaller = { text: string; status: number; isError: boolean; losses: readonly Loss[] }

/** A call as an agent reads it that has another version or binding than the caller. */
export type BridgedCall = Exclude<ReturnType<typeof bridgeCall>, CallError>

/** The id of a call that has none, as over HTTP+JSON: A2A requires a string or an integer over JSON-RPC. */
const ID = 1

/** Translates a call for its agent. Refuses an operation that its version lacks, and parameters that cannot be read. */
export const bridgeCall = (call: A2ACall, { binding, version }: Protocol) => {
  const { operation, id } = call
  const agent: Protocol = { binding, version }
  if (methodOf(operation, version) === undefined) {
    const method = methodOf(operation, call.version) ?? operation
    return { kind: 'operation-missing', method, version } satisfies CallError
  }
  const losses: Loss[] = []
  const translation: Translation = { from: shapeOfCall(call), to: shapes[formOf(agent)], losses }
  const read = readParams(call)
  const invalid = checkParams(call, read, translation.from)
  if (invalid) return invalid
  const params = translateParams(operation, read, translation)
  const write = binding === 'JSONRPC' ? writeJsonRpc : writeRest
  const request = write(operation, params, translation)
  if ('kind' in request) return request
  const { httpMethod, path, params: body } = request
  if (path !== undefined && path.length > MAX_TRANSLATED_PATH_LENGTH)
    return invalidParam('params', `must fit into ${MAX_TRANSLATED_PATH_LENGTH} characters of a path and query`)
  const answers = { operation, from: agent, to: call, id, task: params.task }
  return {
    httpMethod,
    path,
    losses,
    /** In the version and binding of the agent. `params` are those of JSON-RPC, or the body of HTTP+JSON. */
    call: { ...call, ...agent, id: id ?? ID, params: body ?? {} },
    hasBody: body !== undefined,
    /** Translates an answer that was checked: one with the shape of the agent's version. */
    translate: (text: string, place: AnswerPlace, status: number): AnswerForCaller | CallError => {
      const parsed = parseJsonLossless(text === '' ? 'null' : text)
      // JavaScript can read some text that it cannot write again.
      if ('kind' in parsed) return { kind: 'invalid-response', status, detail: NOT_JSON.fault }
      const { body, ...translated } = translateAnswer(parsed.value, place, status, answers)
      return { ...translated, text: JSON.stringify(body) }
    },
  }
}

/** A call as its agent gets it. `params` are the body of HTTP+JSON, too. */
type WrittenRequest = { httpMethod: string; path?: string; params?: JsonObject }

const writeJsonRpc = (operation: OperationName, params: Params, { to }: Translation): WrittenRequest => {
  const { task, config, message, configuration, pushConfig } = params
  const others = Object.fromEntries(jsonEntries(params.others).map(([name, value]) => [name, fromQuery(name, value)]))
  const write = (written: JsonObject) => ({ httpMethod: 'POST', params: definedMembers(written) })
  if (pushConfig) return write(pushConfig)
  if (operations[operation].sends) return write({ message, configuration, ...others })
  const [ofTask, ofConfig] = idParams(operation, to)
  // A list names no configuration.
  const named = operations[operation].pushConfig && ofConfig
  return write({ ...(ofTask && { [ofTask.key]: task }), ...(named && { [named.key]: config }), ...others })
}

/** The type of each parameter that is text in a query, by its names in lower case. */
const QUERY_TYPES = new Map(
  Object.values(operations).flatMap(({ params = {} }) =>
    Object.entries(params).flatMap(([name, { type }]) =>
      protoNames(name).map(each => [each.toLowerCase(), type] as const),
    ),
  ),
)

/** Returns the number or boolean that a query of HTTP+JSON has as text. */
const fromQuery = (name: string, value: Json): Json => {
  if (typeof value !== 'string') return value
  const type = QUERY_TYPES.get(name.toLowerCase())
  if (type === 'integer' && /^\d{1,9}$/.test(value)) return Number(value)
  return type === 'boolean' && /^(?:true|false)$/.test(value) ? value === 'true' : value
}

const writeRest = (
  operation: OperationName,
  { task, config, message, configuration, pushConfig, others }: Params,
  { to, losses }: Translation,
): WrittenRequest | CallError => {
  const [httpMethod = 'GET'] = operations[operation].http[0]
  const { tenant } = pushConfig ?? others
  // A value must mean the same in a path to a server that decodes before it routes.
  if (isPresent(tenant) && 'kind' in matchRestPath('GET', `tasks/${encodeSegment(tenant)}`))
    return invalidParam('tenant', 'must be a tenant that a path can have')
  const path = (pathOf(operation, to.version) ?? '')
    .replace(`{${operations[operation].task}}`, () => encodeSegment(task))
    .replace('{id}', () => encodeSegment(config))
  const match = matchRestPath(httpMethod, normalizeRestPath(path))
  const isMisread = pushConfig && to.nestsPushConfig && !namesConfig(pushConfig, task)
  if ('kind' in match || match.operation !== operation || isMisread)
    return invalidParam('id', 'must be an id that a path can have')
  // Over HTTP, 1.0 has the tenant in the path.
  const below = isPresent(tenant) ? `${encodeURIComponent(toText(tenant))}/${path}` : path
  const rest = omit(others, 'tenant')
  const write = (params: JsonObject) => ({ httpMethod, path: below, params })
  if (pushConfig) return write(to.nestsPushConfig ? toCreate(pushConfig) : pushConfig)
  if (message) return write(definedMembers({ message, configuration, ...rest }))
  if (httpMethod === 'POST') return write(rest)
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

/** Checks whether the name of a configuration of 0.3 over HTTP has its task and its id, which a slash would end. */
const namesConfig = ({ name, pushNotificationConfig: config }: JsonObject, task: Json | undefined): boolean => {
  const { taskId, id = '' } = namesInPushConfig(name)
  return taskId === task && id === toText(isJsonObject(config) ? config.id : undefined)
}

/** Wraps a configuration of 0.3 over HTTP in what creates it there. */
const toCreate = (config: JsonObject): JsonObject => {
  const { taskId = '', id } = namesInPushConfig(config.name)
  return { parent: `tasks/${taskId}`, ...(id !== undefined && { configId: id }), config }
}
