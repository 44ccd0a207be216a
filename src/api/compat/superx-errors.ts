import { errorResponse, type RpcError, rpcErrorText } from '../../a2a/error-response.ts'
import type { CallError } from '../../a2a/errors.ts'
import type { Authentication } from '../../auth/principal.ts'
import { HttpError } from '../../http/errors.ts'
import type { Handler } from '../../http/handler.ts'
import { a2aResponse } from '../../http/responses.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import type { SourceFailure } from '../../registry/records.ts'

/** Why SuperX's door has no result: as of any call; as of the same request over HTTP; or because a card could not be had. */
export type RpcProblem = CallError | HttpError | { kind: 'source'; agent: string; failure: Failure }

type Failure = Pick<SourceFailure, 'status' | 'message'> & Partial<Pick<SourceFailure, 'code' | 'errors'>>

/** How SuperX's own errors are numbered, where JSON-RPC has no number for them. */
const codes = { unknownAgent: -32001, timeout: -32098, source: -32099 } as const

/** The codes of what HTTP has statuses for; what is not here is a wrong parameter. */
const codesByStatus: Readonly<Record<number, number>> = {
  401: -32000,
  403: -32000,
  404: codes.unknownAgent,
  429: -32000,
  503: -32000,
}

/** How a request of SuperX's door is answered that has no result. */
export const toSuperxError = (problem: RpcProblem, id: Json): Response => {
  if (problem instanceof HttpError) return httpAnswer(problem, id)
  if (problem.kind === 'source') {
    const { agent, failure } = problem
    const { status, message, ...more } = failure
    const code = status === 504 ? codes.timeout : codes.source
    const errors = more.errors?.map(error => ({ ...error }))
    return answer(id, status, { code, message, data: { agent, status, ...more, ...(errors && { errors }) } })
  }
  if (problem.kind === 'unknown-agent') return answer(id, 200, unknownAgent(problem.agent))
  if (problem.kind === 'method') return answer(id, 200, unknownMethod(problem.method))
  return errorResponse(problem, { binding: 'JSONRPC', version: '0.3', id })
}

/** What a problem is called in the log. */
export const tagOf = (problem: RpcProblem): string => {
  if (problem instanceof HttpError) return problem.code
  return problem.kind === 'source' ? (problem.failure.code ?? problem.kind) : problem.kind
}

const httpAnswer = ({ status, code, message, headers }: HttpError, id: Json): Response => {
  const error = { code: codesByStatus[status] ?? -32602, message, data: { reason: code } }
  return answer(id, [401, 403, 429, 503].includes(status) ? status : 200, error, headers)
}

const unknownAgent = (agent: string): RpcError => ({
  code: codes.unknownAgent,
  message: `There is no agent "${shortened(agent)}" here. agents/list lists those that are.`,
  data: { agent: shortened(agent) },
})

const unknownMethod = (method: string): RpcError => ({
  code: -32601,
  message: `There is no method "${shortened(method)}" here, but agents/get, agents/list and agents/refreshCard. What an agent does is asked at /agents/{id}/a2a.`,
  data: { method: shortened(method) },
})

const answer = (id: Json, status: number, error: RpcError, headers: Record<string, string> = {}): Response =>
  a2aResponse(rpcErrorText(id, error), status, headers)

const shortened = (text: string): string => text.slice(0, 80).toWellFormed()

/** What came of a method; `agent` is the id of the one that it was about, where there is such an agent. */
export type RpcOutcome = { agent?: string } & ({ result: JsonObject } | { problem: RpcProblem })

/** A method of SuperX's door. It may throw an HttpError. */
export type RpcMethod = (
  params: JsonObject,
  caller: Authentication,
  ...asking: Parameters<Handler>
) => Promise<RpcOutcome>
