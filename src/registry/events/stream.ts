import { EVENT_STREAM_SECONDS, HEARTBEAT_SECONDS, MAX_UNREAD_SECONDS } from '../../limits.ts'
import { readPage, sseId, sseStart } from './change-feed.ts'
import { PING, PONG, type Socket } from './feed.ts'

/** The begin of a stream, and the condition for it to go on. */
type StreamOptions = {
  /** The last change that the reader has. */
  after: number
  /** Checks whether the credentials of the reader are still valid. */
  isValid: () => Promise<boolean>
}

const encoder = new TextEncoder()

/**
 * Writes the pages of events that a socket brings, no faster than the reader takes them: the next page is requested
 * when the last one is written. Everything is freed when either end closes, when the reader takes nothing for
 * `MAX_UNREAD_SECONDS`, and after `EVENT_STREAM_SECONDS`.
 */
export const openEventStream = (socket: Socket, options: StreamOptions): ReadableStream<Uint8Array> => {
  const { readable, writable } = new IdentityTransformStream()
  new EventStream(socket, writable.getWriter(), options).start()
  return readable
}

class EventStream {
  readonly #socket: Socket
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #options: StreamOptions
  /** The last change that the reader has, or may not see. */
  #last: number
  #stopTimer = (): void => undefined
  #beats = 0
  /** True while the other end of the socket has responded to the last ping. */
  #isAlive = true
  /** Writes that the reader has not taken yet, and the heartbeats since it took one. */
  #unread = 0
  #unreadBeats = 0
  #isEnded = false

  constructor(socket: Socket, writer: WritableStreamDefaultWriter<Uint8Array>, options: StreamOptions) {
    this.#socket = socket
    this.#writer = writer
    this.#options = options
    this.#last = options.after
  }

  start(): void {
    const end = () => this.#end()
    this.#socket.accept()
    this.#socket.addEventListener('message', ({ data }) => void this.#receive(String(data)).catch(end))
    this.#socket.addEventListener('close', end)
    this.#socket.addEventListener('error', end)
    // This is how a disconnected reader shows.
    this.#writer.closed.catch(end)
    const timer = setInterval(() => void this.#beat().catch(end), HEARTBEAT_SECONDS * 1000)
    this.#stopTimer = () => clearInterval(timer)
    this.#write(sseStart(this.#last))
      .then(() => this.#socket.send(String(this.#last)))
      .catch(end)
  }

  async #receive(message: string): Promise<void> {
    if (message === PONG) {
      this.#isAlive = true
      return
    }
    const { last, events } = readPage(message)
    this.#last = last
    if (events !== '') await this.#write(events)
    this.#socket.send(String(last))
  }

  async #beat(): Promise<void> {
    this.#beats++
    this.#unreadBeats = this.#unread > 0 ? this.#unreadBeats + 1 : 0
    const isOver =
      this.#beats * HEARTBEAT_SECONDS >= EVENT_STREAM_SECONDS ||
      this.#unreadBeats * HEARTBEAT_SECONDS >= MAX_UNREAD_SECONDS
    if (isOver || !this.#isAlive || !(await this.#options.isValid())) return this.#end()
    if (this.#isEnded) return
    this.#isAlive = false
    this.#socket.send(PING)
    if (this.#unread === 0) await this.#write(sseId(this.#last))
  }

  async #write(text: string): Promise<void> {
    this.#unread++
    await this.#writer.write(encoder.encode(text))
    this.#unread--
    this.#unreadBeats = 0
  }

  #end(): void {
    // A second end would abort what the first has closed.
    if (this.#isEnded) return
    this.#isEnded = true
    this.#stopTimer()
    try {
      this.#socket.close(1000)
    } catch {
      // It is closed already.
    }
    // A reader that does not read would never let the stream close.
    const ending = this.#unread > 0 ? this.#writer.abort() : this.#writer.close()
    ending.catch(() => undefined)
  }
}
