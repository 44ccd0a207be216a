import { setTimeout } from 'node:timers/promises'
import { Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import { echo, type Progress, skills } from './skills.ts'

/** The most tasks that wait for an answer: of more, the oldest can be cancelled no longer. */
const mostOpen = 200

/** Does what the messages say, and tells of it. */
export class EchoExecutor implements AgentExecutor {
  /** How to end each task that has not ended, the oldest first. */
  readonly #open = new Map<string, () => void>()

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, task, userMessage } = request
    bus.publish(AgentEvent.task(task ?? newTask(request)))
    const cancelled = new AbortController()
    const progress = progressOf(request, bus, cancelled.signal)
    this.#open.set(taskId, () => {
      progress.status('TASK_STATE_CANCELED')
      cancelled.abort()
    })
    for (const oldest of this.#open.keys()) if (this.#open.size > mostOpen) this.#open.delete(oldest)
    const text = userMessage.parts
      .flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []))
      .join(' ')
    const [, word = '', rest = ''] = /^\s*(\w+)\s*(.*)$/s.exec(text) ?? []
    // The second message of a task is the answer to "ask".
    const skill = task === undefined && Object.hasOwn(skills, word) ? skills[word] : undefined
    try {
      await (skill ? skill(rest || word, progress) : echo(text, progress))
    } catch (error) {
      if (!cancelled.signal.aborted) throw error
    }
    if (word !== 'ask' || task !== undefined) this.#open.delete(taskId)
  }

  cancelTask = async (taskId: string): Promise<void> => {
    this.#open.get(taskId)?.()
    this.#open.delete(taskId)
  }
}

const newTask = ({ taskId, contextId, userMessage }: RequestContext): Task => ({
  ...Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED', timestamp: now() } }),
  history: [userMessage],
})

/** Publishes what a task tells of itself. */
const progressOf = (
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  cancelled: AbortSignal,
): Progress => {
  const artifactId = crypto.randomUUID()
  let said = false
  return {
    status: (state, text) => {
      const message =
        text === undefined
          ? undefined
          : { messageId: crypto.randomUUID(), taskId, contextId, role: 'ROLE_AGENT', parts: [part(text)] }
      const status = { state, timestamp: now(), message }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status })))
    },
    say: (piece, lastChunk) => {
      const artifact = { artifactId, name: 'echo', parts: [part(piece)] }
      const event = { taskId, contextId, artifact, append: said, lastChunk }
      bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(event)))
      said = true
    },
    wait: milliseconds => setTimeout(milliseconds, undefined, { signal: cancelled }),
  }
}

const part = (text: string) => ({ text, mediaType: 'text/plain' })

const now = (): string => new Date().toISOString()
