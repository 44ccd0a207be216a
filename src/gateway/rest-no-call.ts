import { errorResponse } from '../a2a/call-responses.ts'
import { type ErrorAnswer, restErrorAnswer } from '../a2a/error-answer.ts'
import { restError } from '../a2a/error-response.ts'
import { isObject } from '../json/json.ts'
import type { Asked } from './call-context.ts'

/** What is asked of a path that HTTP+JSON has not; or that it has for `otherMethods` alone. */
export const restNoCall = (method: string, path: string, otherMethods?: readonly string[]): Asked => {
  const version = path.startsWith('v1/') ? '0.3' : '1.0'
  const refusal = { refused: 'method', method: `${method} /${path}`, version } as const
  const notAllowed = (allowed: readonly string[]): ErrorAnswer => {
    const { error, ...said } = restError(refusal, version)
    const body = isObject(error) ? { error: { ...error, code: 405, status: 'UNIMPLEMENTED' } } : said
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
