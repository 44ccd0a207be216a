import { privateNoStore } from '../http/caching.ts'
import { A2A_CORS_HEADERS } from '../http/headers.ts'
import { a2aResponse } from '../http/responses.ts'
import type { ErrorResponse } from './error-answer.ts'

/** The response that says why a call was refused, or failed. */
export const errorResponse = ({ status, headers, body }: ErrorResponse): Response => a2aResponse(body, status, headers)

/** The response to a call that this host itself answers with a card. */
export const cardAnswer = (body: BodyInit): Response =>
  new Response(body, {
    headers: { ...A2A_CORS_HEADERS, 'Content-Type': 'application/json', 'Cache-Control': privateNoStore },
  })
