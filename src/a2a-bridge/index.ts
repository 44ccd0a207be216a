import type { CallError } from '../a2a/errors.ts'
import { parseJsonLossless } from '../a2a/jsonrpc.ts'
import { type A2ACall, operations } from '../a2a/operations.ts'
import type { AnswerPlace } from '../a2a/results.ts'
import type { Protocol } from '../card/model/calls.ts'
import { translateAnswer } from './answers.ts'
import { translateRequest } from './requests.ts'
import type { Loss } from './translation.ts'

/** An answer in the form of the caller: JSON text, and the status of the response that it is the body of. */
export type AnswerForCaller = { text: string; status: number }

/** A call as an agent reads it that has another version or binding than the caller. */
export type BridgedCall = {
  /** The call in the version and binding of the agent. `params` are those of JSON-RPC, or the body of HTTP+JSON. */
  call: A2ACall
  httpMethod: string
  /** Over HTTP+JSON, the path below the agent's endpoint. */
  path?: string
  hasBody: boolean
  /** What the call lost, and how answers are translated. They must have been checked. */
  losses: readonly Loss[]
  translate: (text: string, place: AnswerPlace, status: number) => AnswerForCaller & { losses: readonly Loss[] }
}

/** Translates a call for its agent. Refuses an operation that the version of the agent does not have. */
export const bridgeCall = (call: A2ACall, to: Protocol): BridgedCall | CallError => {
  const { operation, id } = call
  const request = translateRequest(call, to)
  if (request === undefined)
    return { kind: 'operation-missing', method: operations[operation][call.version] ?? operation, version: to.version }
  const { httpMethod, path, params, losses } = request
  const answers = { operation, from: to, to: call, id }
  return {
    call: { ...call, ...to, params: params ?? {} },
    httpMethod,
    ...(path !== undefined && { path }),
    hasBody: params !== undefined,
    losses,
    translate: (text, place, status) => {
      const parsed = parseJsonLossless(text === '' ? 'null' : text)
      const { body, ...translated } = translateAnswer('value' in parsed ? parsed.value : null, place, status, answers)
      return { text: JSON.stringify(body), ...translated }
    },
  }
}
