/** The first and the last characters of a body that are kept. A stream can be very long. */
const HEAD_LENGTH = 64 * 1024
const TAIL_LENGTH = 16 * 1024

/** A body that is no stream is read whole, so it ends here. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

/** A stream that never pauses is read with pauses, in which the page draws, and the person can stop it. */
const MAX_BUSY_MS = 30

const HIDDEN = '••••••••'

/** A request and its response, as they were sent. Credentials are hidden. */
export type Exchange = {
  method: string
  url: string
  requestHeaders: readonly (readonly [name: string, value: string])[]
  requestBody: string
  status?: string
  responseHeaders: readonly (readonly [name: string, value: string])[]
  head: string
  tail: string
  /** The characters between head and tail, which are not kept. */
  omitted: number
  /** The events of a stream. */
  events: number
  /** Why there is no response, or no whole one. */
  failure?: string
  isOpen: boolean
}

/** What authenticates calls: a header, and the origins that may receive it. Undefined for none. */
export type Credentials = { header: string; prefix: string; token: string } | undefined

/** The credentials of a call may not go where the call goes. */
export class CredentialsWithheld extends Error {}

/** Tokens that this host issued, which no other host may see: whole, or within what was copied with them. */
const HOST_TOKEN = /^cc_|cc_[a-z2-7]{12}_/i

/** The addresses of this host at which agents are called. */
const CALL_PATH = /^(?:\/agents\/[a-z0-9-]+)?\/a2a(?:\/|$)/

/** Throws if a token may not go to an address of the card: a card may name any, also those of this host's own API. */
const checkReceiver = (token: string, { origin, pathname }: URL, hostOrigins: readonly string[]): void => {
  const isHost = hostOrigins.includes(origin)
  if (!isHost && HOST_TOKEN.test(token))
    throw new CredentialsWithheld(
      'It is a token of this host, and this call goes to another one. The other host could misuse it.',
    )
  if (isHost && !CALL_PATH.test(pathname))
    throw new CredentialsWithheld(
      'The card names an address of this host that takes no calls. With a token, the call could change something on this host.',
    )
}

/** What a recorder needs to know. */
type RecorderOptions = {
  credentials: () => Credentials
  /** The origins that receive tokens of this host. */
  hostOrigins: readonly string[]
  /** Called whenever an exchange begins or changes. */
  onChange: (exchange: Exchange) => void
}

/** Creates a `fetch` that adds credentials and records each exchange. */
export const createRecorder =
  ({ credentials, hostOrigins, onChange }: RecorderOptions): typeof fetch =>
  async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href)
    const current = credentials()
    if (current) checkReceiver(current.token, url, hostOrigins)
    const hide = (text: string): string => (current ? text.replaceAll(current.token, HIDDEN) : text)
    const headers = new Headers(init.headers)
    if (current) headers.set(current.header, current.prefix + current.token)
    const exchange: Exchange = {
      method: init.method ?? 'GET',
      url: url.href,
      requestHeaders: [...headers].map(([name, value]) => [name, hide(value)] as const),
      requestBody: typeof init.body === 'string' ? hide(init.body) : '',
      responseHeaders: [],
      head: '',
      tail: '',
      omitted: 0,
      events: 0,
      isOpen: true,
    }
    const end = (failure?: string): void => {
      if (!exchange.isOpen) return
      Object.assign(exchange, { isOpen: false }, failure !== undefined && { failure })
      onChange(exchange)
    }
    init.signal?.addEventListener('abort', () => end('stopped'))
    onChange(exchange)
    try {
      // Cookies of this host are none of the agent's, and a redirect would take the call to an address that the card does not name.
      const response = await fetch(url, {
        ...init,
        headers,
        credentials: 'omit',
        cache: 'no-store',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
      })
      exchange.status = `${response.status} ${response.statusText}`.trim()
      exchange.responseHeaders = [...response.headers].map(([name, value]) => [name, hide(value)] as const)
      onChange(exchange)
      if (!response.body) {
        end()
        return response
      }
      const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') === true
      const body = response.body.pipeThrough(recordBody(exchange, { isStream, hide, onChange, end }))
      return new Response(body, response)
    } catch (error) {
      end(init.signal?.aborted ? 'stopped' : 'no response')
      throw error
    }
  }

/** What the record of a body needs from that of its exchange. */
type BodyRecord = {
  isStream: boolean
  hide: (text: string) => string
  onChange: (exchange: Exchange) => void
  end: (failure?: string) => void
}

const recordBody = (exchange: Exchange, { isStream, hide, onChange, end }: BodyRecord) => {
  const decoder = new TextDecoder()
  let bytes = 0
  let lastPause = performance.now()
  const keep = (text: string): void => {
    const head = text.slice(0, Math.max(0, HEAD_LENGTH - exchange.head.length))
    // A token can be in two chunks.
    if (head !== '') exchange.head = hide(exchange.head + head)
    const rest = hide(exchange.tail + text.slice(head.length))
    exchange.tail = rest.slice(-TAIL_LENGTH)
    exchange.omitted += rest.length - exchange.tail.length
    if (isStream) exchange.events += text.split('data:').length - 1
    onChange(exchange)
  }
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: async (chunk, controller) => {
      bytes += chunk.length
      if (!isStream && bytes > MAX_ANSWER_BYTES) {
        end('larger than 16 MiB, which is as much as this page reads')
        controller.error(new Error('The answer is larger than 16 MiB, which is as much as this page reads.'))
        return
      }
      keep(decoder.decode(chunk, { stream: true }))
      controller.enqueue(chunk)
      if (performance.now() - lastPause < MAX_BUSY_MS) return
      await new Promise(resolve => setTimeout(resolve))
      lastPause = performance.now()
    },
    flush: () => end(),
  })
}
