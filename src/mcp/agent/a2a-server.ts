import { AgentCard, type Message, type SendMessageRequest, type StreamResponse, type Task } from '@a2a-js/sdk'
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import {
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  JsonRpcTransportHandler,
  ResultManager,
  ServerCallContext,
  type TaskStore,
} from '@a2a-js/sdk/server'
import { type CallError, eventText, parseJsonLossless, toJsonRpcError } from '../../a2a/index.ts'
import { isJsonObject, type JsonObject, omit } from '../../json/index.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_OPEN_STREAMS } from '../../limits.ts'
import { logToolCall, type RunningTasks, ToolExecutor } from './executor.ts'
import { BoundedEventStream, type CallerIdentity, Quota } from './quotas.ts'
import { CallerTaskStore, type TaskTable } from './task-table.ts'
import type { BridgeCall } from './tool-call.ts'
import type { ToolClient } from './tool-client.ts'
import type { BoundTool } from './tool-run.ts'

/** What all calls of one agent share. */
export type AgentContext = { tasks: TaskTable; running: RunningTasks; client: ToolClient }

/** An A2A server over JSON-RPC, in A2A 1.0, whose skills are the tools of an MCP server. */
export class A2AServer {
  readonly #context: AgentContext
  readonly #buses = new DefaultExecutionEventBusManager()
  readonly #streams = new Quota(MAX_OPEN_STREAMS)

  constructor(context: AgentContext) {
    this.#context = context
  }

  async answer(call: BridgeCall, identity: CallerIdentity): Promise<Response> {
    const { streams } = call
    const exceeded = streams ? this.#streams.acquire(identity) : undefined
    const stream = new BoundedEventStream(() => streams && !exceeded && this.#streams.release(identity))
    const format = { id: call.id, stream }
    if (exceeded) return singleResponse({ jsonrpc: '2.0', error: toJsonRpcError(tooManyStreams, '1.0') }, format)
    try {
      return await toHttpResponse(await this.#handle(call, identity), format)
    } catch (error) {
      stream.end()
      throw error
    }
  }

  async #handle(call: BridgeCall, identity: CallerIdentity): Promise<RpcResponses> {
    const { caller, request } = call
    const { running } = this.#context
    const tasks = new CallerTaskStore(this.#context.tasks, identity)
    const user = { isAuthenticated: caller !== '', userName: caller }
    const context = new ServerCallContext({ requestedVersion: '1.0', user })
    const results = new ResultManager(tasks, context)
    const executor = new ToolExecutor(this.#bindTool(call, identity), running, identity, {
      store: event => results.processEvent(event),
      release: taskId => this.#buses.cleanupByTaskId(taskId, context),
    })
    const handler = new ToolRequestHandler(running, card, tasks, executor, this.#buses)
    return (await new JsonRpcTransportHandler(handler).handle(toSdkRequest(request), context)) as RpcResponses
  }

  #bindTool(call: BridgeCall, caller: CallerIdentity): BoundTool | undefined {
    const { agent, tool, resource, upstream, timeoutSeconds } = call
    const { client } = this.#context
    const bound = (name: string, run: BoundTool['call']): BoundTool => ({
      name,
      call: async options => {
        const begun = Date.now()
        const outcome = await run(options)
        if (!options.signal.aborted) logToolCall(agent, outcome, Date.now() - begun)
        return outcome
      },
    })
    if (tool)
      return bound(tool.name, options =>
        client.call(upstream, tool.name, parseArguments(tool.arguments), { ...options, caller, timeoutSeconds }),
      )
    if (!resource) return undefined
    return bound('resource', options => client.read(upstream, resource, { ...options, caller, timeoutSeconds }))
  }
}

const tooManyStreams: CallError = { kind: 'rate-limit', retryAfter: 10 }

/** The SDK reads from this card which operations are supported. Callers read the agent's own card. */
const card = AgentCard.fromJSON({ capabilities: { streaming: true, pushNotifications: false } })

/** Removes `tenant`, which no caller may choose. The id does not pass through the SDK, so the response repeats it unchanged. */
const toSdkRequest = (text: string): JsonObject => {
  const request: JsonObject = JSON.parse(text)
  return { ...request, id: 0, ...(isJsonObject(request.params) && { params: omit(request.params, 'tenant') }) }
}

const parseArguments = (text: string): JsonObject => {
  const parsed = parseJsonLossless(text)
  return 'value' in parsed && isJsonObject(parsed.value) ? parsed.value : {}
}

/** A request handler whose tasks take one message each, and then only answers to the elicitations of their tools. */
class ToolRequestHandler extends DefaultRequestHandler {
  readonly #running: RunningTasks
  readonly #tasks: TaskStore

  constructor(running: RunningTasks, ...[card, tasks, ...rest]: ConstructorParameters<typeof DefaultRequestHandler>) {
    super(card, tasks, ...rest)
    this.#running = running
    this.#tasks = tasks
  }

  override async sendMessage(request: SendMessageRequest, context: ServerCallContext): Promise<Message | Task> {
    return super.sendMessage(await this.#check(request, context), context)
  }

  override async *sendMessageStream(
    request: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    yield* super.sendMessageStream(await this.#check(request, context), context)
  }

  /** Rejects a message to a task without an open elicitation. Removes references to other tasks: the SDK would look up each of them. */
  async #check(request: SendMessageRequest, context: ServerCallContext): Promise<SendMessageRequest> {
    const { message } = request
    if (message === undefined) return request
    const { taskId, contextId } = message
    if (contextId.length > MAX_CONTEXT_ID_LENGTH)
      throw new RequestMalformedError(`\`message.contextId\` must be at most ${MAX_CONTEXT_ID_LENGTH} characters long.`)
    const checked = { ...request, message: { ...message, referenceTaskIds: [] } }
    if (taskId === '') return checked
    if ((await this.#tasks.load(taskId, context)) === undefined) throw new TaskNotFoundError('Task not found.')
    if (this.#running.find(taskId)?.elicitation) return checked
    throw new UnsupportedOperationError(
      'A task of a tool takes one message, and answers while it requires input. To call the tool again, leave `message.taskId` out; `contextId` may stay.',
    )
  }
}

/** A JSON-RPC response as the SDK makes it. */
export type RpcResponse = { jsonrpc: '2.0'; error?: unknown; result?: unknown }

/** What the SDK returns for a call: one response, or a stream of them. */
type RpcResponses = RpcResponse | AsyncGenerator<RpcResponse, void, undefined>

/** How to write the response to a call. */
type ResponseFormat = {
  /** JSON text of the caller's own id. */
  id: string
  /** The stream to write to if the response is one, else to close. */
  stream: BoundedEventStream
}

/** Returns the HTTP response for what the SDK returns: JSON, or an event stream. */
export const toHttpResponse = async (responses: RpcResponses, format: ResponseFormat): Promise<Response> => {
  if (!(Symbol.asyncIterator in responses)) return singleResponse(responses, format)
  const first = await responses.next().catch((error: unknown) => ({ failed: rpcError(error) }))
  if ('failed' in first) return singleResponse(first.failed, format)
  writeEvents(first, responses, format).then(
    () => format.stream.end(),
    (error: unknown) => format.stream.end(toEvent(rpcError(error), format)),
  )
  return new Response(format.stream.body, { headers: { 'Content-Type': 'text/event-stream' } })
}

/** Reads every event from the SDK, even if no client does: the SDK stores the task only while its events are read. */
const writeEvents = async (
  first: IteratorResult<RpcResponse, void>,
  responses: AsyncGenerator<RpcResponse, void, undefined>,
  format: ResponseFormat,
): Promise<void> => {
  const { stream } = format
  for (let next = first; !next.done; next = await responses.next())
    if (stream.isOpen && !stream.write(toEvent(next.value, format)))
      stream.end(toEvent(rpcError(tooMuchUnread), format))
}

const tooMuchUnread = new Error('Too many events of this stream are unread. The task goes on: get it by its id.')

const singleResponse = (response: RpcResponse, format: ResponseFormat): Response => {
  format.stream.end()
  return new Response(responseText(response, format), { headers: { 'Content-Type': 'application/json' } })
}

const encoder = new TextEncoder()

const toEvent = (response: RpcResponse, format: ResponseFormat): Uint8Array =>
  encoder.encode(eventText(responseText(response, format)))

const responseText = (response: RpcResponse, { id }: ResponseFormat): string =>
  JSON.stringify({ ...response, id: JSON.rawJSON(id) })

const rpcError = (error: unknown): RpcResponse => ({
  jsonrpc: '2.0',
  error: JsonRpcTransportHandler.mapToJSONRPCError(error),
})
