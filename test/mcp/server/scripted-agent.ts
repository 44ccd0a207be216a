import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Json, JsonObject } from '../../../src/json/json.ts'
import { json, stream } from '../../support/upstream.ts'

/** The fields of a message that the agent reads. */
type Sent = { parts: JsonObject[]; taskId?: string; contextId?: string }
type Task = { id: string; contextId: string; status: JsonObject; artifacts?: JsonObject[] }

/** An agent of A2A 1.0 over JSON-RPC that does what the text of a message says, and keeps its tasks. */
export type ScriptedAgent = {
  respond: (response: ServerResponse, request: IncomingMessage, body: Buffer) => void
  /** The calls since the last look: their methods, and what they sent. */
  take: () => { method: string; params: JsonObject }[]
  /** Completes a task that runs. */
  finish: (id: string) => void
  /** Asks a question for a task that runs. */
  ask: (id: string) => void
  tasks: Map<string, Task>
}

let created = 0

/** Creates the agent. A text that it does not know is repeated, with all parts of its message. */
export const createScriptedAgent = (): ScriptedAgent => {
  const tasks = new Map<string, Task>()
  let calls: { method: string; params: JsonObject }[] = []
  const statusOf = (state: string, text?: string): JsonObject => ({
    state: `TASK_STATE_${state}`,
    timestamp: `2026-11-28T10:00:${String(created++ % 60).padStart(2, '0')}Z`,
    ...(text !== undefined && { message: { messageId: `s-${created}`, role: 'ROLE_AGENT', parts: [{ text }] } }),
  })
  const setStatus = (id: string, state: string, text?: string): Task => {
    const task = { ...(tasks.get(id) as Task), status: statusOf(state, text) }
    tasks.set(id, task)
    return task
  }
  const create = ({ contextId = `c-${created++}` }: Sent, state: string, text?: string): Task => {
    const id = `t-${created++}`
    tasks.set(id, { id, contextId, status: {} })
    return setStatus(id, state, text)
  }
  const complete = (id: string, parts: JsonObject[]): Task => {
    tasks.set(id, { ...(tasks.get(id) as Task), artifacts: [{ artifactId: 'a', parts }] })
    return setStatus(id, 'COMPLETED')
  }

  /** Returns the events of the answer to a message; undefined for none, ever. */
  const answer = (message: Sent): (JsonObject | 'stop' | 'open')[] | undefined => {
    const text = `${message.parts[0]?.text ?? ''}`
    const { taskId } = message
    if (taskId !== undefined) {
      if (text === 'again') return [{ task: setStatus(taskId, 'INPUT_REQUIRED', 'And where?') }]
      return [{ task: complete(taskId, message.parts) }]
    }
    if (text === 'never') return undefined
    if (text === 'nothing') return []
    if (text === 'ask') return [{ task: create(message, 'INPUT_REQUIRED', 'Where?') }]
    if (text === 'fail') return [{ task: create(message, 'FAILED', 'No station there') }]
    if (text === 'wait') return [{ task: create(message, 'WORKING', 'On it') }, 'open']
    if (text === 'stop') return [{ task: create(message, 'WORKING', 'On it') }, 'stop']
    if (text === 'steps') {
      const task = create(message, 'SUBMITTED')
      const { id: taskId, contextId } = task
      const update = (state: string, text?: string) => {
        const { status } = setStatus(taskId, state, text)
        return { statusUpdate: { taskId, contextId, status } }
      }
      const artifactUpdate = (part: string, append: boolean) => ({
        artifactUpdate: { taskId, contextId, append, artifact: { artifactId: 'a', parts: [{ text: part }] } },
      })
      return [
        { task },
        update('WORKING', 'First'),
        update('WORKING', 'Second'),
        artifactUpdate('It ', false),
        artifactUpdate('rains', true),
        update('COMPLETED'),
      ]
    }
    const { contextId = 'c-echo', parts } = message
    return [{ message: { messageId: `m-${created++}`, role: 'ROLE_AGENT', contextId, parts } }]
  }

  const respond: ScriptedAgent['respond'] = (response, _request, body) => {
    const { id = null, method, params } = JSON.parse(body.toString()) as JsonObject & { params: JsonObject }
    calls.push({ method: `${method}`, params })
    const toResponse = (fields: JsonObject): string => JSON.stringify({ jsonrpc: '2.0', id, ...fields })
    const send = (fields: JsonObject) => void response.writeHead(200, json).end(toResponse(fields))
    const message = params.message as unknown as Sent
    if (message?.parts[0]?.text === 'error') return send({ error: { code: -32603, message: 'The station is on fire' } })
    if (method === 'SendMessage') {
      const events = answer(message)
      return events && send({ result: events.find(event => typeof event === 'object') as Json })
    }
    if (method === 'SendStreamingMessage') {
      if (message.parts[0]?.text === 'no stream') return send({ error: { code: -32004, message: 'No streams' } })
      const events = answer(message)
      if (events === undefined) return
      response.writeHead(200, stream)
      for (const event of events)
        if (typeof event === 'object') response.write(`data: ${toResponse({ result: event })}\n\n`)
      return events.includes('open') ? undefined : void response.end()
    }
    const task = tasks.get(`${params.id}`)
    if (task === undefined) return send({ error: { code: -32001, message: 'Task not found' } })
    send({ result: (method === 'CancelTask' ? setStatus(task.id, 'CANCELED') : task) as unknown as Json })
  }

  return {
    respond,
    take: () => {
      const taken = calls
      calls = []
      return taken
    },
    ask: id => void setStatus(id, 'INPUT_REQUIRED', 'Which day?'),
    finish: id => void complete(id, [{ text: 'Done' }]),
    tasks,
  }
}
