/** The first and the last characters of a body that are kept. A stream can be very long. */
const HEAD_LENGTH = 64 * 1024
const TAIL_LENGTH = 16 * 1024

/** A body that is no stream is read whole, up to this size. */
const MAX_BODY_BYTES = 16 * 1024 * 1024

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
  events: number
  /** Why there is no response, or no whole one. */
  failure?: string
  isOpen: boolean
}

/** The credentials of all calls. Undefined for none. */
export type Credentials = { header: string; prefix: string; token: string } | undefined

/** The credentials of a call may not go where the call goes. */
export class CredentialsWithheld extends Error {}

/** Tokens that this host issued, which no other host may see: whole, or within what was copied with them. */
const HOST_TOKEN = /^cc_|cc_[a-z2-7]{12}_/i

type Receivers = {
  /** The origins that receive tokens of this host. */
  hostOrigins: readonly string[]
  /** The path at which this host takes calls of the agent. */
  callPath: string
}

/** Throws if a token may not go to an address of the card: a card may name any, also of another agent of this host. */
const checkReceiver = (token: string, { origin, pathname }: URL, { hostOrigins, callPath }: Receivers): void => {
  const isHost = hostOrigins.includes(origin)
  if (!isHost && HOST_TOKEN.test(token)) throw new CredentialsWithheld(TO_ANOTHER_HOST)
  if (isHost && !`${pathname}/`.startsWith(`${callPath}/`)) throw new CredentialsWithheld(TO_NO_CALL)
}

const TO_ANOTHER_HOST = 'It is a token of this host, and this call goes to another one, which could misuse it.'
const TO_NO_CALL =
  'The card names an address of this host that takes no calls of this agent: another agent could receive the token, ' +
  'or the call could change something.'

type RecorderOptions = Receivers & {
  credentials: () => Credentials
  /** Called whenever an exchange begins or changes. */
  onChange: (exchange: Exchange) => void
}

/** The agent gets no cookies of this host, and no redirect leads to an address that the card does not name. */
const POLICY = { credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer' } as const

/** Creates a `fetch` that adds credentials and records each exchange. */
export const createRecorder =
  ({ credentials, onChange, ...receivers }: RecorderOptions): typeof fetch =>
  async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input, location.href)
    const current = credentials()
    if (current) checkReceiver(current.token, url, receivers)
    const hide = (text: string): string => (current ? text.replaceAll(current.token, HIDDEN) : text)
    const hideAll = (headers: Headers) => [...headers].map(([name, value]) => [name, hide(value)] as const)
    const headers = new Headers(init.headers)
    if (current) headers.set(current.header, current.prefix + current.token)
    const exchange: Exchange = {
      method: init.method ?? 'GET',
      url: url.href,
      requestHeaders: hideAll(headers),
      requestBody: typeof init.body === 'string' ? hide(init.body) : '',
      responseHeaders: [],
      ...{ head: '', tail: '', omitted: 0, events: 0, isOpen: true },
    }
    const update = (changes: Partial<Exchange> = {}): void => {
      if (!exchange.isOpen) return
      Object.assign(exchange, changes)
      onChange(exchange)
    }
    init.signal?.addEventListener('abort', () => update({ isOpen: false, failure: 'stopped' }))
    update()
    try {
      const response = await fetch(url, { ...init, headers, ...POLICY })
      const status = `${response.status} ${response.statusText}`.trim()
      update({ status, responseHeaders: hideAll(response.headers), isOpen: response.body !== null })
      if (!response.body) return response
      const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream') === true
      return new Response(response.body.pipeThrough(recordBody(exchange, isStream, hide, update)), response)
    } catch (error) {
      update({ isOpen: false, failure: init.signal?.aborted ? 'stopped' : 'no response' })
      throw error
    }
  }

type Update = (changes: Partial<Exchange>) => void

const recordBody = (exchange: Exchange, isStream: boolean, hide: (text: string) => string, update: Update) => {
  const decoder = new TextDecoder()
  let bytes = 0
  let lastPause = performance.now()
  const keep = (text: string): void => {
    const head = text.slice(0, Math.max(0, HEAD_LENGTH - exchange.head.length))
    const rest = hide(exchange.tail + text.slice(head.length))
    const tail = rest.slice(-TAIL_LENGTH)
    update({
      // A token can be in two chunks.
      ...(head !== '' && { head: hide(exchange.head + head) }),
      tail,
      omitted: exchange.omitted + rest.length - tail.length,
      events: exchange.events + (isStream ? text.split('data:').length - 1 : 0),
    })
  }
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform: async (chunk, controller) => {
      bytes += chunk.length
      if (!isStream && bytes > MAX_BODY_BYTES) {
        const failure = 'larger than 16 MiB, which is as much as this page reads'
        update({ isOpen: false, failure })
        return controller.error(new Error(`The response is ${failure}.`))
      }
      keep(decoder.decode(chunk, { stream: true }))
      controller.enqueue(chunk)
      if (performance.now() - lastPause < MAX_BUSY_MS) return
      await new Promise(resolve => setTimeout(resolve))
      lastPause = performance.now()
    },
    flush: () => update({ isOpen: false }),
  })
}
