import type { Protocol } from '../../card/model/index.ts'
import { isJsonObject, type Json, type JsonObject, jsonEquals, omit } from '../../json/index.ts'
import { A2A_DOMAIN, type SpecifiedError, specifiedErrors } from '../error-catalogue.ts'
import { ERROR_INFO } from '../error-response.ts'
import { isPlainObject, readNumber } from '../jsonrpc.ts'
import type { AnswerPlace } from '../results.ts'
import type { Loss } from './translation.ts'

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

/** How an error is translated. Over HTTP+JSON, `status` is the one of the agent's response. */
type ErrorTranslation = { from: Protocol; to: Protocol; place: AnswerPlace; status: number }

/** Translates the error in an answer. Returns it with the status of HTTP+JSON. */
export const translateError = (
  body: JsonObject,
  { from, to, place, status }: ErrorTranslation,
): { body: JsonObject; status: number; losses: Loss[] } => {
  const error =
    from.binding === 'JSONRPC' ? readJsonRpcError(body.error) : readRestError(body, place === 'event' ? 500 : status)
  const data = to.version === '1.0' ? toDetails(error) : from.version === '1.0' ? toData(error) : error.data
  const { code, message, losses } = error
  const written: JsonObject = { code, message, ...(isEmpty(data) ? {} : { data }) }
  if (to.binding === 'JSONRPC') return { body: { error: written }, status: error.status, losses }
  const own = { status: error.status, losses: losses.filter(loss => loss !== 'error.status') }
  if (to.version === '0.3') return { ...own, body: written }
  const known = errorOf(code)
  const { grpcStatus } = known ?? INTERNAL
  return {
    body: {
      error: { code: error.status, status: grpcStatus, message, ...(isEmpty(data) ? {} : { details: data }) },
    },
    status: error.status,
    losses: known ? own.losses : [...own.losses, 'error.code'],
  }
}

const errorOf = (code: number): SpecifiedError | undefined =>
  [...specifiedErrors, INTERNAL].find(each => each.code === code)

const isEmpty = (data: Json | undefined): boolean =>
  data === undefined || data === null || (Array.isArray(data) && data.length === 0)

const readJsonRpcError = (error: Json | undefined): AnsweredError => {
  const { code: written, message, data, ...others } = isJsonObject(error) ? error : {}
  const code = readNumber(written)
  const number = typeof code === 'number' ? code : INTERNAL.code
  const { httpStatus: status } = errorOf(number) ?? INTERNAL
  return { code: number, message: toMessage(message), status, data, losses: lossesOf(others) }
}

/** Members that A2A does not define are left out. */
const lossesOf = (others: JsonObject): Loss[] => (Object.keys(others).length > 0 ? ['*'] : [])

const toMessage = (message: Json | undefined): string => (typeof message === 'string' ? message : '')

/** Reads a google.rpc.Status, or a bare error of 0.3, which has the code of JSON-RPC. */
const readRestError = (body: JsonObject, status: number): AnsweredError => {
  const { code: written, message, data, details = data, ...others } = isJsonObject(body.error) ? body.error : body
  const code = readNumber(written)
  const reason = reasonIn(details)
  const own = typeof code === 'number' && code < 0 ? code : undefined
  const named = own ?? specifiedErrors.find(each => each.reason === reason)?.code ?? CODES_OF_STATUSES.get(status)
  return {
    code: named ?? INTERNAL.code,
    message: toMessage(message),
    status,
    data: details,
    losses: [...(named === undefined ? ['error.status'] : []), ...lossesOf(omit(others, 'status'))],
  }
}

const reasonIn = (details: Json | undefined): Json | undefined =>
  (Array.isArray(details) ? details : [])
    .map(detail => (isJsonObject(detail) ? detail.reason : undefined))
    .find(reason => typeof reason === 'string')

/**
 * Returns the typed details of 1.0, which name the error, because over HTTP nothing else does. What 0.3 has in `data`, in any form,
 * is kept as a detail of the type Struct or Value.
 */
const toDetails = ({ code, data }: AnsweredError): Json[] => {
  const isTyped =
    Array.isArray(data) && data.every(detail => isJsonObject(detail) && typeof detail['@type'] === 'string')
  const details = isTyped ? data : isEmpty(data) ? [] : [toDetail(data ?? null)]
  const info = infoOf(code)
  return info === undefined || reasonIn(details) !== undefined ? details : [info, ...details]
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

/** Returns the details of 1.0 as `data` of 0.3: the value of a Struct or Value that is alone, and no detail that the code implies. */
const toData = ({ code, data }: AnsweredError): Json | undefined => {
  if (!Array.isArray(data)) return data
  const details = data.filter(detail => !jsonEquals(detail, infoOf(code)))
  const [only] = details
  return details.length === 1 && isJsonObject(only) && jsonEquals(only, toDetail(only.value ?? null))
    ? only.value
    : details
}
