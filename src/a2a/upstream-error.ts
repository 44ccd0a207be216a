import type { JsonObject } from '../card/json.ts'
import type { Call } from './call.ts'
import { eventText, rpcErrorText } from './error-answer.ts'

/** Whose call it is that an error answers, and in which form. */
export type ErrorForm = Pick<Call, 'binding' | 'version' | 'id'>

const statusNames: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  429: 'RESOURCE_EXHAUSTED',
}

/** The body of an error that stands for what an agent said in no form of A2A; `status` is the agent's. */
export const upstreamErrorText = ({ binding, version, id }: ErrorForm, message: string, status: number): string => {
  const error = { code: -32603, message }
  if (binding === 'JSONRPC') return rpcErrorText(id, error)
  const rest: JsonObject =
    version === '0.3'
      ? error
      : { error: { code: status, status: statusNames[status] ?? 'UNAVAILABLE', message, details: [] } }
  return JSON.stringify(rest)
}

/** The event that ends a stream in place of its agent. Over HTTP+JSON events have no envelope: their type tells an error. */
export const lastEventText = (form: ErrorForm, message: string): string =>
  (form.binding === 'HTTP+JSON' ? 'event: error\n' : '') + eventText(upstreamErrorText(form, message, 502))
