import type { UpstreamFetch } from '../http/bindings.ts'
import { NetworkError } from './errors.ts'

/** How much a session's responses may contain, and what happens beyond that. */
type Bounds = {
  /** Of one response, event streams included. */
  maxResponseBytes: number
  /** Of all responses together. */
  maxSessionBytes: number
  /** Whether to open the event stream on which a server sends messages of its own accord. */
  listens: boolean
  /** Called when the response to the request with that JSON-RPC id is too large; this host reads no more of it. */
  onResponseTooLarge: (requestId: RequestId) => void
  /** Called when the session as a whole, or a stream that belongs to no request, is too large. */
  onSessionTooLarge: () => void
}

type RequestId = string | number

/** Returns a `fetch` for one session that bounds its responses and follows no redirect. Rejects with a `NetworkError`. */
export const boundedFetch = (fetch: UpstreamFetch, bounds: Bounds) => {
  const { maxResponseBytes, maxSessionBytes, listens, onResponseTooLarge, onSessionTooLarge } = bounds
  let sessionBytes = 0
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const resumes = new Headers(init.headers).has('Last-Event-ID')
    // The client opens the server's own stream by itself. 405 is the answer of a server that has none.
    if (init.method === 'GET' && !listens && !resumes) return new Response(null, { status: 405 })
    const response = await fetch(`${url}`, init).catch(throwNetworkError)
    if (response.body === null) return response
    const reader = response.body.getReader()
    let responseBytes = 0
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { done, value } = await reader.read().catch(throwNetworkError)
      if (done) return controller.close()
      responseBytes += value.byteLength
      sessionBytes += value.byteLength
      if (responseBytes <= maxResponseBytes && sessionBytes <= maxSessionBytes) return controller.enqueue(value)
      reader.cancel().catch(() => undefined)
      const requestId = requestIdOf(init)
      if (requestId === undefined || sessionBytes > maxSessionBytes) onSessionTooLarge()
      else {
        onResponseTooLarge(requestId)
        controller.enqueue(lastEvent(requestId))
      }
      controller.close()
    }
    return new Response(new ReadableStream({ pull, cancel: reason => reader.cancel(reason) }), response)
  }
}

const throwNetworkError = (error: unknown): never => {
  throw new NetworkError(error)
}

/** Returns the id of the JSON-RPC request in the body, if it is one: the ids of responses are the server's own. */
const requestIdOf = ({ body }: RequestInit): RequestId | undefined => {
  const message: { id?: RequestId; method?: string } = typeof body === 'string' ? JSON.parse(body) : {}
  return message.method === undefined ? undefined : message.id
}

const encoder = new TextEncoder()

/** The client resumes an event stream that ends without a response. An error response keeps it from that. */
const lastEvent = (id: RequestId): Uint8Array =>
  encoder.encode(
    `\n\ndata: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: 'too large' } })}\n\n`,
  )
