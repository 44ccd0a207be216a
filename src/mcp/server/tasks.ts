import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import { type Bytes, decryptFor, distinctSubject, encryptFor } from '../../auth/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { HANDLE_SECONDS, MAX_TASK_ID_LENGTH } from '../../limits.ts'
import { getSigningKeys, listKeys } from '../../signing/index.ts'
import { type Answer, callAgent, isRunning, isWaiting, type Task } from './a2a-calls.ts'
import type { McpExchange } from './exchange.ts'
import { type Answers, readAnswer, textOf, toInputRequests, toResult } from './results.ts'

/** The identifier of the extension for tasks (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'

const POLL_INTERVAL_MS = 2_000

const describeTask = ({ status }: Task, taskId: string, issued: number, state: string): JsonObject => {
  const statusMessage = textOf(status.message)
  const createdAt = new Date(issued).toISOString()
  return {
    taskId,
    status: state,
    ...(statusMessage !== '' && { statusMessage }),
    createdAt,
    lastUpdatedAt: status.timestamp && status.timestamp > createdAt ? status.timestamp : createdAt,
    ttlMs: HANDLE_SECONDS * 1000,
    pollIntervalMs: POLL_INTERVAL_MS,
  }
}

/** Returns the handle of a task in place of the result of the tool. */
export const toCreatedTask = (task: Task, handle: string): CallToolResult =>
  ({ resultType: 'task', ...describeTask(task, handle, Date.now(), 'working') }) as unknown as CallToolResult

/** The task of a handle, in the exchange with its agent. */
export type HandledCall = {
  exchange: McpExchange
  handle: Handle
  taskId: string
  elicits: { form: boolean; url: boolean }
  /** Whether its tool is one of the MCP server behind the agent. */
  isOwnTool: boolean
}

const taskOf = (answer: Answer): Task => {
  if ('task' in answer) return answer.task
  const { code, message } = 'error' in answer ? answer.error : { code: -32603, message: 'The agent returned no task.' }
  throw new ProtocolError(code, message)
}

/** `tasks/get`: the state of a task; its result if it has ended, and its questions if it asks. */
export const getTask = async (call: HandledCall): Promise<JsonObject> => {
  const { exchange, handle, taskId, elicits, isOwnTool } = call
  const task = taskOf(await callAgent(exchange, 'getTask', { id: handle.task }))
  const described = (state: string) => describeTask(task, taskId, handle.issued, state)
  if (isRunning(task)) return described('working')
  if (task.status.state === 'TASK_STATE_CANCELED') return described('cancelled')
  const inputRequests = isWaiting(task) ? toInputRequests(task, elicits) : undefined
  return inputRequests
    ? { ...described('input_required'), inputRequests: inputRequests as unknown as JsonObject }
    : { ...described('completed'), result: toResult({ task }, { isOwnTool }) as JsonObject }
}

/** `tasks/update`: sends the answer to the question that the task asks now. Others are ignored. */
export const updateTask = async (call: HandledCall, answers: Answers): Promise<JsonObject> => {
  const { exchange, handle } = call
  const { task: taskId, context: contextId } = handle
  const parts = readAnswer(taskOf(await callAgent(exchange, 'getTask', { id: taskId })), answers)
  if (parts === 'cancel') return cancelTask(call)
  if (parts === undefined) return {}
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts, taskId, ...(contextId && { contextId }) }
  const params = { message, configuration: { returnImmediately: true } } as JsonObject
  const sent = await callAgent(exchange, 'send', params)
  if ('error' in sent) taskOf(sent)
  return {}
}

/** `tasks/cancel`: asks the agent to cancel the task. One that has ended stays as it is. */
export const cancelTask = async ({ exchange, handle }: HandledCall): Promise<JsonObject> => {
  const canceled = await callAgent(exchange, 'cancel', { id: handle.task })
  if ('error' in canceled && canceled.error.code === TASK_NOT_FOUND) taskOf(canceled)
  return {}
}

const TASK_NOT_FOUND = -32001

type HandledTask = { agent: string; tool: string; task: string; context?: string | undefined }

/** What a handle contains: its task, and when it was issued, in ms since 1970. */
export type Handle = HandledTask & { issued: number }

const encode = (text: string) => new TextEncoder().encode(text)

const deriveKey = async (secret: string): Promise<Bytes> => {
  const material = await crypto.subtle.importKey('raw', encode(secret), 'HKDF', false, ['deriveBits'])
  const use = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: encode('calling-card mcp handle') }
  return new Uint8Array(await crypto.subtle.deriveBits(use, material, 256))
}

/** Returns keys derived from the signing keys of this host, that of new handles first; none for a host without any. */
const getKeys = async (env: Env): Promise<Bytes[]> => {
  const keys = await getSigningKeys(env)
  return 'misconfigured' in keys ? [] : Promise.all(listKeys(keys).map(({ secret }) => deriveKey(env[secret] ?? '')))
}

type Caller = Pick<McpExchange, 'caller' | 'env'>

/** Returns a handle, encrypted for its caller: for an anonymous one, it is a secret like the id of a task. */
export const issueHandle = async (task: HandledTask, { caller, env }: Caller, issued = Date.now()) => {
  // A client repeats the handle in a header.
  const [key] = task.task.length > MAX_TASK_ID_LENGTH ? [] : await getKeys(env)
  return key && encryptFor(distinctSubject(caller), { ...task, issued }, key)
}

/** Returns what is in a handle. Throws for one that is forged, expired, or another caller's: nobody may learn which. */
export const openHandle = async (text: string, { caller, env }: Caller): Promise<Handle> => {
  for (const key of await getKeys(env)) {
    const handle = await decryptFor<Handle>(distinctSubject(caller), text, key)
    if (handle && Date.now() < handle.issued + HANDLE_SECONDS * 1000) return handle
  }
  throw unknownHandle()
}

/** The error for parameters that are wrong. */
export const invalidParams = (message: string): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, message)

/** The error for a handle that is not valid. */
export const unknownHandle = (): ProtocolError => invalidParams('Unknown or expired task. Call the tool again.')
