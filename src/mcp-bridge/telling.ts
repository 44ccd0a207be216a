import { TaskArtifactUpdateEvent, type TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type ExecutionEventBus } from '@a2a-js/sdk/server'
import type { JsonObject } from '../json/json.ts'
import type { Words } from './outcome-words.ts'

/** What tells of one task as it goes on. */
export type TaskReporter = {
  status: (state: keyof typeof TaskState, words?: Words) => void
  /** Tells of all that a tool has made. */
  artifact: (name: string, parts: JsonObject[]) => void
}

/** Publishes what happens to a task. */
export const tellingOf = (task: { taskId: string; contextId: string }, bus: ExecutionEventBus): TaskReporter => ({
  status: (state, words) => {
    const message = words && { messageId: crypto.randomUUID(), ...task, role: 'ROLE_AGENT', ...words }
    const status = { state, timestamp: now(), message }
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...task, status })))
  },
  artifact: (name, parts) => {
    const artifact = { artifactId: crypto.randomUUID(), name, parts }
    bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...task, artifact, lastChunk: true })))
  },
})

/** The time as A2A writes it. */
export const now = (): string => new Date().toISOString()
