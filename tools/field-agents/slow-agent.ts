import { setTimeout as sleep } from 'node:timers/promises'
import { AgentCard, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server'
import { jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express'
import express, { type Express } from 'express'

/** Creates agents whose tasks take `seconds`: one at `/streams`, and one at `/polls` that does not stream. */
export const createSlowAgents = (origin: string, seconds: number): Express => {
  const app = express()
  for (const path of ['/streams', '/polls']) {
    const card = {
      ...{ name: 'Slow', description: 'Takes its time', version: '1.0.0' },
      supportedInterfaces: [{ url: origin + path, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: path === '/streams' },
      ...{ defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
      skills: [{ id: 'work', name: 'Work', description: 'Does long work', tags: ['slow'] }],
    }
    const handler = new DefaultRequestHandler(
      AgentCard.fromJSON(card),
      new InMemoryTaskStore(),
      createExecutor(seconds),
    )
    app.get(`${path}/card.json`, (_, response) => void response.json(card))
    app.use(path, jsonRpcHandler({ requestHandler: handler, userBuilder: UserBuilder.noAuthentication }))
  }
  return app
}

const createExecutor = (seconds: number): AgentExecutor => {
  const cancellations = new Map<string, AbortController>()
  return {
    execute: async ({ taskId, contextId, userMessage }, bus) => {
      const ids = { taskId, contextId }
      const setState = (state: string): void =>
        bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...ids, status: { state } })))
      const cancellation = new AbortController()
      cancellations.set(taskId, cancellation)
      const submitted = Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED' } })
      bus.publish(AgentEvent.task({ ...submitted, history: [userMessage] }))
      setState('TASK_STATE_WORKING')
      const ended = sleep(seconds * 1000, 'TASK_STATE_COMPLETED', { signal: cancellation.signal })
      const state = await ended.catch(() => 'TASK_STATE_CANCELED')
      const artifact = { artifactId: 'report', parts: [{ text: `Done after ${seconds} s` }] }
      if (state === 'TASK_STATE_COMPLETED')
        bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...ids, artifact, lastChunk: true })))
      setState(state)
    },
    cancelTask: async taskId => cancellations.get(taskId)?.abort(),
  }
}
