import { Task } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutor, type ExecutionEventBus, type RequestContext } from '@a2a-js/sdk/server'
import type { RunningTasks } from './open-tasks.ts'
import { failureWords, said, tooMany } from './outcome-words.ts'
import { progressUpdates } from './progress-updates.ts'
import { partsOf } from './result-parts.ts'
import type { Outcome } from './results.ts'
import type { Principal } from './shares.ts'
import { now, type TaskReporter, tellingOf } from './telling.ts'
import type { ToolTerms } from './tool-client.ts'

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
