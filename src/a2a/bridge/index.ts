import type { Protocol } from '../../card/model/index.ts'
import type { CallError } from '../errors.ts'
import { parseJsonLossless } from '../jsonrpc.ts'
import type { A2ACall } from '../operations.ts'
import type { AnswerPlace } from '../results.ts'
import { translateAnswer } from './answers.ts'
import { translateRequest } from './requests.ts'
import type { Loss } from './translation.ts'

/** An answer in the form of the caller: JSON text, the status of the response that it is the body of, and what was lost. */
export type AnswerForCaller = { text: string; status: number; isError: boolean; losses: readonly Loss[] }

/** A call as an agent reads it that has another version or binding than the caller. */
export type BridgedCall = {
  /** The call in the version and binding of the agent. `params` are those of JSON-RPC, or the body of HTTP+JSON. */
  call: A2ACall
  httpMethod: string
  /** Over HTTP+JSON, the path below the agent's endpoint. */
  path?: string
  hasBody: boolean
  /** What the call lost. */
  losses: readonly Loss[]
  /** Translates an answer that was checked: one with the shape of the agent's version. */
  translate: (text: string, place: AnswerPlace, status: number) => AnswerForCaller | CallError
}

/** The id of a call that has none, as over HTTP+JSON: A2A requires a string or an integer over JSON-RPC. */
const ID = 1

/** Translates a call for its agent. Refuses an operation that the version of the agent does not have. */
export const bridgeCall = (call: A2ACall, { binding, version }: Protocol): BridgedCall | CallError => {
  const { operation, id } = call
  const agent: Protocol = { binding, version }
  const request = translateRequest(call, agent)
  if ('kind' in request) return request
  const { httpMethod, path, params, task, losses } = request
  const answers = { operation, from: agent, to: call, id, task }
  return {
    call: { ...call, ...agent, id: id ?? ID, params: params ?? {} },
    httpMethod,
    ...(path !== undefined && { path }),
    hasBody: params !== undefined,
    losses,
    translate: (text, place, status) => {
      const parsed = parseJsonLossless(text === '' ? 'null' : text)
      // What JavaScript can read, but not write as it was.
      if ('kind' in parsed) return { kind: 'invalid-response', status, detail: 'the body must be JSON' }
      const { body, ...translated } = translateAnswer(parsed.value, place, status, answers)
      return { ...translated, text: JSON.stringify(body) }
    },
  }
}
