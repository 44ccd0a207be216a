import { inputRequired } from '@modelcontextprotocol/server'
import { webUrl } from '../../http/index.ts'
import { asObject, isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import type { Part, Task } from './a2a-calls.ts'
import { textOf } from './results.ts'

/** The answers of the user, by the keys of the questions. */
export type Answers = Readonly<Record<string, unknown>>

const MAX_KEY_LENGTH = 100

/** The key of the question that a task asks: unlike those of its questions before. */
const keyOf = ({ status: { message, timestamp } }: Task): string =>
  `question-${message?.messageId ?? timestamp}`.slice(0, MAX_KEY_LENGTH)

/** The schema of the answer to a question that is only a text. */
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
