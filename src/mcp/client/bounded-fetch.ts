import { canHaveBody, type UpstreamFetch } from '../../http/index.ts'
import { NetworkError } from './mcp-error.ts'

type Bounds = {
  /** Limit of one response, event streams included. */
  maxResponseBytes: number
  maxSessionBytes: number
  /** Opens the event stream on which a server sends messages of its own accord. */
  listens: boolean
  /** Called when the response to the request with that JSON-RPC id is too large. */
  onResponseTooLarge: (requestId: RequestId) => void
  /** Called when all responses together, or a stream that belongs to no request, are too large. */
  onSessionTooLarge: () => void
}

type RequestId = string | number

/** Returns a `fetch` for one session that bounds the size of its responses. Rejects with a `NetworkError`. */
export const boundedFetch = (fetch: UpstreamFetch, bounds: Bounds) => {
  let sessionBytes = 0
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const resumes = new Headers(init.headers).has('Last-Event-ID')
    // The client opens the server's own stream by itself. 405 is the answer of a server that has none.
    if (init.method === 'GET' && !bounds.listens && !resumes) return new Response(null, { status: 405 })
    const { body, status, headers } = await fetch(`${url}`, init).catch(throwNetworkError)
    // A Response cannot have other statuses.
    if (status < 200 || status > 599) throw new NetworkError(`HTTP ${status}`)
    // The client would begin to authorize itself with OAuth, which this host does not do.
    const passedHeaders = new Headers(headers)
    passedHeaders.delete('WWW-Authenticate')
    if (body === null || !canHaveBody(status)) return new Response(null, { status, headers: passedHeaders })
    const reader = body.getReader()
    let responseBytes = 0
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { done, value } = await reader.read().catch(throwNetworkError)
      if (done) return controller.close()
      responseBytes += value.byteLength
      sessionBytes += value.byteLength
      if (responseBytes <= bounds.maxResponseBytes && sessionBytes <= bounds.maxSessionBytes)
        return controller.enqueue(value)
      reader.cancel().catch(() => undefined)
      const requestId = requestIdOf(init)
      if (requestId === undefined || sessionBytes > bounds.maxSessionBytes) bounds.onSessionTooLarge()
      else {
        bounds.onResponseTooLarge(requestId)
        controller.enqueue(lastEvent(requestId))
      }
      controller.close()
    }
    const bounded = new ReadableStream({ pull, cancel: reason => reader.cancel(reason) })
    return new Response(bounded, { status, headers: passedHeaders })
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

/** An error response as an event, without which the client would resume the event stream. */
const lastEvent = (id: RequestId): Uint8Array => {
  const response = { jsonrpc: '2.0', id, error: { code: -32000, message: 'too large' } }
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify(response)}\n\n`)
}
