import { CORS_HEADERS, jsonResponse, PRIVATE_NO_STORE } from '../http/index.ts'

const headers = { 'Cache-Control': PRIVATE_NO_STORE }

/** Returns a response with JSON for its caller alone, which no cache stores. */
export const privateJson = (body: unknown, status = 200, others: Record<string, string> = {}): Response =>
  jsonResponse(body, status, { ...headers, ...others })

/** Returns the response to a removal. */
export const noContent = (): Response => new Response(null, { status: 204, headers: { ...CORS_HEADERS, ...headers } })
