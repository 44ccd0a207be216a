import { Task, TaskArtifactUpdateEvent, type TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import type { Progress } from '@modelcontextprotocol/client'
import { logUnexpected } from '../http/errors.ts'
import { log } from '../http/log.ts'
import type { JsonObject } from '../json/json.ts'
import { MAX_RUNNING_TOOLS } from '../limits.ts'
import { type CallerIdentity, Quota, type QuotaExceeded } from './quotas.ts'
import { failureMessage, quotaMessage, type StatusMessage, type ToolOutcome, textMessage, toParts } from './results.ts'
import type { CallOptions } from './tool-client.ts'

/** The tool that a message calls, with its arguments. */
export type BoundTool = {
  name: string
  call: (options: Pick<CallOptions, 'signal' | 'onProgress'>) => Promise<ToolOutcome>
}

/** Runs a tool as an A2A task and reports its progress. */
export class ToolExecutor implements AgentExecutor {
  readonly #tool: BoundTool | undefined
  readonly #running: RunningTasks
  readonly #identity: CallerIdentity

  /** `tool` is absent unless the call is a message. */
  constructor(tool: BoundTool | undefined, running: RunningTasks, identity: CallerIdentity) {
    this.#tool = tool
    this.#running = running
    this.#identity = identity
  }

  execute = async (request: RequestContext, bus: ExecutionEventBus): Promise<void> => {
    const { taskId, contextId, userMessage } = request
    const tool = this.#tool
    if (tool === undefined) throw new Error('This message calls no tool.')
    const reporter = createReporter({ taskId, contextId }, bus)
    const status = { state: 'TASK_STATE_WORKING', timestamp: new Date().toISOString() }
    bus.publish(AgentEvent.task({ ...Task.fromJSON({ id: taskId, contextId, status }), history: [userMessage] }))
    const begun = this.#running.begin(taskId, contextId, this.#identity)
    if ('exceeded' in begun) return reporter.publishStatus('TASK_STATE_REJECTED', quotaMessage(begun.exceeded))
    const { signal } = begun
    try {
      const onProgress = throttleProgress(text => {
        if (!signal.aborted) reporter.publishStatus('TASK_STATE_WORKING', textMessage(text))
      })
      const outcome = await tool.call({ signal, onProgress })
      if (!signal.aborted) reportOutcome(tool.name, outcome, reporter)
    } catch (error) {
      // The SDK would send the error's message to the caller.
      logUnexpected(error)
      reporter.publishStatus('TASK_STATE_FAILED', textMessage('An internal error of this host stopped the call.'))
    } finally {
      this.#running.end(taskId)
    }
  }

  cancelTask = async (taskId: string, bus: ExecutionEventBus): Promise<void> => {
    const contextId = this.#running.cancel(taskId)
    if (contextId !== undefined) createReporter({ taskId, contextId }, bus).publishStatus('TASK_STATE_CANCELED')
  }
}

/** The tasks whose tools are running. */
export class RunningTasks {
  readonly #tasks = new Map<string, { contextId: string; controller: AbortController; identity: CallerIdentity }>()
  readonly #quota = new Quota(MAX_RUNNING_TOOLS)

  get size(): number {
    return this.#tasks.size
  }

  /** Adds a task. Returns the signal of its cancellation, or the quota that does not allow it. */
  begin(
    taskId: string,
    contextId: string,
    identity: CallerIdentity,
  ): { signal: AbortSignal } | { exceeded: QuotaExceeded } {
    const exceeded = this.#quota.acquire(identity)
    if (exceeded) return { exceeded }
    const controller = new AbortController()
    this.#tasks.set(taskId, { contextId, controller, identity })
    return { signal: controller.signal }
  }

  end(taskId: string): void {
    const task = this.#tasks.get(taskId)
    if (task && this.#tasks.delete(taskId)) this.#quota.release(task.identity)
  }

  /** Cancels a task. Returns its context, or undefined if it is not running. */
  cancel(taskId: string): string | undefined {
    const task = this.#tasks.get(taskId)
    task?.controller.abort('The caller cancelled the task.')
    return task?.contextId
  }
}

/** How many updates are accepted at once, and after how long one more is. */
const PROGRESS_BURST = 20
const PROGRESS_INTERVAL_MS = 1_000

/** Bounds the rate of progress updates: each is stored with the task, and a server may send a thousand in a second. */
export const throttleProgress = (report: (text: string) => void): ((progress: Progress) => void) => {
  let allowed = PROGRESS_BURST
  let counted = Date.now()
  return progress => {
    const passed = Math.floor((Date.now() - counted) / PROGRESS_INTERVAL_MS)
    allowed = Math.min(PROGRESS_BURST, allowed + passed)
    counted += passed * PROGRESS_INTERVAL_MS
    if (allowed <= 0) return
    allowed--
    report(progressText(progress))
  }
}

const MAX_PROGRESS_LENGTH = 1000

/** Returns the server's message and the percentage, or whichever of them it reports. */
const progressText = ({ progress, total, message }: Progress): string => {
  const share = total === undefined || !(total > 0) ? `${progress}` : `${Math.round((100 * progress) / total)} %`
  const text = message?.trim() ?? ''
  if (text === '') return share
  return `${text.slice(0, MAX_PROGRESS_LENGTH).toWellFormed()}${total === undefined ? '' : ` (${share})`}`
}

/** Publishes the events of one task. */
type TaskReporter = {
  publishStatus: (state: keyof typeof TaskState, message?: StatusMessage) => void
  /** Publishes a complete artifact. */
  publishArtifact: (name: string, parts: JsonObject[]) => void
}

const createReporter = (task: { taskId: string; contextId: string }, bus: ExecutionEventBus): TaskReporter => ({
  publishStatus: (state, content) => {
    const message = content && { messageId: crypto.randomUUID(), ...task, role: 'ROLE_AGENT', ...content }
    const status = { state, timestamp: new Date().toISOString(), message }
    bus.publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...task, status })))
  },
  publishArtifact: (name, parts) => {
    const artifact = { artifactId: crypto.randomUUID(), name, parts }
    bus.publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...task, artifact, lastChunk: true })))
  },
})

const reportOutcome = (name: string, outcome: ToolOutcome, { publishStatus, publishArtifact }: TaskReporter): void => {
  const failed = !('result' in outcome) || outcome.result.isError === true
  const parts = failed ? [] : toParts(outcome.result)
  if (parts.length > 0) publishArtifact(name, parts)
  if (failed) publishStatus('TASK_STATE_FAILED', failureMessage(outcome))
  else publishStatus('TASK_STATE_COMPLETED')
}

/** Logs one call of a tool, without anything that a caller or a tool wrote. */
export const logToolCall = (agent: string, outcome: ToolOutcome, milliseconds: number): void => {
  const why = reasonOf(outcome)
  // `npm start` shows errors: these are what the owner has to fix.
  log(why ? 'error' : 'info', 'tool-call', {
    'gen_ai.agent.id': agent,
    'calling_card.outcome': tagOf(outcome),
    ...(why && { 'calling_card.detail': why }),
    'calling_card.duration_ms': milliseconds,
  })
}

const tagOf = (outcome: ToolOutcome): string => {
  if ('result' in outcome) return outcome.result.isError ? 'tool-failed' : 'done'
  if ('refused' in outcome) return 'refused'
  if ('invalid' in outcome) return 'invalid'
  return 'notReady' in outcome ? 'not-ready' : outcome.failure.kind
}

const reasonOf = (outcome: ToolOutcome): string => {
  if ('notReady' in outcome) return outcome.notReady
  return 'failure' in outcome ? (outcome.detail ?? '') : ''
}
