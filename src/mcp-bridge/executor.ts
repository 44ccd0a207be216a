import { Task, TaskArtifactUpdateEvent, type TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import type { Progress } from '@modelcontextprotocol/client'
import { log } from '../http/log.ts'
import type { JsonObject } from '../json/json.ts'
import { type Full, type Principal, Quota } from './quotas.ts'
import { failureWords, type Outcome, partsOf, said, tooMany, type Words } from './results.ts'
import type { ToolTerms } from './tool-client.ts'

/** The most tools of one agent that run at once. */
const most = 64

/** A task whose tool may run: what tells that it is cancelled. Or who has as many run as may. */
type Begun = { cancelled: AbortSignal } | { full: Full }

/** The tasks whose tools run, and how to cancel each. */
export class RunningTasks {
  readonly #open = new Map<string, { contextId: string; cancelled: AbortController; account: Principal }>()
  readonly #shares = new Quota(most)

  get size(): number {
    return this.#open.size
  }

  begin(taskId: string, contextId: string, account: Principal): Begun {
    const full = this.#shares.take(account)
    if (full) return { full }
    const cancelled = new AbortController()
    this.#open.set(taskId, { contextId, cancelled, account })
    return { cancelled: cancelled.signal }
  }

  end(taskId: string): void {
    const task = this.#open.get(taskId)
    if (task && this.#open.delete(taskId)) this.#shares.give(task.account)
  }

  /** Cancels a task; returns the id of its context, undefined where it does not run. */
  cancel(taskId: string): string | undefined {
    const task = this.#open.get(taskId)
    task?.cancelled.abort('The caller cancelled the task.')
    return task?.contextId
  }
}

/** How many updates may come at once, and how long it takes until there may be one more, in ms. */
const burst = 20
const interval = 1000

/**
 * Lets through as much of a tool's progress as anybody reads: each update is an event of the task, which is kept, and a server
 * may tell of a thousand in a second.
 */
export const progressUpdates = (tell: (text: string) => void): ((progress: Progress) => void) => {
  let allowed = burst
  let counted = Date.now()
  return progress => {
    const passed = Math.floor((Date.now() - counted) / interval)
    allowed = Math.min(burst, allowed + passed)
    counted += passed * interval
    if (allowed <= 0) return
    allowed--
    tell(progressText(progress))
  }
}

const mostText = 1000

/** What a server says of its progress: its words, or how much of how much. */
const progressText = ({ progress, total, message }: Progress): string => {
  const share = total === undefined || !(total > 0) ? `${progress}` : `${Math.round((100 * progress) / total)} %`
  const words = message?.trim() ?? ''
  if (words === '') return share
  return `${words.slice(0, mostText).toWellFormed()}${total === undefined ? '' : ` (${share})`}`
}

/** What tells of one task as it goes on. */
type TaskReporter = {
  status: (state: keyof typeof TaskState, words?: Words) => void
  /** Tells of all that a tool has made. */
  artifact: (name: string, parts: JsonObject[]) => void
}

/** Publishes what happens to a task. */
const tellingOf = (task: { taskId: string; contextId: string }, bus: ExecutionEventBus): TaskReporter => ({
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

/** The tool that a message calls. */
export type ToolOfMessage = {
  name: string
  call: (terms: Pick<ToolTerms, 'signal' | 'onProgress'>) => Promise<Outcome>
}

/** Makes a task of a tool's call, and tells of it. */
export class ToolExecutor implements AgentExecutor {
  readonly #tool: ToolOfMessage | undefined
  readonly #open: RunningTasks
  readonly #account: Principal

  /** `tool` is there for a message alone. */
  constructor(tool: ToolOfMessage | undefined, open: RunningTasks, account: Principal) {
    this.#tool = tool
    this.#open = open
    this.#account = account
  }

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage } = request
    const tool = this.#tool
    if (tool === undefined) throw new Error('This message calls no tool.')
    const telling = tellingOf({ taskId, contextId }, bus)
    const status = { state: 'TASK_STATE_WORKING', timestamp: now() }
    bus.publish(AgentEvent.task({ ...Task.fromJSON({ id: taskId, contextId, status }), history: [userMessage] }))
    const begun = this.#open.begin(taskId, contextId, this.#account)
    if ('full' in begun) return telling.status('TASK_STATE_REJECTED', tooMany(begun.full))
    const { cancelled } = begun
    try {
      const onProgress = progressUpdates(text => {
        if (!cancelled.aborted) telling.status('TASK_STATE_WORKING', said(text))
      })
      const outcome = await tool.call({ signal: cancelled, onProgress })
      if (!cancelled.aborted) tell(tool.name, outcome, telling)
    } finally {
      this.#open.end(taskId)
    }
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const contextId = this.#open.cancel(taskId)
    if (contextId !== undefined) tellingOf({ taskId, contextId }, bus).status('TASK_STATE_CANCELED')
  }
}

const tell = (name: string, outcome: Outcome, { status, artifact }: TaskReporter): void => {
  const failed = !('result' in outcome) || outcome.result.isError === true
  const parts = failed ? [] : partsOf(outcome.result)
  if (parts.length > 0) artifact(name, parts)
  if (failed) status('TASK_STATE_FAILED', failureWords(outcome))
  else status('TASK_STATE_COMPLETED')
}

/** Writes the line of one call of a tool: in words of this host; nothing that a caller or a tool wrote. */
export const logTool = (agent: string, outcome: Outcome, milliseconds: number): void => {
  const why = whyNot(outcome)
  // What the owner has to mend is an error, which `npm start` shows.
  log(why ? 'error' : 'info', 'tool-call', { agent, outcome: tagOf(outcome), ...(why && { why }), milliseconds })
}

const tagOf = (outcome: Outcome): string => {
  if ('result' in outcome) return outcome.result.isError ? 'tool-failed' : 'done'
  if ('refused' in outcome) return 'refused'
  if ('unusable' in outcome) return 'unusable'
  if ('crowded' in outcome) return 'crowded'
  return 'notReady' in outcome ? 'not-ready' : outcome.failure.failed
}

const whyNot = (outcome: Outcome): string => {
  if ('notReady' in outcome) return outcome.notReady
  return 'failure' in outcome ? (outcome.detail ?? '') : ''
}
