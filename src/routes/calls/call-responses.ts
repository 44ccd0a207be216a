import type { ErrorAnswer } from '../../a2a/error-answer.ts'
import { privateNoStore } from '../../http/caching.ts'
import { callAnswer } from '../../http/call-answer.ts'
import { callCors } from '../../http/cors.ts'

/** The response that says why a call was refused, or failed. */
export const errorResponse = ({ status, headers, body }: ErrorAnswer): Response => callAnswer(body, status, headers)

/** The response to a call that this host itself answers with a card. */
export const cardAnswer = (body: BodyInit): Response =>
  new Response(body, {
    headers: { ...callCors, 'Content-Type': 'application/json', 'Cache-Control': privateNoStore },
  })
