import { privateNoStore } from '../http/caching.ts'
import { callCors } from '../http/headers.ts'
import { callAnswer } from '../http/responses.ts'
import type { ErrorAnswer } from './error-answer.ts'

/** The response that says why a call was refused, or failed. */
export const errorResponse = ({ status, headers, body }: ErrorAnswer): Response => callAnswer(body, status, headers)

/** The response to a call that this host itself answers with a card. */
export const cardAnswer = (body: BodyInit): Response =>
  new Response(body, {
    headers: { ...callCors, 'Content-Type': 'application/json', 'Cache-Control': privateNoStore },
  })
