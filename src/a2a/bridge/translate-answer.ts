import { formOf, type Protocol, versions } from '../../card/model/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, jsonEquals, readNumber } from '../../json/index.ts'
import { A2A_DOMAIN, type SpecifiedError, specifiedErrors } from '../error-catalogue.ts'
import { ERROR_INFO } from '../error-response.ts'
import { type ResultName, readWrapped, resultKinds, resultNames, shapeOfResult, shapes } from '../objects/index.ts'
import { type OperationName, operations } from '../operations.ts'
import { type AnswerPlace, isRestError, reasonOf } from '../read-result.ts'
import { isPresent, type Loss, type Translation, translateObject } from './objects.ts'
import { translateTaskPushConfig } from './params.ts'

/** Translates an answer or event of an agent, which must have the shape of its version. `id` is for JSON-RPC. */
export const translateAnswer = (
  answer: Json,
  place: AnswerPlace,
  status: number,
  call: { operation: OperationName; from: Protocol; to: Protocol; id: Json; task?: Json | undefined },
): { body: Json; status: number; isError: boolean; losses: Loss[] } => {
  const { operation, from, to, id, task } = call
  const body = isJsonObject(answer) ? answer : {}
  const write = (result: JsonObject): JsonObject => ({ jsonrpc: '2.0', id, ...result })
  // Over HTTP+JSON, the status of a response marks an error, and nothing in it.
  if (from.binding === 'JSONRPC' ? body.error !== undefined : isRestError(body, place)) {
    const error = translateError(body, { from, to, place, status })
    if (to.binding !== 'JSONRPC') return { ...error, isError: true }
    // Over JSON-RPC, the status is not part of the error, but an agent may have its own.
    return { ...error, isError: true, body: write(error.body), status: from.binding === 'JSONRPC' ? status : 200 }
  }
  const result = (from.binding === 'JSONRPC' ? body.result : answer) ?? null
  const translation: Translation = { from: shapeOfResult(from, result), to: shapes[formOf(to)], losses: [] }
  const translated = translateResult(operation, result, translation, task)
  return {
    body: to.binding === 'JSONRPC' ? write({ result: translated }) : translated,
    status: 200,
    isError: false,
    losses: translation.losses,
  }
}

const translateResult = (operation: OperationName, result: Json, translation: Translation, task?: Json): Json => {
  const { result: type } = operations[operation]
  if (type === 'none') return translation.to.hasKinds ? null : {}
  if (type === 'card') return result
  if ('list' in type) return type.of === 'pushConfig' ? translatePushConfigs(result, translation, task) : result
  if (!isJsonObject(result)) return result
  if ('oneOf' in type) return translateWrapped(result, translation)
  return type.one === 'pushConfig'
    ? translateTaskPushConfig(result, translation, task)
    : translateObject(type.one, result, translation)
}

/** The form with `kind` has a list; ProtoJSON an object with pages, which is empty if there are none. */
const translatePushConfigs = (result: Json, translation: Translation, task: Json | undefined): Json => {
  const { to, losses } = translation
  const page = isJsonObject(result) ? result : {}
  const configs = Array.isArray(result) ? result : page.configs
  const translated = (Array.isArray(configs) ? configs : []).map(config =>
    isJsonObject(config) ? translateTaskPushConfig(config, translation, task) : config,
  )
  if (!to.hasKinds) {
    // Readers of 0.3 would take it for the form with `kind`.
    const { kind, ...others } = page
    if (to.twin && isPresent(kind)) losses.push('*')
    return { ...(to.twin ? others : page), configs: translated }
  }
  const others = Object.keys(page).filter(name => name !== 'configs' && isPresent(page[name]))
  losses.push(...new Set(others.map(name => (/^next_?page_?token$/i.test(name) ? 'nextPageToken' : '*'))))
  return translated
}

/** Translates one of several objects: in the form with `kind` it is the value itself, in ProtoJSON its only member. */
const translateWrapped = (result: JsonObject, translation: Translation): JsonObject => {
  const { from, to, losses } = translation
  const readAs = (name: ResultName): Json | undefined =>
    from.hasKinds ? (result.kind === resultKinds[name] ? result : null) : readWrapped(result, name, from)
  const name = resultNames.find(each => isJsonObject(readAs(each)))
  const found = name && readAs(name)
  if (name === undefined || !isJsonObject(found)) return result
  if (!from.hasKinds && Object.values(result).filter(isPresent).length > 1) losses.push('*')
  const object = translateObject(name, found, translation)
  return to.hasKinds ? object : { [name]: object }
}

// Errors

const INTERNAL: SpecifiedError = { code: -32603, reason: 'INTERNAL_ERROR', httpStatus: 500, grpcStatus: 'INTERNAL' }

/** The codes of JSON-RPC for statuses of HTTP, where an error of HTTP+JSON has no reason of A2A. */
const CODES_OF_STATUSES: ReadonlyMap<number, number> = new Map([
  [400, -32602],
  [404, -32001],
  [405, -32601],
  [500, INTERNAL.code],
  [501, -32004],
])

/** An error of an agent, whatever its version and binding. `status` is the one of HTTP+JSON. */
type AnsweredError = { code: number; message: string; status: number; data?: Json | undefined; losses: Loss[] }

/** Translates the error in an answer, whose status is that of HTTP+JSON. Returns it with the status for the caller. */
const translateError = (
  body: JsonObject,
  { from, to, place, status }: { from: Protocol; to: Protocol; place: AnswerPlace; status: number },
): { body: JsonObject; status: number; losses: Loss[] } => {
  const error =
    from.binding === 'JSONRPC' ? readJsonRpcError(body.error) : readRestError(body, place === 'event' ? 500 : status)
  const [given, wanted] = [from, to].map(({ version }) => versions[version].errors)
  const data = wanted === 'details' ? toDetails(error) : given === 'details' ? toData(error) : error.data
  const { code, message } = error
  const written: JsonObject = { code, message, ...(isEmpty(data) ? {} : { data }) }
  if (to.binding === 'JSONRPC') return { body: { error: written }, status: error.status, losses: error.losses }
  const losses = error.losses.filter(loss => loss !== 'error.status')
  if (wanted === 'data') return { status: error.status, losses, body: written }
  const known = errorOf(code)
  if (!known) losses.push('error.code')
  const details = isEmpty(data) ? {} : { details: data }
  const { grpcStatus } = known ?? INTERNAL
  return {
    body: { error: { code: error.status, status: grpcStatus, message, ...details } },
    status: error.status,
    losses,
  }
}

const errorOf = (code: number): SpecifiedError | undefined =>
  [...specifiedErrors, INTERNAL].find(each => each.code === code)

const isEmpty = (data: Json | undefined): boolean => (Array.isArray(data) ? data.length === 0 : (data ?? null) === null)

const readJsonRpcError = (error: Json | undefined): AnsweredError => {
  const { code: written, message, data, ...others } = isJsonObject(error) ? error : {}
  const read = readNumber(written)
  const code = typeof read === 'number' ? read : INTERNAL.code
  const { httpStatus: status } = errorOf(code) ?? INTERNAL
  return { code, message: toMessage(message), status, data, losses: lossesOf(others) }
}

/** Members that A2A does not define are left out. */
const lossesOf = (others: JsonObject): Loss[] => (Object.keys(others).length > 0 ? ['*'] : [])

const toMessage = (message: Json | undefined): string => (typeof message === 'string' ? message : '')

/** Reads a google.rpc.Status, or a bare error of 0.3, which has the code of JSON-RPC. */
const readRestError = (body: JsonObject, status: number): AnsweredError => {
  const error = isJsonObject(body.error) ? body.error : body
  const { code: written, message, data, details = data, status: _, ...others } = error
  const code = readNumber(written)
  const reason = reasonOf(details)
  const own = typeof code === 'number' && code < 0 ? code : undefined
  const named = own ?? specifiedErrors.find(each => each.reason === reason)?.code ?? CODES_OF_STATUSES.get(status)
  return {
    code: named ?? INTERNAL.code,
    message: toMessage(message),
    status,
    data: details,
    losses: [...(named === undefined ? ['error.status'] : []), ...lossesOf(others)],
  }
}

/** Returns the details of 1.0, which name the error. The `data` of 0.3 becomes a detail of the type Struct or Value. */
const toDetails = ({ code, data }: AnsweredError): Json[] => {
  const isTyped =
    Array.isArray(data) && data.every(detail => isJsonObject(detail) && typeof detail['@type'] === 'string')
  const details = isTyped ? data : isEmpty(data) ? [] : [toDetail(data ?? null)]
  const info = infoOf(code)
  return info === undefined || reasonOf(details) !== undefined ? details : [info, ...details]
}

/** Returns the detail that a code implies; undefined if the code is not specified. */
const infoOf = (code: number): JsonObject | undefined => {
  const known = specifiedErrors.find(each => each.code === code)
  return known && { '@type': ERROR_INFO, reason: known.reason, domain: A2A_DOMAIN }
}

const toDetail = (value: Json): JsonObject => ({
  '@type': `type.googleapis.com/google.protobuf.${isPlainObject(value) ? 'Struct' : 'Value'}`,
  value,
})

/** Returns the details of 1.0 as `data` of 0.3, without one that the code implies; a single value as itself. */
const toData = ({ code, data }: AnsweredError): Json | undefined => {
  if (!Array.isArray(data)) return data
  const details = data.filter(detail => !jsonEquals(detail, infoOf(code)))
  const [only] = details
  return details.length === 1 && isJsonObject(only) && jsonEquals(only, toDetail(only.value ?? null))
    ? only.value
    : details
}
