import type { ServerResponse } from 'node:http'
import { expect } from 'vitest'
import type { Failure } from '../../src/a2a/errors.ts'
import { type ForwardOptions, forward } from '../../src/gateway/forward.ts'
import type { UpstreamCall } from '../../src/gateway/upstream-request.ts'

/** The body of a call under test. */
export const body = '{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{}}'

/** Forwards a call to an agent on this machine; what is not given is as it mostly is. */
export const forwardTo = (
  origin: string,
  outgoing: Partial<UpstreamCall> = {},
  options: Partial<ForwardOptions> = {},
): Promise<Response | Failure> =>
  forward(
    {
      call: { binding: outgoing.target?.binding ?? 'JSONRPC', version: '1.0', id: 7 },
      target: { binding: 'JSONRPC', version: '1.0', url: `${origin}/a2a` },
      method: 'POST',
      body,
      streams: false,
      extensions: [],
      headers: new Headers({ 'Content-Type': 'application/json' }),
      credentials: { pass: ['authorization'] },
      ...outgoing,
    },
    {
      timeoutSeconds: 5,
      idleSeconds: 5,
      heartbeatSeconds: 5,
      allowedOrigins: origin,
      pseudonym: 'weather.cards.example.com',
      ...options,
    },
  )

/** The response, where a call did not fail. */
export const response = (came: Response | Failure): Response => {
  if ('failed' in came) throw new Error(`failed: ${JSON.stringify(came)}`)
  return came
}

/** Content types of agents' answers. */
export const json = { 'Content-Type': 'application/json' }
export const html = { 'Content-Type': 'text/html' }
export const stream = { 'Content-Type': 'text/event-stream' }
/** The headers that every answer has from this host. */
export const ours = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': expect.any(String),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/** An agent that answers at once. */
export const says =
  (status: number, headers: Record<string, string>, text: string | Buffer) => (answering: ServerResponse) =>
    void answering.writeHead(status, headers).end(text)
