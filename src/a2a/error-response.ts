import { versions, type WireVersion } from '../card/model/start.ts'
import { a2aResponse } from '../http/index.ts'
import type { Json, JsonObject } from '../json/index.ts'
import type { CallError } from './call-error.ts'
import { ERRORS, type ErrorSpec } from './error-catalogue.ts'
import { type A2ACall, type OperationName, operations } from './operations.ts'

/** A JSON-RPC error object. */
export type RpcError = { code: number; message: string; data?: JsonObject | JsonObject[] }

/** The form in which a caller reads an error. `id` is null over HTTP+JSON, and where it could not be read. */
export type ErrorForm = Pick<A2ACall, 'binding' | 'version' | 'id'> & { operation?: OperationName }

/** Builds the JSON-RPC error object in the form of a version. */
export const toJsonRpcError = (error: CallError, version: WireVersion): RpcError =>
  writeJsonRpcError(describeError(error), version)

const writeJsonRpcError = (description: ErrorDescription, version: WireVersion): RpcError => {
  const { code, message, reason, metadata, violations } = description
  if (versions[version].errors === 'details') return { code, message, data: toDetails(description) }
  return { code, message, data: { reason, ...metadata, ...(violations.length > 0 && { fieldViolations: violations }) } }
}

/** Builds the HTTP response of a call that was refused, or failed before any of its response was passed on. */
export const errorResponse = (error: CallError, form: ErrorForm): Response => {
  const description = describeError(error)
  const { status, headers } = description
  const text = writeText(description, form)
  // A 0.3 client that asked for a stream reads JSON only if the status shows that there is no stream.
  return isEventForm(form) && status.JSONRPC === 200
    ? a2aResponse(eventText(text), 200, { ...headers, 'Content-Type': 'text/event-stream' })
    : a2aResponse(text, status[form.binding], { ...headers, 'Content-Type': jsonTypeOf(form) })
}

/** Returns the media type of JSON in a binding and version. */
export const jsonTypeOf = ({ binding, version }: Pick<ErrorForm, 'binding' | 'version'>): string =>
  binding === 'HTTP+JSON' ? versions[version].restType : 'application/json'

/** Checks whether an error is sent as an event: a 0.3 client that requested a stream reads nothing else with 200. */
export const isEventForm = ({ binding, version, operation }: ErrorForm): boolean =>
  binding === 'JSONRPC' &&
  versions[version].readsErrorEvents &&
  operation !== undefined &&
  operations[operation].streams === true

/** Writes the body of an error response. */
export const errorText = (error: CallError, form: ErrorForm): string => writeText(describeError(error), form)

/** Over HTTP+JSON, an error is a google.rpc.Status in 1.0, and the bare JSON-RPC error in 0.3. */
const writeText = (description: ErrorDescription, { binding, version, id }: ErrorForm): string => {
  if (binding === 'JSONRPC') return rpcErrorText(id, writeJsonRpcError(description, version))
  if (versions[version].errors === 'data') return JSON.stringify(writeJsonRpcError(description, version))
  const { status, grpcStatus, message } = description
  const details = toDetails(description)
  return JSON.stringify({ error: { code: status['HTTP+JSON'], status: grpcStatus, message, details } })
}

/** Writes the event that ends a stream in place of the agent. Over HTTP+JSON, only its type marks it as an error. */
export const toErrorEvent = (error: CallError, form: ErrorForm): string =>
  (form.binding === 'HTTP+JSON' ? 'event: error\n' : '') + eventText(errorText(error, form))

/** Writes a JSON-RPC error response. */
export const rpcErrorText = (id: Json, error: RpcError): string => JSON.stringify({ jsonrpc: '2.0', id, error })

/** Writes one server-sent event. JSON text has no line breaks of its own. */
export const eventText = (data: string): string => `data: ${data}\n\n`

/** The type of the detail of 1.0 that names an error by its reason. */
export const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'

/** The `data` and `details` of 1.0: google.rpc.ErrorInfo, and google.rpc.BadRequest where parameters are wrong. */
const toDetails = ({ reason, domain, metadata, violations }: ErrorDescription): JsonObject[] => {
  const texts: JsonObject = {}
  for (const name in metadata) {
    const value = metadata[name]
    texts[name] = Array.isArray(value) ? value.join(', ') : String(value)
  }
  const info: JsonObject = { '@type': ERROR_INFO, reason, domain }
  if (Object.keys(texts).length > 0) info.metadata = texts
  return violations.length === 0
    ? [info]
    : [info, { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }]
}

/** The domain of the reasons that the specification does not define. */
const HOST_DOMAIN = 'calling-card'

/** The bounds of callers' own text in errors, in characters and items: recognizable and short. */
const MAX_TEXT_LENGTH = 200
const MAX_LIST_ITEMS = 50

/** A row of the catalogue, filled in for one error. */
type ErrorDescription = ReturnType<typeof describeError>

/** Describes an error for its caller, with long text cut. */
export const describeError = (error: CallError) => {
  // TypeScript cannot follow a kind to its row.
  const row = ERRORS[error.kind] as ErrorSpec<CallError>
  const shown = shortenMembers(error)
  const httpStatus = resolve(row.httpStatus, shown)
  return {
    code: row.code,
    reason: row.reason,
    domain: row.domain ?? HOST_DOMAIN,
    status: { JSONRPC: row.jsonRpcStatus ?? httpStatus, 'HTTP+JSON': httpStatus },
    grpcStatus: resolve(row.grpcStatus, shown),
    headers: resolve(row.headers ?? {}, shown),
    message: resolve(row.message, shown),
    metadata: row.metadata?.(shown) ?? {},
    violations: shown.kind === 'invalid-params' ? shown.violations.map(shortenMembers) : [],
  }
}

const resolve = <Value extends string | number | object>(
  column: Value | ((error: CallError) => Value),
  error: CallError,
): Value => (typeof column === 'function' ? column(error) : column)

const shortenMembers = <Value extends object>(value: Value): Value => {
  const short = { ...value }
  for (const name in short) short[name] = shorten(short[name]) as Value[typeof name]
  return short
}

const shorten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, MAX_LIST_ITEMS).map(shorten)
  if (typeof value !== 'string' || value.length <= MAX_TEXT_LENGTH) return value
  return `${value.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…`
}
