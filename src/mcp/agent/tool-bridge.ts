import { AgentCard, type Message, type SendMessageRequest, type Task } from '@a2a-js/sdk'
import { RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
import {
  DefaultExecutionEventBusManager,
  DefaultRequestHandler,
  JsonRpcTransportHandler,
  ResultManager,
  ServerCallContext,
  type TaskStore,
} from '@a2a-js/sdk/server'
import { type CallError, eventText, toJsonRpcError } from '../../a2a/index.ts'
import { log, sha256Hex } from '../../http/index.ts'
import { isJsonObject, type JsonObject, omit } from '../../json/index.ts'
import { MAX_CONTEXT_ID_LENGTH, MAX_OPEN_STREAMS } from '../../limits.ts'
import { Alarm } from '../../registry/index.ts'
import { type BoundTool, createToolExecutor, logToolCall, RunningTasks } from './executor.ts'
import { BoundedEventStream, type CallerIdentity, Quota } from './quotas.ts'
import { CallerTaskStore, TaskTable } from './task-table.ts'
import { type BridgeCall, parseObject } from './tool-call.ts'
import { type CallOptions, ToolClient } from './tool-client.ts'
import type { ToolOutcome } from './tool-outcome.ts'

/** The object wakes that often while tools run or sessions are open, so that the platform does not evict it. */
const HEARTBEAT_MS = 30_000
const REFRESH_INTERVAL_MS = 10_000

/** Fetches the card of an agent again. */
export type RefreshCard = (agent: string, env: Env) => Promise<unknown>

/** Serves an MCP server as an A2A agent over JSON-RPC, in A2A 1.0, whose skills are the tools of the server. */
export class ToolBridge {
  readonly #tasks: TaskTable
  readonly #running = new RunningTasks()
  readonly #client: ToolClient
  readonly #buses = new DefaultExecutionEventBusManager()
  readonly #streams = new Quota(MAX_OPEN_STREAMS)
  readonly #identifyCaller = createCallerIdentifier()
  readonly #alarm: Alarm
  #id = ''

  constructor(ctx: DurableObjectState, env: Env, refreshCard: RefreshCard) {
    this.#alarm = new Alarm(ctx.storage)
    const logFailure = (error: unknown): void =>
      log('error', 'refresh-failed', { 'gen_ai.agent.id': this.#id, 'exception.message': String(error) })
    const refresh = throttle(() => refreshCard(this.#id, env).catch(logFailure), REFRESH_INTERVAL_MS)
    this.#tasks = new TaskTable(ctx.storage)
    this.#client = new ToolClient(env, () => ctx.waitUntil(refresh()))
    this.#tasks.failInterrupted()
  }

  /** Answers a `BridgeCall` of the gateway. */
  async fetch(request: Request): Promise<Response> {
    const call: BridgeCall = await request.json()
    this.#id = call.agent
    if (call.tool ?? call.resource) await this.#alarm.wakeAt(Date.now() + HEARTBEAT_MS)
    return this.#answer(call, await this.#identifyCaller(call))
  }

  /** Keeps the object awake while tools run or sessions are open. Closes unused sessions, and deletes expired tasks. */
  async alarm(): Promise<void> {
    this.#alarm.clear()
    const now = Date.now()
    const nextExpiry = this.#tasks.deleteExpired(now)
    const nextIdle = this.#client.pool.closeIdle(now)
    if (this.#running.size > 0 || nextIdle !== undefined)
      return this.#alarm.wakeAt(Math.min(nextIdle ?? Number.POSITIVE_INFINITY, now + HEARTBEAT_MS))
    if (nextExpiry !== undefined) await this.#alarm.wakeAt(nextExpiry)
  }

  async #answer(call: BridgeCall, identity: CallerIdentity): Promise<Response> {
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
    const tasks = new CallerTaskStore(this.#tasks, identity)
    const user = { isAuthenticated: call.caller !== '', userName: call.caller }
    const context = new ServerCallContext({ requestedVersion: '1.0', user })
    const results = new ResultManager(tasks, context)
    const executor = createToolExecutor(this.#bindTool(call, identity), this.#running, identity, {
      store: event => results.processEvent(event),
      release: taskId => this.#buses.cleanupByTaskId(taskId, context),
    })
    const handler = new ToolRequestHandler(this.#running, card, tasks, executor, this.#buses)
    return (await new JsonRpcTransportHandler(handler).handle(toSdkRequest(call.request), context)) as RpcResponses
  }

  #bindTool(call: BridgeCall, caller: CallerIdentity): BoundTool | undefined {
    const { agent, tool, resource, upstream, timeoutSeconds } = call
    const bound = (name: string, run: (options: CallOptions) => Promise<ToolOutcome>): BoundTool => ({
      name,
      call: async options => {
        const begun = Date.now()
        const outcome = await run({ ...options, caller, timeoutSeconds })
        if (!options.signal.aborted) logToolCall(agent, outcome, Date.now() - begun)
        return outcome
      },
    })
    if (tool)
      return bound(tool.name, options =>
        this.#client.call(upstream, tool.name, parseObject(tool.arguments) ?? {}, options),
      )
    return resource && bound('resource', options => this.#client.read(upstream, resource, options))
  }
}

/** Returns a function that identifies the caller of a call: an address as a hash with a secret that is never stored. */
export const createCallerIdentifier = () => {
  const secret = crypto.randomUUID()
  return async ({ caller, address }: Pick<BridgeCall, 'caller' | 'address'>): Promise<CallerIdentity> => {
    if (caller !== '') return { authenticated: true, name: caller }
    return { authenticated: false, name: (await sha256Hex(`${secret} ${address}`)).slice(0, 32) }
  }
}

/** Returns a function that runs `work` at once, and once more for all calls meanwhile, at most every `intervalMs`. */
export const throttle = (work: () => Promise<unknown>, intervalMs: number): (() => Promise<void>) => {
  let isRequested = false
  let running: Promise<void> | undefined
  const run = async (): Promise<void> => {
    while (isRequested) {
      isRequested = false
      await work()
      await new Promise(resolve => setTimeout(resolve, intervalMs))
    }
    running = undefined
  }
  return () => {
    isRequested = true
    running ??= run()
    return running
  }
}

const tooManyStreams: CallError = { kind: 'rate-limit', retryAfter: 10 }

/** The SDK reads from this card which operations are supported. Callers read the agent's own card. */
const card = AgentCard.fromJSON({ capabilities: { streaming: true, pushNotifications: false } })

/**
 * Removes `tenant`, which no caller may choose. The id does not pass through the SDK, so the response repeats it
 * unchanged.
 */
const toSdkRequest = (text: string): JsonObject => {
  const request: JsonObject = JSON.parse(text)
  return { ...request, id: 0, ...(isJsonObject(request.params) && { params: omit(request.params, 'tenant') }) }
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

  override async *sendMessageStream(request: SendMessageRequest, context: ServerCallContext) {
    yield* super.sendMessageStream(await this.#check(request, context), context)
  }

  /**
   * Rejects a message to a task without an open elicitation. Removes references to other tasks: the SDK would look up
   * each of them.
   */
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
      'A task of a tool takes one message, and answers while it requires input. ' +
        'To call the tool again, leave `message.taskId` out; `contextId` may stay.',
    )
  }
}

/** A JSON-RPC response as the SDK makes it. */
export type RpcResponse = { jsonrpc: '2.0'; error?: unknown; result?: unknown }

type RpcResponses = RpcResponse | AsyncGenerator<RpcResponse, void, undefined>

/** The JSON text of the caller's own id, and the stream to write to if the response is one, else to close. */
type ResponseFormat = { id: string; stream: BoundedEventStream }

/** Returns the HTTP response for what the SDK returns: JSON, or an event stream. */
export const toHttpResponse = async (responses: RpcResponses, format: ResponseFormat): Promise<Response> => {
  if (!(Symbol.asyncIterator in responses)) return singleResponse(responses, format)
  const { stream } = format
  const first = await responses.next().catch((error: unknown) => ({ failed: rpcError(error) }))
  if ('failed' in first) return singleResponse(first.failed, format)
  /** Reads every event from the SDK, even if no client does: the SDK stores the task only while its events are read. */
  const writeEvents = async (): Promise<void> => {
    for (let next = first; !next.done; next = await responses.next())
      if (stream.isOpen && !stream.write(toEvent(next.value, format)))
        stream.end(toEvent(rpcError(tooMuchUnread), format))
  }
  writeEvents().then(
    () => stream.end(),
    (error: unknown) => stream.end(toEvent(rpcError(error), format)),
  )
  return new Response(stream.body, { headers: { 'Content-Type': 'text/event-stream' } })
}

const tooMuchUnread = new Error('Too many events of this stream are unread. The task goes on: get it by its id.')

const singleResponse = (response: RpcResponse, format: ResponseFormat): Response => {
  format.stream.end()
  return new Response(responseText(response, format), { headers: { 'Content-Type': 'application/json' } })
}

const toEvent = (response: RpcResponse, format: ResponseFormat): Uint8Array =>
  new TextEncoder().encode(eventText(responseText(response, format)))

const responseText = (response: RpcResponse, { id }: ResponseFormat): string =>
  JSON.stringify({ ...response, id: JSON.rawJSON(id) })

const rpcError = (error: unknown): RpcResponse => ({
  jsonrpc: '2.0',
  error: JsonRpcTransportHandler.mapToJSONRPCError(error),
})
