import type { Call } from './call.ts'
import { eventText, rpcErrorText } from './error-answer.ts'
import { restError, rpcError } from './error-response.ts'
import type { Failure } from './verdict.ts'

/** Whose call it is that an error answers, and in which form. */
export type ErrorForm = Pick<Call, 'binding' | 'version' | 'id'>

/** The body that tells a failure in the place of an agent. */
export const upstreamErrorText = ({ binding, version, id }: ErrorForm, failure: Failure): string =>
  binding === 'JSONRPC' ? rpcErrorText(id, rpcError(failure, version)) : JSON.stringify(restError(failure, version))

/** The event that ends a stream in place of its agent. Over HTTP+JSON events have no envelope: their type tells an error. */
export const lastEventText = (form: ErrorForm, failure: Failure): string =>
  (form.binding === 'HTTP+JSON' ? 'event: error\n' : '') + eventText(upstreamErrorText(form, failure))
