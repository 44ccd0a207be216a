import { translateAnswer } from '../../a2a/bridge/index.ts'
import { type AnswerPlace, type OperationName, parseEvents, type RpcError, SseFramer } from '../../a2a/index.ts'
import { latestVersion } from '../../card/model/index.ts'
import { handleReceived } from '../../gateway/index.ts'
import { essence, type JsonObject } from '../../json/index.ts'
import { MAX_EVENT_BYTES, MAX_RESPONSE_BYTES } from '../../limits.ts'
import type { McpExchange } from './exchange.ts'

/** A part of A2A 1.0. */
export type Part = { text?: string; data?: unknown; raw?: string; url?: string; mediaType?: string; filename?: string }
type Artifact = { artifactId: string; name?: string; parts?: Part[] }
export type Message = { messageId?: string; role?: string; parts?: Part[]; contextId?: string; taskId?: string }
export type Task = {
  id: string
  contextId?: string
  status: { state: string; message?: Message; timestamp?: string }
  artifacts?: Artifact[]
  history?: Message[]
}

/** What an agent has answered: a message, a task, or an error, of the agent or of this host. */
export type Answer = { message: Message } | { task: Task } | { error: RpcError }

type Event = Answer | { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate }
type StatusUpdate = { taskId: string; contextId?: string; status: Task['status'] }
type ArtifactUpdate = { taskId: string; contextId?: string; artifact: Artifact; append?: boolean }

/** Makes a call of the agent, checked and answered as any call to its A2A endpoint is. */
export const callAgent = async (exchange: McpExchange, operation: OperationName, params: JsonObject) => {
  const response = await handleReceived(exchange.toCall(operation, params))
  return toAnswer(await response.text(), operation)
}

const toAnswer = (text: string, operation: OperationName): Answer => {
  const { result, error } = read(text, operation, 'response')
  if (error) return { error }
  return operation === 'getTask' || operation === 'cancel' ? { task: result as unknown as Task } : (result as Answer)
}

const protocol = { binding: 'JSONRPC', version: latestVersion } as const

type Received = { result?: Event; error?: RpcError }

/** Reads what an agent has sent. ProtoJSON allows other names, numbers and nulls, which become one form. */
const read = (text: string, operation: OperationName, place: AnswerPlace): Received =>
  translateAnswer(JSON.parse(text), place, 200, { operation, from: protocol, to: protocol, id: 1 }).body as Received

const ENDED_TOO_EARLY: RpcError = { code: -32603, message: 'The stream of the agent had no result, or none in time.' }
const TOO_LARGE: RpcError = { code: -32603, message: 'The agent sent more in its stream than this host keeps.' }

/**
 * Sends a message, and reads the stream of its task until the task ends or asks, the deadline passes, or the client
 * leaves and the task is known. Returns the task as far as it is known then, its artifacts put together. `onStatus`
 * receives each task or status that arrives.
 */
export const streamMessage = async (
  exchange: McpExchange,
  params: JsonObject,
  { deadline, client, onStatus }: { deadline: AbortSignal; client: AbortSignal; onStatus: (task: Task) => void },
): Promise<Answer> => {
  const response = await handleReceived(exchange.toCall('stream', params))
  if (essence(response.headers.get('Content-Type')) !== 'text/event-stream' || !response.body)
    return toAnswer(await response.text(), 'stream')
  let task: Task | undefined
  let size = 0
  const known = new AbortController()
  client.addEventListener('abort', () => task && known.abort())
  for await (const data of readEvents(response.body, AbortSignal.any([deadline, known.signal]))) {
    size += data.length
    if (size > MAX_RESPONSE_BYTES) return { error: TOO_LARGE }
    const { result: event, error } = read(data, 'stream', 'event')
    if (error) return task ? { task } : { error }
    if (event === undefined) continue
    if ('message' in event || 'error' in event) return event
    task = applyEvent(event, task)
    if (client.aborted) return { task }
    if ('artifactUpdate' in event) continue
    onStatus(task)
    // The stream of an answer begins with the task as it was, which still asks.
    const mayBeOld = 'task' in event && isWaiting(task)
    if (!isRunning(task) && !mayBeOld) return { task }
  }
  return task ? { task } : { error: ENDED_TOO_EARLY }
}

const applyEvent = (event: Exclude<Event, { message: Message } | { error: RpcError }>, before?: Task): Task => {
  if ('task' in event) return event.task
  const { taskId: id, contextId } = 'statusUpdate' in event ? event.statusUpdate : event.artifactUpdate
  const task = before ?? { id, ...(contextId !== undefined && { contextId }), status: { state: 'TASK_STATE_WORKING' } }
  if ('statusUpdate' in event) {
    const { message } = task.status
    return {
      ...task,
      status: event.statusUpdate.status,
      history: [...(task.history ?? []), ...(message ? [message] : [])],
    }
  }
  const { artifact, append } = event.artifactUpdate
  const artifacts = task.artifacts ?? []
  const known = artifacts.find(({ artifactId }) => artifactId === artifact.artifactId)
  if (known === undefined) return { ...task, artifacts: [...artifacts, artifact] }
  const updated = append ? { ...known, parts: appendParts(known.parts ?? [], artifact.parts ?? []) } : artifact
  return { ...task, artifacts: artifacts.map(each => (each === known ? updated : each)) }
}

/** Appends parts. A text continues the one before it. */
const appendParts = (before: readonly Part[], [first, ...others]: readonly Part[]): Part[] => {
  const last = before.at(-1)
  if (first?.text === undefined || last?.text === undefined) return [...before, ...(first ? [first] : []), ...others]
  return [...before.slice(0, -1), { ...last, text: last.text + first.text }, ...others]
}

/** Returns the data of the events of a stream, until it ends or `signal` aborts. */
async function* readEvents(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  const framer = new SseFramer(MAX_EVENT_BYTES)
  const reader = body.getReader()
  const aborted = new Promise<{ done: true; value?: never }>(resolve => {
    if (signal.aborted) resolve({ done: true })
    signal.addEventListener('abort', () => resolve({ done: true }))
  })
  try {
    for (let isLast = false; !isLast; ) {
      const { done, value } = await Promise.race([reader.read(), aborted])
      isLast = done
      for (const { kind, bytes } of value ? framer.push(value) : framer.flush())
        if (kind === 'events') yield* parseEvents(new TextDecoder().decode(bytes)).map(({ data }) => data)
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

const RUNNING: ReadonlySet<string> = new Set(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_UNSPECIFIED'])

/** Checks whether an agent works on a task: it has neither ended nor asked for anything. */
export const isRunning = ({ status: { state } }: Task): boolean => RUNNING.has(state)

/** Checks whether an agent waits for its caller. */
export const isWaiting = ({ status: { state } }: Task): boolean =>
  state === 'TASK_STATE_INPUT_REQUIRED' || state === 'TASK_STATE_AUTH_REQUIRED'
