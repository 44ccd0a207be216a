import { Message, Task } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutionEvent, type AgentExecutor } from '@a2a-js/sdk/server'
import { log, logUnexpected } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_RUNNING_TOOLS } from '../../limits.ts'
import { elicitationMessage, readElicitResult } from './elicit-result.ts'
import { type CallerIdentity, Quota, type QuotaExceeded } from './quotas.ts'
import { quotaMessage, type ToolOutcome } from './tool-outcome.ts'
import { type BoundTool, createReporter, ToolRun } from './tool-run.ts'

/**
 * Creates the executor of one call, which runs a tool as an A2A task and reports its progress. `tool` is absent unless
 * the call is the first message of a task. `store` takes the events of a task while no message of the caller is being
 * answered, and `release` follows the last of them.
 */
export const createToolExecutor = (
  tool: BoundTool | undefined,
  running: RunningTasks,
  identity: CallerIdentity,
  { store, release }: { store: (event: AgentExecutionEvent) => Promise<void>; release: (taskId: string) => void },
): AgentExecutor => ({
  execute: async ({ taskId, contextId, userMessage, task }, bus) => {
    const ids = { taskId, contextId }
    const reporter = createReporter(ids, event => bus.publish(event))
    const status = { state: 'TASK_STATE_WORKING', timestamp: new Date().toISOString() }
    const working = Task.fromJSON({ id: taskId, contextId, status })
    const current = running.find(taskId)
    // Another message has answered the elicitation meanwhile.
    if (current && !current.elicitation) return current.answered
    // Every stream begins with the task.
    bus.publish(AgentEvent.task(task ? { ...task, status: working.status } : { ...working, history: [userMessage] }))
    if (current?.elicitation) {
      const { elicitation } = current
      const read = readElicitResult(Message.toJSON(userMessage) as JsonObject, elicitation)
      // Repeats the elicitation if the message is no answer.
      if ('problem' in read)
        return reporter.publishStatus('TASK_STATE_INPUT_REQUIRED', elicitationMessage(elicitation, read.problem))
      current.resume(read.answer, reporter)
      return current.answered
    }
    if (tool === undefined) throw new Error('This message calls no tool.')
    const begun = running.begin(taskId, contextId, identity)
    if ('exceeded' in begun) return reporter.publishStatus('TASK_STATE_REJECTED', quotaMessage(begun.exceeded))
    // The SDK stores the events of a task only while it answers a message.
    let stored: Promise<unknown> = Promise.resolve()
    const publish = (event: AgentExecutionEvent): void => {
      stored = stored.then(() => store(event)).catch(logUnexpected)
      bus.publish(event)
    }
    const end = async (): Promise<void> => {
      await stored
      bus.finished()
      release(taskId)
    }
    const background = createReporter(ids, publish, () => void end())
    const { signal } = begun.controller
    const onEnd = (): void => running.end(taskId)
    begun.run = new ToolRun(tool, { context: contextId, signal, reporter, background, onEnd })
    void begun.run.start()
    await begun.run.answered
  },
  cancelTask: async (taskId, bus) => {
    const contextId = running.cancel(taskId)
    if (contextId === undefined) return
    createReporter({ taskId, contextId }, event => bus.publish(event)).publishStatus('TASK_STATE_CANCELED')
  },
})

type RunningTask = { contextId: string; controller: AbortController; identity: CallerIdentity; run?: ToolRun }

/** The tasks whose tools are running. */
export class RunningTasks {
  readonly #tasks = new Map<string, RunningTask>()
  readonly #quota = new Quota(MAX_RUNNING_TOOLS)

  get size(): number {
    return this.#tasks.size
  }

  /** Adds a task, to which its run is to be added; or returns the quota that does not allow it. */
  begin(taskId: string, contextId: string, identity: CallerIdentity): RunningTask | { exceeded: QuotaExceeded } {
    const exceeded = this.#quota.acquire(identity)
    if (exceeded) return { exceeded }
    const task: RunningTask = { contextId, controller: new AbortController(), identity }
    this.#tasks.set(taskId, task)
    return task
  }

  find(taskId: string): ToolRun | undefined {
    return this.#tasks.get(taskId)?.run
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

/** Logs one call of a tool, without anything that a caller or a tool wrote. */
export const logToolCall = (agent: string, outcome: ToolOutcome, milliseconds: number): void => {
  const [tag, why = ''] = describeOutcome(outcome)
  // `npm start` shows errors: these are what the owner has to fix.
  log(why ? 'error' : 'info', 'tool-call', {
    'gen_ai.agent.id': agent,
    'calling_card.outcome': tag,
    ...(why && { 'calling_card.detail': why }),
    'calling_card.duration_ms': milliseconds,
  })
}

const describeOutcome = (outcome: ToolOutcome): [tag: string, why?: string | undefined] => {
  if ('result' in outcome) return [outcome.result.isError ? 'tool-failed' : 'done']
  if ('notReady' in outcome) return ['not-ready', outcome.notReady]
  if ('failure' in outcome) return [outcome.failure.kind, outcome.detail]
  return ['refused' in outcome ? 'refused' : 'invalid']
}
