import { Message, Task, TaskArtifactUpdateEvent, type TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutionEvent, type AgentExecutor } from '@a2a-js/sdk/server'
import type { Progress } from '@modelcontextprotocol/client'
import { log, logUnexpected } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_RUNNING_TOOLS, MAX_TOOL_ELICITATIONS, TOOL_INPUT_SECONDS } from '../../limits.ts'
import type { Elicitation, ElicitResult } from '../client/index.ts'
import { elicitationMessage, isAskable, readElicitResult } from './elicit-result.ts'
import { type CallerIdentity, Quota, type QuotaExceeded } from './quotas.ts'
import type { CallOptions } from './tool-client.ts'
import { failureMessage, quotaMessage, type ToolOutcome, textMessage, toParts } from './tool-outcome.ts'

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
    const onEnd = (): void => running.end(taskId)
    begun.run = new ToolRun({ tool, context: contextId, signal: begun.controller.signal, reporter, background, onEnd })
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

/** The tool that a message calls, with its arguments. */
export type BoundTool = {
  name: string
  call: (options: Pick<CallOptions, 'context' | 'signal' | 'onProgress' | 'onElicitation'>) => Promise<ToolOutcome>
}

type TaskReporter = ReturnType<typeof createReporter>

/** Returns a reporter that makes the events of a task, and whose `end` follows the last of them. */
const createReporter = (
  task: { taskId: string; contextId: string },
  publish: (event: AgentExecutionEvent) => void,
  end: () => void = () => undefined,
) => ({
  publishStatus: (state: keyof typeof TaskState, content?: ReturnType<typeof textMessage>): void => {
    const message = content && { messageId: crypto.randomUUID(), ...task, role: 'ROLE_AGENT', ...content }
    const status = { state, timestamp: new Date().toISOString(), message }
    publish(AgentEvent.statusUpdate(TaskStatusUpdateEvent.fromJSON({ ...task, status })))
  },
  /** Publishes a complete artifact. */
  publishArtifact: (name: string, parts: JsonObject[]): void => {
    const artifact = { artifactId: crypto.randomUUID(), name, parts }
    publish(AgentEvent.artifactUpdate(TaskArtifactUpdateEvent.fromJSON({ ...task, artifact, lastChunk: true })))
  },
  end,
})

type RunContext = {
  tool: BoundTool
  /** The id of the A2A context. */
  context: string
  /** Aborted when the task is canceled. */
  signal: AbortSignal
  /** For the events while a message of the caller is being answered. */
  reporter: TaskReporter
  /** For the events while an elicitation waits for the caller's answer. */
  background: TaskReporter
  onEnd: () => void
}

/** A tool that runs for a task, from the first message of the task to its end, with the elicitations in between. */
export class ToolRun {
  readonly #context: RunContext
  #reporter: TaskReporter
  #answered = Promise.withResolvers<void>()
  #open: { elicitation: Elicitation; answer: (answer: ElicitResult) => void } | undefined
  #lastElicitation: Promise<unknown> = Promise.resolve()
  #elicitations = 0

  constructor(context: RunContext) {
    this.#context = context
    this.#reporter = context.reporter
  }

  /** The elicitation that the caller has to answer. */
  get elicitation(): Elicitation | undefined {
    return this.#open?.elicitation
  }

  /** Resolves when the message of the caller is answered: the tool has ended, or elicits something. */
  get answered(): Promise<void> {
    return this.#answered.promise
  }

  /** Runs the tool to its end. Never rejects. */
  async start(): Promise<void> {
    const { tool, context, signal, onEnd } = this.#context
    try {
      const onProgress = throttleProgress(text => {
        if (!signal.aborted && !this.#open) this.#reporter.publishStatus('TASK_STATE_WORKING', textMessage(text))
      })
      const onElicitation: CallOptions['onElicitation'] = (elicitation, withdrawn) => this.#ask(elicitation, withdrawn)
      const outcome = await tool.call({ context, signal, onProgress, onElicitation })
      if (!signal.aborted) this.#report(outcome)
    } catch (error) {
      // The SDK would send the error's message to the caller.
      logUnexpected(error)
      this.#reporter.publishStatus('TASK_STATE_FAILED', textMessage('An internal error of this host stopped the call.'))
    } finally {
      this.#close({ action: 'cancel' })
      onEnd()
      this.#reporter.end()
      this.#answered.resolve()
    }
  }

  /** Answers the elicitation. The events that follow go to `reporter`. */
  resume(answer: ElicitResult, reporter: TaskReporter): void {
    this.#reporter = reporter
    this.#answered = Promise.withResolvers()
    this.#close(answer)
  }

  #report(outcome: ToolOutcome): void {
    const { publishStatus, publishArtifact } = this.#reporter
    const failed = !('result' in outcome) || outcome.result.isError === true
    const parts = failed ? [] : toParts(outcome.result)
    if (parts.length > 0) publishArtifact(this.#context.tool.name, parts)
    if (failed) publishStatus('TASK_STATE_FAILED', failureMessage(outcome))
    else publishStatus('TASK_STATE_COMPLETED')
  }

  #close(answer: ElicitResult): void {
    const open = this.#open
    this.#open = undefined
    open?.answer(answer)
  }

  /** Passes an elicitation to the caller once those before are answered. */
  #ask(elicitation: Elicitation, withdrawn: AbortSignal): Promise<ElicitResult> {
    if (++this.#elicitations > MAX_TOOL_ELICITATIONS) return Promise.resolve({ action: 'cancel' })
    const answer = this.#lastElicitation.then(() => this.#askNow(elicitation, withdrawn))
    this.#lastElicitation = answer
    return answer
  }

  async #askNow(elicitation: Elicitation, withdrawn: AbortSignal): Promise<ElicitResult> {
    const { signal, background } = this.#context
    const ended = AbortSignal.any([signal, withdrawn])
    if (ended.aborted || !isAskable(elicitation)) return { action: 'cancel' }
    const { promise, resolve } = Promise.withResolvers<ElicitResult | undefined>()
    const expire = (): void => resolve(undefined)
    const timer = setTimeout(expire, TOOL_INPUT_SECONDS * 1000)
    ended.addEventListener('abort', expire)
    this.#open = { elicitation, answer: resolve }
    this.#reporter.publishStatus('TASK_STATE_INPUT_REQUIRED', elicitationMessage(elicitation))
    this.#reporter = background
    this.#answered.resolve()
    const answer = await promise
    clearTimeout(timer)
    if (answer) return answer
    this.#open = undefined
    if (!signal.aborted)
      this.#reporter.publishStatus('TASK_STATE_WORKING', textMessage('The question is no longer open.'))
    return { action: 'cancel' }
  }
}

/** The updates that are accepted at once, and the time after which one more is. */
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

const progressText = ({ progress, total, message }: Progress): string => {
  const share = total === undefined || !(total > 0) ? `${progress}` : `${Math.round((100 * progress) / total)} %`
  const text = message?.trim() ?? ''
  if (text === '') return share
  return `${text.slice(0, MAX_PROGRESS_LENGTH).toWellFormed()}${total === undefined ? '' : ` (${share})`}`
}
