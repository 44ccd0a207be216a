import type { Requests } from './load.ts'

/** The path that calls of a benched agent go to. */
export const callPath = (id: string): string => `/agents/${id}/a2a`

/** The body of a v1.0 call that sends one line of text. */
export const callBody = (
  method: string,
  text: string,
  acceptedOutputModes: readonly string[] = ['text/plain'],
): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method,
    params: {
      message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }] },
      configuration: { acceptedOutputModes },
    },
  })

/** One call, over and over. */
export const sameCall = (id: string, body: string): Requests => {
  const head = [
    `POST ${callPath(id)} HTTP/1.1`,
    'Host: cards.example.com',
    'User-Agent: bench',
    'Accept: application/json',
    'Content-Type: application/json',
    'A2A-Version: 1.0',
    `Content-Length: ${Buffer.byteLength(body)}`,
  ]
  const request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`)
  return { next: () => request, status: 200 }
}
