import type { SourceFetch } from '../http/source-fetch.ts'

/** What a session may cost, and whether it listens for what the server says unasked. */
export type FetchBounds = {
  /** The most bytes of one response, of an event stream too. */
  responseBytes: number
  listens: boolean
  /** Called once a response is larger; the rest of it is not read. */
  onTooLarge: () => void
}

/** The requests of a session, their responses bounded. Redirects come back as they are. */
export const boundedFetch =
  (fetch: SourceFetch, { responseBytes, listens, onTooLarge }: FetchBounds) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The client opens a stream for notifications by itself: who does not listen says for the server that it has none.
    if (init.method === 'GET' && !listens) return new Response(null, { status: 405 })
    const response = await fetch(`${url}`, init)
    if (response.body === null) return response
    return new Response(response.body.pipeThrough(counted(responseBytes, onTooLarge)), response)
  }

const counted = (most: number, onTooLarge: () => void): TransformStream<Uint8Array, Uint8Array> => {
  let size = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength
      if (size <= most) return controller.enqueue(chunk)
      controller.error(new RangeError(`more than ${most} bytes`))
      onTooLarge()
    },
  })
}
