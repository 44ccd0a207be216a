import { type CallToolResult, type ContentBlock, inputRequired } from '@modelcontextprotocol/server'
import type { RpcError } from '../../a2a/index.ts'
import { webUrl } from '../../http/index.ts'
import { asList, asObject, isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { type Answer, isRunning, isWaiting, type Message, type Part, type Task } from './a2a-calls.ts'
import { oneLine } from './tools.ts'

/**
 * How a result is written: for one of an MCP server's own tools as the server wrote it, without the ids in a line. What
 * is no result of the tool yet must be an error where clients validate its results.
 */
type Form = { isOwnTool: boolean; isValidated?: boolean }

const ERROR_STATES: ReadonlySet<string> = new Set(['TASK_STATE_FAILED', 'TASK_STATE_REJECTED', 'TASK_STATE_CANCELED'])

/** Returns the result of a tool for what an agent has answered. */
export const toResult = (answer: Answer, form: Form): CallToolResult => {
  if ('error' in answer) return errorResult(describeRpcError(answer.error))
  if ('message' in answer) {
    const { message } = answer
    return toContent(message.parts ?? [], idsOf(message.contextId, message.taskId), form)
  }
  const { task } = answer
  const { id, contextId, status } = task
  const parts = [...partsOf(task), ...explain(task, form)]
  const ids = { ...idsOf(contextId, id), state: status.state }
  const isOpen = form.isOwnTool && (isRunning(task) || isWaiting(task))
  const { structuredContent, ...content } = toContent(parts, ids, isOpen ? { isOwnTool: false } : form)
  return {
    ...content,
    ...(structuredContent !== undefined && !isOpen && { structuredContent }),
    ...((ERROR_STATES.has(status.state) || (isOpen && form.isValidated)) && { isError: true }),
  }
}

/** Returns a result that tells the model what is wrong. */
export const errorResult = (text: string): CallToolResult => ({ content: [{ type: 'text', text }], isError: true })

const idsOf = (contextId?: string, taskId?: string): JsonObject => ({
  ...(contextId && { contextId }),
  ...(taskId && { taskId }),
})

/** The artifacts of a task and the message of its status; without either, the agent's last message. */
export const partsOf = ({ artifacts, status: { message }, history }: Task): Part[] => {
  const parts = [...(artifacts ?? []).flatMap(({ parts }) => parts ?? []), ...(message?.parts ?? [])]
  return parts.length > 0 ? parts : (history?.findLast(({ role }) => role === 'ROLE_AGENT')?.parts ?? [])
}

/** Returns how to continue a task that has not ended, or the final state of one that has no text. */
const explain = (task: Task, { isOwnTool }: Form): Part[] => {
  const { id, status } = task
  const taskId = JSON.stringify(id)
  const again = `call this tool again${isOwnTool ? ' with the same arguments and' : ' with'} taskId ${taskId}`
  if (isRunning(task)) return [{ text: `The task still runs. To wait for it, ${again} and an empty message.` }]
  if (isWaiting(task)) return [{ text: `The agent asks for this. To answer, ${again} and the answer as message.` }]
  const text = `State of the task: ${status.state.replace('TASK_STATE_', '').toLowerCase()}.`
  const hasText = partsOf(task).length > 0 && status.state !== 'TASK_STATE_CANCELED'
  return hasText ? [] : [{ text }]
}

const toContent = (parts: readonly Part[], ids: JsonObject, { isOwnTool }: Form): CallToolResult => {
  const data = parts.flatMap(part => (part.data === undefined ? [] : [part.data]))
  // A server writes structured data as text, too.
  const shown = isOwnTool && data.length < parts.length ? parts.filter(part => part.data === undefined) : parts
  const line = Object.entries(ids)
    .flatMap(([name, id]) => (name === 'state' ? [] : `${name}: ${oneLine(String(id))}`))
    .join(', ')
  const all = data.length > 1 ? data : data[0]
  // Some clients show a model nothing else where there is structured content.
  const mixed = { text: textOf({ parts: [...parts] }), ...ids, ...(isJsonObject(all) ? all : { data: all }) }
  const structured = isOwnTool || data.length === 0 ? data.at(-1) : data.length < parts.length ? mixed : all
  return {
    content: [...shown.map(toBlock), ...(isOwnTool || line === '' ? [] : [{ type: 'text', text: line }])],
    ...(structured !== undefined && {
      structuredContent: isJsonObject(structured) ? structured : { data: structured },
    }),
    ...(Object.keys(ids).length > 0 && { _meta: ids }),
  } as CallToolResult
}

const toBlock = ({ text, data, raw, url, mediaType, filename }: Part): ContentBlock => {
  const mimeType = mediaType ?? 'application/octet-stream'
  if (text !== undefined) return { type: 'text', text }
  const [name = ''] = [filename ?? url?.slice(url.lastIndexOf('/') + 1)]
  if (url !== undefined) return { type: 'resource_link', uri: url, name, mimeType }
  if (raw === undefined) return { type: 'text', text: JSON.stringify(data) ?? '' }
  if (mimeType.startsWith('image/')) return { type: 'image', data: raw, mimeType }
  if (mimeType.startsWith('audio/')) return { type: 'audio', data: raw, mimeType }
  return {
    type: 'resource',
    resource: { uri: `file:///${encodeURIComponent(name.toWellFormed() || 'file')}`, blob: raw, mimeType },
  }
}

const describeRpcError = ({ message, data = [] }: RpcError): string => {
  const violations = [data].flat().flatMap(each => asList(asObject(each).fieldViolations).map(asObject))
  return [message, ...violations.map(({ field, description }) => `${field}: ${description}`)].join('\n')
}

/** Returns the text of a message, for progress and questions. */
export const textOf = (message: Message | undefined): string =>
  (message?.parts ?? []).flatMap(({ text }) => text ?? []).join('\n')

/** The answers of the user, by the keys of the questions. */
export type Answers = Readonly<Record<string, unknown>>

const MAX_KEY_LENGTH = 100

/** The key of the question that a task asks: unlike those of its questions before. */
const keyOf = ({ status: { message, timestamp } }: Task): string =>
  `question-${message?.messageId ?? timestamp}`.slice(0, MAX_KEY_LENGTH)

const answer = { type: 'string', title: 'Answer' }
const answerSchema = { type: 'object', properties: { answer }, required: ['answer'] }

/** Returns the schema that an agent made from an MCP server passes on, or the URL that its user is to open. */
const passedOn = ({ status: { message } }: Task): { requestedSchema?: JsonObject; url?: string | undefined } => {
  for (const { data, url } of message?.parts ?? []) {
    const { requestedSchema } = asObject(data as Json)
    if (isJsonObject(requestedSchema)) return { requestedSchema }
    if (webUrl(url) !== undefined) return { url: webUrl(url) }
  }
  return {}
}

/** The requests to the user by which a client answers a task; undefined if the client cannot ask its user. */
export const toInputRequests = (task: Task, { form, url: opensUrls }: { form: boolean; url: boolean }) => {
  const message = textOf(task.status.message) || 'The agent needs more input.'
  const { requestedSchema = answerSchema, url } = passedOn(task)
  if (url !== undefined) return opensUrls ? { [keyOf(task)]: inputRequired.elicitUrl({ message, url }) } : undefined
  const params = { message, requestedSchema } as Parameters<typeof inputRequired.elicit>[0]
  // A form must not ask for credentials.
  return form && task.status.state === 'TASK_STATE_INPUT_REQUIRED'
    ? { [keyOf(task)]: inputRequired.elicit(params) }
    : undefined
}

/** Returns the user's answer to the question that a task asks now, as parts of a message; undefined for none. */
export const readAnswer = (task: Task, answers: Answers = {}): Part[] | 'cancel' | undefined => {
  const response = asObject(answers[keyOf(task)] as Json)
  const { requestedSchema, url } = passedOn(task)
  const isPassedOn = requestedSchema !== undefined || url !== undefined
  const { action, content } = response
  if (action === 'cancel') return isPassedOn ? [{ text: 'cancel' }] : 'cancel'
  if (action === 'decline') return [{ text: isPassedOn ? 'decline' : 'The user declines to answer.' }]
  if (action !== 'accept') return undefined
  if (isPassedOn) return [{ data: { action, content: content ?? {} }, mediaType: 'application/json' }]
  const { answer } = asObject(content)
  return typeof answer === 'string' ? [{ text: answer, mediaType: 'text/plain' }] : undefined
}
