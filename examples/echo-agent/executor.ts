import { setTimeout } from 'node:timers/promises'
import { Task, TaskArtifactUpdateEvent, type TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'

/** Tasks that can be cancelled. When there are more, the oldest one no longer can. */
const MAX_OPEN_TASKS = 200

/** Words that are streamed one at a time. The last chunk has all that follow. */
const MAX_WORDS = 100

const WORD_INTERVAL_MS = 200
const SLOW_TASK_MS = 30_000

/** Reports the progress of one task. */
type TaskReporter = {
  setStatus: (state: keyof typeof TaskState, text?: string) => void
  /** Adds a chunk of text to the artifact of the task. */
  addText: (chunk: string, isLast: boolean) => void
  /** Waits. Rejects if the task is cancelled meanwhile. */
  sleep: (milliseconds: number) => Promise<void>
}

type Skill = (text: string, reporter: TaskReporter) => Promise<void> | void

const echo: Skill = (text, { setStatus, addText }) => {
  addText(text, true)
  setStatus('TASK_STATE_COMPLETED')
}

/** What the agent does with the rest of a message, by the first word. */
export const skills: Readonly<Record<string, Skill>> = {
  stream: async (text, { setStatus, addText, sleep }) => {
    setStatus('TASK_STATE_WORKING')
    const words = text.split(/\s+/)
    const chunks = [...words.slice(0, MAX_WORDS - 1), words.slice(MAX_WORDS - 1).join(' ')].filter(Boolean)
    for (const [index, chunk] of chunks.entries()) {
      await sleep(WORD_INTERVAL_MS)
      addText(index === 0 ? chunk : ` ${chunk}`, index === chunks.length - 1)
    }
    setStatus('TASK_STATE_COMPLETED')
  },
  ask: (_, { setStatus }) => setStatus('TASK_STATE_INPUT_REQUIRED', 'What shall I say?'),
  slow: async (text, reporter) => {
    reporter.setStatus('TASK_STATE_WORKING', 'This takes half a minute.')
    await reporter.sleep(SLOW_TASK_MS)
    echo(text, reporter)
  },
  backwards: (text, reporter) => echo([...text].reverse().join(''), reporter),
}

/** Runs the skill that a message names, and echoes any other message. */
export class EchoExecutor implements AgentExecutor {
  /** Functions that cancel the open tasks, the oldest first. */
  readonly #cancelOpen = new Map<string, () => void>()

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, task, userMessage } = request
    bus.publish(AgentEvent.task(task ?? createTask(request)))
    const cancellation = new AbortController()
    const reporter = createReporter(request, bus, cancellation.signal)
    this.#cancelOpen.set(taskId, () => {
      reporter.setStatus('TASK_STATE_CANCELED')
      cancellation.abort()
    })
    for (const oldest of this.#cancelOpen.keys())
      if (this.#cancelOpen.size > MAX_OPEN_TASKS) this.#cancelOpen.delete(oldest)
    const text = userMessage.parts
      .flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []))
      .join(' ')
    const [, word = '', rest = ''] = /^\s*(\w+)\s*(.*)$/s.exec(text) ?? []
    // The second message of a task is the answer to "ask".
    const skill = task === undefined && Object.hasOwn(skills, word) ? skills[word] : undefined
    try {
      await (skill ? skill(rest || word, reporter) : echo(text, reporter))
    } catch (error) {
      if (!cancellation.signal.aborted) throw error
    }
    if (word !== 'ask' || task !== undefined) this.#cancelOpen.delete(taskId)
  }

  cancelTask = async (taskId: string): Promise<void> => {
    this.#cancelOpen.get(taskId)?.()
    this.#cancelOpen.delete(taskId)
  }
}

const createTask = ({ taskId, contextId, userMessage }: RequestContext): Task => ({
  ...Task.fromJSON({ id: taskId, contextId, status: { state: 'TASK_STATE_SUBMITTED', timestamp: now() } }),
  history: [userMessage],
})

/** Creates a reporter that publishes events on the bus. */
const createReporter = (
  { taskId, contextId }: RequestContext,
  bus: ExecutionEventBus,
  cancelled: AbortSignal,
): TaskReporter => {
  const artifactId = crypto.randomUUID()
  let append = false
  return {
    setStatus: (state, text) => {
      const message =
        text === undefined
          ? undefined
          : { messageId: crypto.randomUUID(), taskId, contextId, role: 'ROLE_AGENT', parts: [textPart(text)] }
      const status = { state, timestamp: now(), message }
      bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ taskId, contextId, status })))
    },
    addText: (chunk, lastChunk) => {
      const artifact = { artifactId, name: 'echo', parts: [textPart(chunk)] }
      const event = { taskId, contextId, artifact, append, lastChunk }
      bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON(event)))
      append = true
    },
    sleep: milliseconds => setTimeout(milliseconds, undefined, { signal: cancelled }),
  }
}

const textPart = (text: string) => ({ text, mediaType: 'text/plain' })

const now = (): string => new Date().toISOString()
