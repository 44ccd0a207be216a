import { EVENT_STREAM_SECONDS, HEARTBEAT_SECONDS, MAX_UNREAD_SECONDS } from '../../limits.ts'
import { readPage, sseId } from './change-feed.ts'
import { PING, PONG, type Socket } from './feed.ts'

/** The begin of a stream, and the condition for it to go on. */
type StreamOptions = {
  after: number
  /** Checks whether the credentials of the reader are still valid. */
  isValid: () => Promise<boolean>
}

/**
 * Writes the pages of events that a socket brings, no faster than the reader takes them: the next page is requested
 * when the last one is written. Everything is freed when either end closes, when the reader takes nothing for
 * `MAX_UNREAD_SECONDS`, and after `EVENT_STREAM_SECONDS`.
 */
export const openEventStream = (socket: Socket, { after, isValid }: StreamOptions): ReadableStream<Uint8Array> => {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  /** The last change that the reader has, or may not see. */
  let last = after
  let beats = 0
  /** True while the other end of the socket has responded to the last ping. */
  let isAlive = true
  /** Writes that the reader has not taken yet, and the heartbeats since it took one. */
  let unread = 0
  let unreadBeats = 0
  let isEnded = false

  const write = async (text: string): Promise<void> => {
    unread++
    await writer.write(new TextEncoder().encode(text))
    unread--
    unreadBeats = 0
  }

  const end = (): void => {
    // A second end would abort what the first has closed.
    if (isEnded) return
    isEnded = true
    clearInterval(timer)
    try {
      socket.close(1000)
    } catch {
      // It is closed already.
    }
    // A reader that does not read would never let the stream close.
    const ending = unread > 0 ? writer.abort() : writer.close()
    ending.catch(() => undefined)
  }

  const receive = async (message: string): Promise<void> => {
    if (message === PONG) {
      isAlive = true
      return
    }
    const page = readPage(message)
    last = page.last
    if (page.events !== '') await write(page.events)
    socket.send(String(page.last))
  }

  const beat = async (): Promise<void> => {
    beats++
    unreadBeats = unread > 0 ? unreadBeats + 1 : 0
    const isOver =
      beats * HEARTBEAT_SECONDS >= EVENT_STREAM_SECONDS || unreadBeats * HEARTBEAT_SECONDS >= MAX_UNREAD_SECONDS
    if (isOver || !isAlive || !(await isValid())) return end()
    if (isEnded) return
    isAlive = false
    socket.send(PING)
    if (unread === 0) await write(sseId(last))
  }

  const timer = setInterval(() => void beat().catch(end), HEARTBEAT_SECONDS * 1000)
  socket.accept()
  socket.addEventListener('message', ({ data }) => void receive(String(data)).catch(end))
  socket.addEventListener('close', end)
  socket.addEventListener('error', end)
  // This is how a disconnected reader shows.
  writer.closed.catch(end)
  // A client connects again after the time in `retry`, in ms.
  write(`retry: 3000\n${sseId(last)}`)
    .then(() => socket.send(String(last)))
    .catch(end)
  return readable
}
