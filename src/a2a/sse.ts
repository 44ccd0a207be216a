import { MAX_EVENT_BYTES } from '../limits.ts'
import type { CallError, Refusal } from './call-error.ts'
import type { CheckedAnswer } from './read-result.ts'
import { type Piece, parseEvents, replaceEvent, SseFramer } from './sse-events.ts'

/** The limits and checks of an agent's stream. */
type StreamWatch = {
  /** The silence of the agent after which its stream is ended. */
  idleSeconds: number
  /** The silence after which the caller gets a comment: only a write shows that the caller has disconnected. */
  heartbeatSeconds: number
  /** Writes the event that ends a stream in place of the agent. */
  lastEvent: (error: CallError) => string
  /** Checks the data of each event before it passes; it is undefined if the event is too large to be read. */
  check?: (data: string | undefined) => CheckedAnswer | Promise<CheckedAnswer>
}

const encoder = new TextEncoder()
/** A byte order mark stays in the text, because the text may be written again. */
const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })
/** A comment; and one between the lines of an event, which a blank line would end. */
const HEARTBEAT = encoder.encode(':\n\n')
const HEARTBEAT_IN_EVENT = encoder.encode(':\n')

/** Most streams have small events: the large buffer is for those that fill the small one. */
const BUFFER_BYTES = 4 * 1024
const LARGE_BUFFER_BYTES = 64 * 1024

/**
 * Relays an agent's events as they arrive, no faster than the caller reads. A stream that falls silent, breaks off or
 * fails a check ends after its last whole event with an error event. A disconnected caller cancels the agent's stream.
 */
export const relaySse = (body: ReadableStream<Uint8Array>, watch: StreamWatch): ReadableStream<Uint8Array> => {
  const { idleSeconds, heartbeatSeconds, check, lastEvent } = watch
  const { readable, writable } = new IdentityTransformStream()
  const reader = body.getReader({ mode: 'byob' })
  const writer: WritableStreamDefaultWriter<Uint8Array> = writable.getWriter()
  const framer = new SseFramer(check ? MAX_EVENT_BYTES : undefined)
  /** When this began to wait for the agent, in ms; undefined while the caller has unread data. */
  let silentSince: number | undefined
  /** When something of the agent or a heartbeat was last written, in ms. */
  let lastWrite = Date.now()
  let heartbeatPending = false
  let ended = false
  let timer: ReturnType<typeof setTimeout> | null = null

  /** Reads into one buffer over and over: when a write is done, its bytes have left the buffer. */
  const relay = async (): Promise<void> => {
    for (let buffer = new Uint8Array(BUFFER_BYTES); ; ) {
      silentSince = Date.now()
      let read: ReadableStreamReadResult<Uint8Array<ArrayBuffer>> | undefined
      try {
        read = await reader.read(buffer)
      } catch {}
      silentSince = undefined
      if (ended) return
      if (!read) return endWith({ kind: 'broken-off' })
      for (const piece of read.done ? framer.flush() : framer.push(read.value)) {
        const error = await pass(piece)
        if (error) return endWith(error)
      }
      if (read.done) break
      const { byteLength, buffer: filled } = read.value
      const isTooSmall = byteLength === filled.byteLength && byteLength < LARGE_BUFFER_BYTES
      buffer = isTooSmall ? new Uint8Array(LARGE_BUFFER_BYTES) : new Uint8Array(filled)
    }
    stop()
    await writer.close()
  }

  /** Writes a piece of the stream once it is checked. Returns the error that ends the stream, if any. */
  const pass = async ({ kind, bytes }: Piece): Promise<Refusal> => {
    let passed: Uint8Array = bytes
    let error: CallError | undefined
    if (check && kind === 'events') {
      const text = decoder.decode(bytes)
      let written = ''
      let copied = 0
      for (const { start, end, data } of parseEvents(text)) {
        const checking = check(data)
        const checked = checking instanceof Promise ? await checking : checking
        if (checked === undefined) continue
        written += text.slice(copied, start)
        copied = end
        if ('kind' in checked) {
          error = checked
          break
        }
        if (checked.text !== '') written += replaceEvent(text.slice(start, end), checked)
      }
      if (copied > 0) passed = encoder.encode(error ? written : written + text.slice(copied))
    } else if (check && kind === 'oversized') {
      const checked = await check(undefined)
      if (checked && 'kind' in checked) return checked
    }
    if (passed.byteLength > 0) {
      await writer.write(passed)
      lastWrite = Date.now()
    }
    return error
  }

  /** One timer for the whole stream: a timer for each read would cost more than the read. */
  const schedule = (milliseconds: number): void => {
    timer = setTimeout(() => onTick().catch(cancel), milliseconds)
  }

  const onTick = async (): Promise<void> => {
    const now = Date.now()
    const idleMs = idleSeconds * 1000
    const heartbeatMs = heartbeatSeconds * 1000
    const idleSince = silentSince ?? now
    if (now - idleSince >= idleMs) return endWith({ kind: 'silent', seconds: idleSeconds })
    // An agent that sends an event in small parts is not silent, but the caller gets nothing.
    const quietSince = silentSince === undefined ? now : lastWrite
    const isDue = now - quietSince >= heartbeatMs
    if (isDue) lastWrite = now
    schedule(Math.min((isDue ? now : quietSince) + heartbeatMs, idleSince + idleMs) - now)
    if (!isDue || heartbeatPending || framer.isMidLine) return
    heartbeatPending = true
    await writer.write(framer.isMidEvent ? HEARTBEAT_IN_EVENT : HEARTBEAT)
    heartbeatPending = false
  }

  const endWith = async (error: CallError): Promise<void> => {
    stop()
    reader.cancel().catch(ignore)
    await writer.write(encoder.encode((framer.isMidEvent ? '\n\n' : '') + lastEvent(error)))
    await writer.close()
  }

  const cancel = (reason: unknown): void => {
    stop()
    reader.cancel(reason).catch(ignore)
    // A caller that is still connected would wait forever.
    writer.abort(reason).catch(ignore)
  }

  const stop = (): void => {
    ended = true
    clearTimeout(timer)
  }

  schedule(Math.min(heartbeatSeconds, idleSeconds) * 1000)
  // While the agent is silent, this is how a disconnected caller shows.
  writer.closed.catch(cancel)
  relay().catch(cancel)
  return readable
}

const ignore = (): void => undefined
