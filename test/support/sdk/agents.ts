import { AgentCard, Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import type { AgentCard as V03Card, Part as V03Part } from 'a2a-sdk-v0.3'
import {
  type AgentExecutor as V03Executor,
  DefaultRequestHandler as V03RequestHandler,
  InMemoryTaskStore as V03TaskStore,
} from 'a2a-sdk-v0.3/server'
import {
  UserBuilder as V03UserBuilder,
  jsonRpcHandler as v03JsonRpcHandler,
  restHandler as v03RestHandler,
} from 'a2a-sdk-v0.3/server/express'
import express, { type Express } from 'express'
import type { JsonObject } from '../../../src/json/json.ts'

/** The agents of the official SDKs, each below a path of its own. */
export const agentKinds = ['1.0', '1.0 over HTTP+JSON', '0.3 over JSON-RPC', '0.3 over HTTP+JSON'] as const
export type AgentKind = (typeof agentKinds)[number]

/** The path of an agent; its card is at `card.json` below it. */
export const agentPath = (kind: AgentKind): string => `/agent-${agentKinds.indexOf(kind)}`

const card = {
  name: 'Official',
  description: 'An agent of the official SDK',
  version: '1.0.0',
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain', 'application/json', 'image/png', 'text/csv'],
  skills: [{ id: 'main', name: 'Main', description: 'Does all', tags: ['test'] }],
}
const capabilities = { streaming: true, pushNotifications: true }
export const extendedDescription = 'The extended card of the agent'

/** What an agent does with a message, whatever its version. */
type Reporter = {
  message: () => void
  task: () => void
  /** Adds chunks to an artifact: a text; then data and files. */
  artifact: () => void
  status: (state: 'working' | 'completed' | 'input-required' | 'canceled') => void
}

const run = (text: string, { message, task, artifact, status }: Reporter): void => {
  if (text === 'message') message()
  else task()
  if (text === 'message') return
  status('working')
  if (text === 'ask') status('input-required')
  if (text !== 'task') return
  artifact()
  status('completed')
}

/** Creates the application that serves all agents at an origin. */
export const createOfficialAgents = (origin: string): Express => {
  const app = express()
  for (const kind of agentKinds) {
    const router = express.Router()
    const url = origin + agentPath(kind)
    if (kind.startsWith('1.0')) mountV1(router, url, kind === '1.0' ? ['JSONRPC', 'HTTP+JSON'] : ['HTTP+JSON'])
    else mountV03(router, url, kind === '0.3 over JSON-RPC' ? 'JSONRPC' : 'HTTP+JSON')
    app.use(agentPath(kind), router)
  }
  return app
}

// 1.0

const mountV1 = (router: express.Router, url: string, bindings: readonly string[]): void => {
  const json = {
    ...card,
    capabilities: { ...capabilities, extendedAgentCard: true },
    supportedInterfaces: bindings.map(protocolBinding => ({ url, protocolBinding, protocolVersion: '1.0' })),
  }
  const agentCard = AgentCard.fromJSON(json)
  const extended = AgentCard.fromJSON({ ...json, description: extendedDescription })
  const requestHandler = new DefaultRequestHandler(
    agentCard,
    new InMemoryTaskStore(),
    new ExecutorV1(),
    undefined,
    undefined,
    undefined,
    async () => extended,
  )
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
  router.get('/card.json', (_, response) => void response.json(json))
  if (bindings.includes('JSONRPC')) router.post('/', jsonRpcHandler(options))
  router.use(restHandler(options))
}

const partsV1 = [
  { data: { rain: 1 } },
  { raw: 'aGk=', mediaType: 'image/png' },
  { url: 'https://files.example/a.csv', mediaType: 'text/csv' },
]

class ExecutorV1 implements AgentExecutor {
  readonly #cancels = new Map<string, () => void>()

  execute: AgentExecutor['execute'] = async ({ taskId, contextId, userMessage }, bus) => {
    const ids = { taskId, contextId }
    const publishArtifact = (artifact: JsonObject, more: JsonObject) =>
      bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact, ...more })))
    const status: Reporter['status'] = state => {
      const name = `TASK_STATE_${state.toUpperCase().replace('-', '_')}`
      const status = { state: name, timestamp: '2026-11-22T10:00:00Z' }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status })))
    }
    const [part] = userMessage.parts
    const text = part?.content?.$case === 'text' ? part.content.value : ''
    run(text, {
      message: () =>
        bus.publish(
          AgentEvent.message(
            Message.fromJSON({ messageId: 'answer', contextId, role: 'ROLE_AGENT', parts: [{ text: 'It rains' }] }),
          ),
        ),
      task: () =>
        bus.publish(
          AgentEvent.task({
            ...Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } }),
            history: [userMessage],
          }),
        ),
      artifact: () => {
        publishArtifact({ artifactId: 'a', parts: [{ text: 'It rains' }] }, { append: false })
        publishArtifact({ artifactId: 'a', parts: partsV1 }, { append: true, lastChunk: true })
      },
      status,
    })
    if (text !== 'wait') return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#cancels.set(taskId, () => {
      status('canceled')
      resolve()
    })
    await promise
  }

  cancelTask: AgentExecutor['cancelTask'] = async taskId => this.#cancels.get(taskId)?.()
}

// 0.3

const mountV03 = (router: express.Router, url: string, preferredTransport: string): void => {
  const agentCard: V03Card = {
    ...card,
    url,
    preferredTransport,
    protocolVersion: '0.3.0',
    capabilities,
    supportsAuthenticatedExtendedCard: true,
  }
  const requestHandler = new V03RequestHandler(
    agentCard,
    new V03TaskStore(),
    new ExecutorV03(),
    undefined,
    undefined,
    undefined,
    async () => ({ ...agentCard, description: extendedDescription }),
  )
  const options = { requestHandler, userBuilder: V03UserBuilder.noAuthentication }
  router.get('/card.json', (_, response) => void response.json(agentCard))
  router.use(preferredTransport === 'JSONRPC' ? v03JsonRpcHandler(options) : v03RestHandler(options))
}

const partsV03: V03Part[] = [
  { kind: 'data', data: { rain: 1 } },
  { kind: 'file', file: { bytes: 'aGk=', mimeType: 'image/png' } },
  { kind: 'file', file: { uri: 'https://files.example/a.csv', mimeType: 'text/csv' } },
]

class ExecutorV03 implements V03Executor {
  readonly #cancels = new Map<string, () => void>()

  execute: V03Executor['execute'] = async ({ taskId, contextId, userMessage }, bus) => {
    const ids = { taskId, contextId }
    const text: V03Part = { kind: 'text', text: 'It rains' }
    const status: Reporter['status'] = state =>
      bus.publish({
        ...{ kind: 'status-update', ...ids, final: state !== 'working' },
        status: { state, timestamp: '2026-11-22T10:00:00Z' },
      })
    const [part] = userMessage.parts
    const sent = part?.kind === 'text' ? part.text : ''
    run(sent, {
      message: () => bus.publish({ kind: 'message', messageId: 'answer', contextId, role: 'agent', parts: [text] }),
      task: () =>
        bus.publish({ kind: 'task', id: taskId, contextId, status: { state: 'submitted' }, history: [userMessage] }),
      artifact: () => {
        bus.publish({ kind: 'artifact-update', ...ids, artifact: { artifactId: 'a', parts: [text] }, append: false })
        const artifact = { artifactId: 'a', parts: partsV03 }
        bus.publish({ kind: 'artifact-update', ...ids, artifact, append: true, lastChunk: true })
      },
      status,
    })
    if (sent === 'wait') {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#cancels.set(taskId, () => {
        status('canceled')
        resolve()
      })
      await promise
    }
    bus.finished()
  }

  cancelTask: V03Executor['cancelTask'] = async taskId => this.#cancels.get(taskId)?.()
}
