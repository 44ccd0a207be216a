import type { ErrorAnswer } from '../../a2a/error-answer.ts'
import { privateNoStore } from '../../http/caching.ts'
import { callAnswer } from '../../http/call-answer.ts'
import { callCors } from '../../http/cors.ts'

/** The response that says why a call was refused, or failed. */
export const errorResponse = ({ status, headers, body }: ErrorAnswer): Response => {
  const response = callAnswer(body, status)
  for (const name in headers) if (headers[name] !== usual[name]) response.headers.set(name, headers[name] ?? '')
  return response
}

/** What an answer to a call says anyway. */
const usual: Record<string, string> = { 'Content-Type': 'application/json' }

/** The response to a call that this host itself answers with a card. */
export const cardAnswer = (body: BodyInit): Response =>
  new Response(body, {
    headers: { ...callCors, 'Content-Type': 'application/json', 'Cache-Control': privateNoStore },
  })
