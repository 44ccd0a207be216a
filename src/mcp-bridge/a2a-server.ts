import { AgentCard, type Message, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import {
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  type TaskStore,
} from '@a2a-js/sdk/server'
import { eventText } from '../a2a/error-response.ts'
import { parseJsonLossless } from '../a2a/jsonrpc.ts'
import type { WireVersion } from '../card/model/calls.ts'
import { isJsonObject, type JsonObject, omit } from '../json/json.ts'
import type { BridgeCall } from './bridge-call.ts'
import { logTool, type RunningTasks, ToolExecutor, type ToolOfMessage } from './executor.ts'
import { type EventStream, type Permit, type Principal, type ResponseSemaphore, UnreadEvents } from './quotas.ts'
import { AccountTaskStore } from './task-store.ts'
import type { TaskTable } from './task-table.ts'
import { type ToolClient, watchedBody } from './tool-client.ts'

/** The longest name that a caller may give a context, in characters: it is looked up by. */
const longestContext = 256

/** An A2A server whose tasks are made of one message each: a tool asks nothing back, so that there is nothing to add. */
class OneMessageHandler extends DefaultRequestHandler {
  readonly #tasks: TaskStore

  constructor(...[card, tasks, ...more]: ConstructorParameters<typeof DefaultRequestHandler>) {
    super(card, tasks, ...more)
    this.#tasks = tasks
  }

  override async sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return super.sendMessage(await this.#first(request, context), context)
  }

  override async *sendMessageStream(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* super.sendMessageStream(await this.#first(request, context), context)
  }

  /** The message as the first of a task. The tasks that it refers to are nothing to a tool, and the library looks each up. */
  async #first(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageRequest> {
    const { message } = request
    if (message === undefined) return request
    const { taskId, contextId } = message
    if (contextId.length > longestContext)
      throw new RequestMalformedError(`\`message.contextId\` must be at most ${longestContext} characters long.`)
    if (taskId === '') return { ...request, message: { ...message, referenceTaskIds: [] } }
    if ((await this.#tasks.load(taskId, context)) === undefined) throw new TaskNotFoundError('There is no such task.')
    throw new UnsupportedOperationError(
      'A tool takes one message: leave `message.taskId` out, and it is called anew. `contextId` may stay.',
    )
  }
}

/** A JSON-RPC response as the A2A library makes it. */
export type RpcAnswer = { jsonrpc: '2.0'; error?: unknown; result?: unknown }

/** What the library answers a call with: a response, or a stream of them. */
type RpcAnswers = RpcAnswer | AsyncGenerator<RpcAnswer, void, undefined>

/** How an answer is written: under the caller's own id, in the form that the caller reads. */
type AnswerForm = {
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

/** What an agent consists of beside the calls: its tasks, those whose tools run, and its server. */
type AgentContext = { rows: TaskTable; open: RunningTasks; large: ResponseSemaphore; server: ToolClient }

/** An A2A agent whose skills are the tools of an MCP server: JSON-RPC of A2A 1.0 and 0.3. */
export class ToolAgent {
  readonly #stock: AgentContext
  readonly #buses = new DefaultExecutionEventBusManager()
  readonly #unread = new UnreadEvents()

  constructor(stock: AgentContext) {
    this.#stock = stock
  }

  async answer(commission: BridgeCall, account: Principal): Promise<Response> {
    const hold = this.#stock.large.hold(account)
    const leave = hold.use()
    try {
      return delivered(await this.#answer(commission, account, hold), leave)
    } catch (error) {
      leave()
      throw error
    }
  }

  async #answer(commission: BridgeCall, account: Principal, hold: Permit): Promise<Response> {
    const { caller, version, call, id, streams } = commission
    const { rows, open } = this.#stock
    const form = { id, ...formOf(version, streams), open: () => this.#unread.stream(account) }
    const request = requestOf(call)
    const tasks = new AccountTaskStore(rows, account)
    if (!commission.tool && tasks.isLarge(request.params) && !(await hold.take()))
      return rpcResponse({ jsonrpc: '2.0', error: form.errorOf(crowded) }, form)
    const executor = new ToolExecutor(this.#toolOf(commission, hold), open, account)
    const handler = new OneMessageHandler(card, tasks, executor, this.#buses)
    const Transport = version === '0.3' ? LegacyJsonRpcTransportHandler : JsonRpcTransportHandler
    const user = { isAuthenticated: caller !== '', userName: caller }
    const context = new ServerCallContext({ requestedVersion: version, user })
    const answers = await new Transport(handler).handle(request, context)
    return rpcResponse(answers as Parameters<typeof rpcResponse>[0], form)
  }

  #toolOf({ agent, tool, upstream, patience: seconds }: BridgeCall, hold: Permit): ToolOfMessage | undefined {
    if (tool === undefined) return undefined
    const { server } = this.#stock
    const { name } = tool
    return {
      name,
      call: async terms => {
        const begun = Date.now()
        const leave = hold.use()
        try {
          const outcome = await server.call(upstream, name, argumentsOf(tool.arguments), { ...terms, seconds, hold })
          if (!terms.signal.aborted) logTool(agent, outcome, Date.now() - begun)
          return outcome
        } finally {
          // Once it has been told of.
          setTimeout(leave)
        }
      },
    }
  }
}

const formOf = (version: WireVersion, streams: boolean): Pick<AnswerForm, 'errorAsEvent' | 'errorOf'> =>
  version === '0.3'
    ? { errorAsEvent: streams, errorOf: LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError }
    : { errorAsEvent: false, errorOf: JsonRpcTransportHandler.mapToJSONRPCError }

const crowded = new Error('Too many large answers of this agent are under way. Try again later.')

/** A response that is left once it was read. Of a stream, what waits to be read is counted elsewhere. */
const delivered = (response: Response, leave: () => void): Response => {
  if (response.body && response.headers.get('Content-Type') === 'application/json')
    return new Response(watchedBody(response.body, { chunk: () => undefined, end: leave }), response)
  leave()
  return response
}

/** The host's own card is what callers read; this one says what the library asks it. */
const card = AgentCard.fromJSON({ capabilities: { streaming: true, pushNotifications: false } })

/** The call as the library takes it: whose it is, no caller says, and its id is written back as it was sent. */
const requestOf = (text: string): JsonObject => {
  const call: JsonObject = JSON.parse(text)
  return { ...call, id: 0, ...(isJsonObject(call.params) && { params: omit(call.params, 'tenant') }) }
}

const argumentsOf = (text: string): JsonObject => {
  const parsed = parseJsonLossless(text)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : {}
}
