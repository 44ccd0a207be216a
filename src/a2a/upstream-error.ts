import type { A2ACall } from './call.ts'
import { eventText, rpcErrorText } from './error-answer.ts'
import { toJsonRpcError, toRestError } from './error-response.ts'
import type { Failure } from './verdict.ts'

/** Whose call it is that an error answers, and in which form. */
export type ErrorForm = Pick<A2ACall, 'binding' | 'version' | 'id'>

/** The body that tells a failure in the place of an agent. */
export const upstreamErrorText = ({ binding, version, id }: ErrorForm, failure: Failure): string =>
  binding === 'JSONRPC'
    ? rpcErrorText(id, toJsonRpcError(failure, version))
    : JSON.stringify(toRestError(failure, version))

/** The event that ends a stream in place of its agent. Over HTTP+JSON events have no envelope: their type tells an error. */
export const toErrorEvent = (form: ErrorForm, failure: Failure): string =>
  (form.binding === 'HTTP+JSON' ? 'event: error\n' : '') + eventText(upstreamErrorText(form, failure))
