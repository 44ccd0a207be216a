import type { SourceFetch } from '../http/source-fetch.ts'
import type { RateBudget } from './budget.ts'

/** What the responses of a session may cost, and whether it listens for what the server says unasked. */
export type FetchBounds = {
  /** The most bytes of one response, of an event stream too. */
  responseBytes: number
  listens: boolean
  meter: Pick<RateBudget, 'mayAsk' | 'mayRead'>
  /** Called once a response is larger; the rest of it is not read. */
  onTooLarge: () => void
}

/** The requests of a session, their responses bounded. Redirects come back as they are. */
export const boundedFetch =
  (fetch: SourceFetch, { responseBytes, listens, meter, onTooLarge }: FetchBounds) =>
  async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    // The client opens a stream for notifications by itself, and again: who does not listen says for the server that it has none.
    if (init.method === 'GET' && !(listens && meter.mayAsk())) return new Response(null, { status: 405 })
    const response = await fetch(`${url}`, init)
    if (response.body === null) return response
    let size = 0
    const mayRead = ({ byteLength }: Uint8Array): boolean => {
      size += byteLength
      if (size > responseBytes) onTooLarge()
      return size <= responseBytes && meter.mayRead(byteLength)
    }
    return new Response(response.body.pipeThrough(readWhile(mayRead)), response)
  }

const readWhile = (mayRead: (chunk: Uint8Array) => boolean): TransformStream<Uint8Array, Uint8Array> =>
  new TransformStream({
    transform: (chunk, controller) => {
      if (mayRead(chunk)) controller.enqueue(chunk)
      else controller.error(new RangeError('more than may be read'))
    },
  })
