import { type CallToolResult, type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server'
import { config } from '../../config.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_TOOL_WAIT_SECONDS } from '../../limits.ts'
import { type Answer, callAgent, isRunning, isWaiting, streamMessage, type Task } from './a2a-calls.ts'
import type { McpExchange } from './exchange.ts'
import { type Answers, errorResult, partsOf, readAnswer, textOf, toInputRequests, toResult } from './results.ts'
import { type Handle, issueHandle, openHandle, toCreatedTask, unknownHandle } from './tasks.ts'
import { type Input, readArguments, type Tool } from './tools.ts'

/** The capabilities of an MCP client, and the parts of its request that are not arguments. */
export type Client = {
  /** Aborted when the client disconnects or cancels. */
  signal: AbortSignal
  /** Reports progress, if the client asked for that. */
  onProgress?: ((text: string) => void) | undefined
  /** Whether the client supports the extension for tasks. */
  hasTasks: boolean
  /** The kinds of questions that its user can be asked; none before 2026-07-28. */
  elicits: { form: boolean; url: boolean }
  /** The answers to questions, and the state that they belong to. */
  answers?: Answers | undefined
  state?: string | undefined
}

/** The call of a tool. */
export type ToolCall = { exchange: McpExchange; tool: Tool; client: Client }

const DONE_WITHIN_MS = 1_000
const FIRST_POLL_MS = 100
/** The platform limits the requests of an invocation: waits grow to this. */
const LAST_POLL_MS = 5_000

/** Calls a tool of an agent. Returns its result, a question for the user, or a handle of a task that still runs. */
export const callTool = async (call: ToolCall, args: JsonObject): Promise<CallToolResult | InputRequiredResult> => {
  const { exchange, tool, client } = call
  if (client.state !== undefined) {
    const handle = await openHandle(client.state, exchange)
    if (handle.agent !== exchange.agent.id || handle.tool !== tool.definition.name) throw unknownHandle()
    return answerQuestion(call, handle)
  }
  const input = readArguments(tool, args)
  return 'problem' in input ? errorResult(input.problem) : conclude(await send(call, input), call)
}

const answerQuestion = async (call: ToolCall, { task: taskId, context: contextId }: Handle) => {
  const { exchange, client } = call
  const asking = await callAgent(exchange, 'getTask', { id: taskId })
  const answer = 'task' in asking ? readAnswer(asking.task, client.answers) : undefined
  if (answer === undefined) return conclude(asking, call)
  if (answer === 'cancel') return conclude(await callAgent(exchange, 'cancel', { id: taskId }), call)
  return conclude(await send(call, { parts: answer, taskId, contextId }), call)
}

const conclude = async (answer: Answer, { exchange, tool, client }: ToolCall) => {
  const form = { isOwnTool: tool.mcp !== undefined, isValidated: tool.definition.outputSchema !== undefined }
  const needsHandle = 'task' in answer && (isWaiting(answer.task) || (client.hasTasks && isRunning(answer.task)))
  if (!needsHandle) return toResult(answer, form)
  const { task } = answer
  const handled = { agent: exchange.agent.id, tool: tool.definition.name, task: task.id, context: task.contextId }
  const handle = await issueHandle(handled, exchange)
  if (handle === undefined) return toResult(answer, form)
  if (isRunning(task)) return toCreatedTask(task, handle)
  const inputRequests = toInputRequests(task, client.elicits)
  return inputRequests ? inputRequired({ inputRequests, requestState: handle }) : toResult(answer, form)
}

/**
 * Sends a message, or waits for the task that it names without one, until the task ends, asks, or takes too long.
 * Cancels the task of a client that has disconnected, for which the platform would otherwise stop the work.
 */
const send = (call: ToolCall, input: Input): Promise<Answer> => {
  const sending = sendAndFollow(call, input)
  call.exchange.ctx.waitUntil(sending.catch(() => undefined))
  return sending
}

const sendAndFollow = async (call: ToolCall, input: Input): Promise<Answer> => {
  const { exchange, client } = call
  const seconds = Math.min(config(exchange.env).upstreamTimeoutSeconds, MAX_TOOL_WAIT_SECONDS)
  const deadline = Date.now() + (client.hasTasks ? DONE_WITHIN_MS : seconds * 1000)
  const { parts, taskId } = input
  const answer =
    parts.length === 0 && taskId !== undefined
      ? await callAgent(exchange, 'getTask', { id: taskId })
      : await sendMessage(call, toParams(call, input), deadline)
  const followed = 'task' in answer ? await follow(call, answer.task, deadline) : answer
  if (client.signal.aborted && 'task' in followed && isRunning(followed.task))
    await callAgent(exchange, 'cancel', { id: followed.task.id })
  return followed
}

const toParams = ({ tool: { skillId }, client }: ToolCall, { parts, contextId, taskId }: Input): JsonObject => ({
  message: {
    messageId: crypto.randomUUID(),
    role: 'ROLE_USER',
    parts: parts as JsonObject[],
    ...(contextId && { contextId }),
    ...(taskId && { taskId }),
    ...(skillId !== undefined && { metadata: { skillId } }),
  },
  // The task of an answer would be returned as it was, still asking.
  configuration: { returnImmediately: client.hasTasks || taskId === undefined },
})

/** Agents that do not stream, although their cards say so, have done nothing when they answer with one of these. */
const NOT_STREAMING: ReadonlySet<number> = new Set([-32601, -32004])

const sendMessage = async ({ exchange, client }: ToolCall, params: JsonObject, deadline: number): Promise<Answer> => {
  // A stream shows progress; and its task is known where the agent answers late.
  if (exchange.gate?.profile.streaming !== true || client.hasTasks) return callAgent(exchange, 'send', params)
  const { configuration: _, ...streamed } = params
  const limits = { deadline: AbortSignal.timeout(Math.max(1, deadline - Date.now())), client: client.signal }
  const answer = await streamMessage(exchange, streamed, { ...limits, onStatus: reportProgress(client) })
  if ('error' in answer && NOT_STREAMING.has(answer.error.code)) return callAgent(exchange, 'send', params)
  // Some agents write the result after the final update.
  const isSilent = 'task' in answer && !isRunning(answer.task) && partsOf(answer.task).length === 0
  const found = isSilent ? await callAgent(exchange, 'getTask', { id: answer.task.id }) : answer
  return 'task' in found ? found : answer
}

const follow = async ({ exchange, client }: ToolCall, task: Task, deadline: number): Promise<Answer> => {
  const report = reportProgress(client)
  let found = task
  for (let delay = FIRST_POLL_MS; isRunning(found); delay = Math.min(2 * delay, LAST_POLL_MS)) {
    const remaining = deadline - Date.now()
    if (remaining <= 0 || client.signal.aborted) break
    await wait(Math.min(delay, remaining), client.signal)
    if (client.signal.aborted) break
    const answer = await callAgent(exchange, 'getTask', { id: found.id })
    if (!('task' in answer)) return answer
    found = answer.task
    report(found)
  }
  return { task: found }
}

const wait = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => resolve())
  })

const reportProgress = ({ onProgress }: Client) => {
  let last = ''
  return (task: Task): void => {
    const text = textOf(task.status.message)
    const status = JSON.stringify([task.status.state, text, task.status.timestamp])
    if (onProgress && status !== last) onProgress(text)
    last = status
  }
}
