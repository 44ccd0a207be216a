import type { IncomingMessage, ServerResponse } from 'node:http'
import { methodOf, type OperationName, operationNames, operations } from '../../src/a2a/operations.ts'
import { matchRestPath } from '../../src/a2a/rest-paths.ts'
import type { CallBinding, Protocol, WireVersion } from '../../src/card/model/versions.ts'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { json } from './upstream.ts'

/** The forms in which agents write results: over JSON-RPC in 0.3, over HTTP+JSON in 0.3, and in 1.0. */
export type ResultForm = '0.3' | '0.3 over HTTP' | '1.0'

/** Returns the form of results in a protocol. */
export const resultFormOf = ({ binding, version }: Protocol): ResultForm => {
  if (version !== '0.3') return '1.0'
  return binding === 'HTTP+JSON' ? '0.3 over HTTP' : version
}

const messages = {
  '0.3': { kind: 'message', messageId: 'answer', role: 'agent', parts: [{ kind: 'text', text: 'It rains' }] },
  '0.3 over HTTP': { messageId: 'answer', role: 'ROLE_AGENT', content: [{ text: 'It rains' }] },
  '1.0': { messageId: 'answer', role: 'ROLE_AGENT', parts: [{ text: 'It rains' }] },
}

const tasks = {
  '0.3': {
    kind: 'task',
    id: 't-1',
    contextId: 'c-1',
    status: { state: 'working', message: messages['0.3'], timestamp: '2026-11-22T10:00:00Z' },
    artifacts: [{ artifactId: 'a-1', parts: [{ kind: 'text', text: 'Rain' }] }],
    history: [{ kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Does it rain?' }] }],
  },
  '0.3 over HTTP': {
    id: 't-1',
    contextId: 'c-1',
    status: { state: 'TASK_STATE_WORKING', message: messages['0.3 over HTTP'], timestamp: '2026-11-22T10:00:00Z' },
    artifacts: [{ artifactId: 'a-1', parts: [{ text: 'Rain' }] }],
    history: [{ messageId: 'm', role: 'ROLE_USER', content: [{ text: 'Does it rain?' }] }],
  },
  '1.0': {
    id: 't-1',
    contextId: 'c-1',
    status: { state: 'TASK_STATE_WORKING', message: messages['1.0'], timestamp: '2026-11-22T10:00:00Z' },
    artifacts: [{ artifactId: 'a-1', parts: [{ text: 'Rain' }] }],
    history: [{ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'Does it rain?' }] }],
  },
}

const pushUrl = 'https://client.example.com/push'

const pushConfigs = {
  '0.3': { taskId: 't-1', pushNotificationConfig: { id: 'p-1', url: pushUrl } },
  '0.3 over HTTP': {
    name: 'tasks/t-1/pushNotificationConfigs/p-1',
    pushNotificationConfig: { id: 'p-1', url: pushUrl },
  },
  '1.0': { id: 'p-1', taskId: 't-1', url: pushUrl },
}

/** Returns a valid result of an operation in a form. */
export const resultOf = (operation: OperationName, form: ResultForm): Json => {
  const { result, sends } = operations[operation]
  if (result === 'card') return { name: 'Weather Agent' }
  if (result === 'none') return form === '0.3' ? null : {}
  const objects: Partial<Record<string, JsonObject>> = {
    ...{ task: tasks[form], message: messages[form], pushConfig: pushConfigs[form] },
  }
  const find = (name: string): JsonObject => objects[name] ?? {}
  if ('one' in result) return find(result.one)
  if ('oneOf' in result) {
    const name = sends ? 'message' : 'task'
    return form === '0.3' ? find(name) : { [name]: find(name) }
  }
  const items = [find(result.of)]
  if (form === '0.3') return items
  return { [result.list]: items, nextPageToken: '', ...(result.of === 'task' && { pageSize: 1, totalSize: 1 }) }
}

/** Returns the events of a stream in a form: a task, updates of its status and an artifact, in an order that agents send. */
export const eventsOf = (form: ResultForm): JsonObject[] => {
  const ids = { taskId: 't-1', contextId: 'c-1' }
  const [artifact] = tasks[form].artifacts
  const { status } = tasks[form]
  const done = { state: form === '0.3' ? 'completed' : 'TASK_STATE_COMPLETED' }
  return form === '0.3'
    ? [
        tasks[form],
        { kind: 'status-update', ...ids, status, final: false },
        { kind: 'artifact-update', ...ids, artifact: artifact as JsonObject, append: false, lastChunk: true },
        { kind: 'status-update', ...ids, status: done, final: true },
      ]
    : [
        { task: tasks[form] },
        { statusUpdate: { ...ids, status } },
        { artifactUpdate: { ...ids, artifact: artifact as JsonObject, append: false, lastChunk: true } },
        // ProtoJSON leaves out what is false.
        { statusUpdate: { ...ids, status: done, ...(form === '0.3 over HTTP' && { final: true }) } },
      ]
}

/** Returns the data of a valid event with a number: an update of a task's status. */
export const numberedEvent = (number: number, binding: CallBinding, version: WireVersion): JsonObject => {
  const ids = { taskId: 't-1', contextId: 'c-1' }
  const metadata = { number }
  const result: JsonObject =
    version === '0.3' && binding === 'JSONRPC'
      ? { kind: 'status-update', ...ids, status: { state: 'working' }, final: false, metadata }
      : { statusUpdate: { ...ids, status: { state: 'TASK_STATE_WORKING' }, metadata } }
  return binding === 'JSONRPC' ? { jsonrpc: '2.0', id: 7, result } : result
}

/** Returns a valid JSON-RPC response to a call; 'send' of 1.0 if the method does not exist. */
export const answerTo = ({ id = null, method }: JsonObject): JsonObject => {
  const names = (['0.3', '1.0'] as const).flatMap(version =>
    operationNames.map(operation => ({ version, operation, method: methodOf(operation, version) })),
  )
  const { operation, version } = names.find(each => each.method === method) ?? { operation: 'send', version: '1.0' }
  return { jsonrpc: '2.0', id, result: resultOf(operation, version) }
}

/** Returns a valid HTTP+JSON response to a request. */
export const restAnswerTo = (httpMethod: string, path: string): Json => {
  const match = matchRestPath(httpMethod, path)
  if ('kind' in match) throw new Error(`no operation: ${httpMethod} ${path}`)
  return resultOf(match.operation, match.versions.includes('0.3') ? '0.3 over HTTP' : '1.0')
}

/** Answers every call as a good agent does, over JSON-RPC at any path, and over HTTP+JSON at the paths of its operations. */
export const answerCalls = (response: ServerResponse, request: IncomingMessage, body: Buffer): void => {
  const text = body.toString()
  const parsed: JsonObject = text.startsWith('{') ? JSON.parse(text) : {}
  const { method = '', url = '/' } = request
  const answer =
    parsed.jsonrpc === undefined
      ? restAnswerTo(method, restPathOf(new URL(url, 'http://agent').pathname))
      : answerTo(parsed)
  response.writeHead(200, json).end(JSON.stringify(answer))
}

/** Drops what precedes the path of an operation: the path of the endpoint. */
const restPathOf = (path: string): string =>
  /(?:v1\/)?(?:message:|tasks|extendedAgentCard|card).*$/.exec(path)?.[0] ?? path
