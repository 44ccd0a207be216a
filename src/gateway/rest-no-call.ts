import { errorResponse } from '../a2a/call-responses.ts'
import { type ErrorResponse, restErrorAnswer } from '../a2a/error-answer.ts'
import { toRestError } from '../a2a/error-response.ts'
import { isJsonObject } from '../json/json.ts'
import type { InboundCall } from './call-context.ts'

/** What is asked of a path that HTTP+JSON has not; or that it has for `otherMethods` alone. */
export const restNoCall = (method: string, path: string, otherMethods?: readonly string[]): InboundCall => {
  const version = path.startsWith('v1/') ? '0.3' : '1.0'
  const refusal = { refused: 'method', method: `${method} /${path}`, version } as const
  const notAllowed = (allowed: readonly string[]): ErrorResponse => {
    const { error, ...said } = toRestError(refusal, version)
    const body = isJsonObject(error) ? { error: { ...error, code: 405, status: 'UNIMPLEMENTED' } } : said
    const headers = { 'Content-Type': 'application/json', Allow: allowed.join(', ') }
    return { status: 405, headers, body: JSON.stringify(body) }
  }
  return {
    refusal,
    params: {},
    read: () => refusal,
    refuse: problem =>
      errorResponse(problem === refusal && otherMethods ? notAllowed(otherMethods) : restErrorAnswer(problem, version)),
    answerCard: () => errorResponse(restErrorAnswer(refusal, version)),
  }
}
