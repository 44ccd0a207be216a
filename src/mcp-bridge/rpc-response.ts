import { eventText } from '../a2a/error-answer.ts'
import type { EventStream } from './quotas.ts'

/** A JSON-RPC response as the A2A library makes it. */
export type RpcAnswer = { jsonrpc: '2.0'; error?: unknown; result?: unknown }

/** What the library answers a call with: a response, or a stream of them. */
export type RpcAnswers = RpcAnswer | AsyncGenerator<RpcAnswer, void, undefined>

/** How an answer is written: under the caller's own id, in the form that the caller reads. */
export type AnswerForm = {
  /** JSON text. */
  id: string
  /** Whether an error in place of a stream is an event, too: an old client reads nothing else there. */
  errorAsEvent: boolean
  errorOf: (error: unknown) => unknown
  /** Opens a stream of events. */
  open: () => EventStream
}

const encoder = new TextEncoder()

/** The HTTP response of what the A2A library answers. A stream is told to its end, though nobody may read it any more. */
export const rpcResponse = async (answers: RpcAnswers, form: AnswerForm): Promise<Response> => {
  if (!(Symbol.asyncIterator in answers)) return single(answers, form)
  const first = await answers.next().catch((error: unknown) => ({ failed: failed(error, form) }))
  if ('failed' in first) return single(first.failed, form)
  return new Response(events(first, answers, form).body, { headers: { 'Content-Type': 'text/event-stream' } })
}

const single = (answer: RpcAnswer, form: AnswerForm): Response => {
  const asEvent = answer.error !== undefined && form.errorAsEvent
  const text = textOf(answer, form)
  return new Response(asEvent ? eventText(text) : text, {
    headers: { 'Content-Type': asEvent ? 'text/event-stream' : 'application/json' },
  })
}

const textOf = (answer: RpcAnswer, { id }: AnswerForm): string => JSON.stringify({ ...answer, id: JSON.rawJSON(id) })

const failed = (error: unknown, { errorOf }: AnswerForm): RpcAnswer => ({ jsonrpc: '2.0', error: errorOf(error) })

/** Events are written down as tasks change only while somebody takes them from the library: so they are taken, read or not. */
const events = (
  first: IteratorResult<RpcAnswer, void>,
  answers: AsyncGenerator<RpcAnswer, void, undefined>,
  form: AnswerForm,
): EventStream => {
  const stream = form.open()
  const bytesOf = (answer: RpcAnswer) => encoder.encode(eventText(textOf(answer, form)))
  const tell = async () => {
    for (let next = first; !next.done; next = await answers.next())
      if (!stream.write(bytesOf(next.value))) stream.end(bytesOf(failed(unread, form)))
  }
  tell()
    .then(
      () => undefined,
      (error: unknown) => bytesOf(failed(error, form)),
    )
    .then(last => stream.end(last))
  return stream
}

const unread = new Error(
  'More events of this agent wait to be read than this host holds. The task goes on: get it by its id.',
)
