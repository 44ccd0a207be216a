import { TaskArtifactUpdateEvent, type TaskState, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import { AgentEvent, type AgentExecutionEvent } from '@a2a-js/sdk/server'
import type { Progress } from '@modelcontextprotocol/client'
import { logUnexpected } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { MAX_TOOL_ELICITATIONS, TOOL_INPUT_SECONDS } from '../../limits.ts'
import type { Elicitation, ElicitResult } from '../client/index.ts'
import { elicitationMessage, isAskable } from './elicit-result.ts'
import type { CallOptions } from './tool-client.ts'
import { failureMessage, type StatusMessage, type ToolOutcome, textMessage, toParts } from './tool-outcome.ts'

/** The tool that a message calls, with its arguments. */
export type BoundTool = {
  name: string
  call: (options: Pick<CallOptions, 'context' | 'signal' | 'onProgress' | 'onElicitation'>) => Promise<ToolOutcome>
}

/** Publishes the events of one task. */
type TaskReporter = ReturnType<typeof createReporter>

/** Returns a reporter that makes the events of a task, and whose `end` follows the last of them. */
export const createReporter = (
  task: { taskId: string; contextId: string },
  publish: (event: AgentExecutionEvent) => void,
  end: () => void = () => undefined,
) => ({
  publishStatus: (state: keyof typeof TaskState, content?: StatusMessage): void => {
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
  readonly #tool: BoundTool
  readonly #context: RunContext
  #reporter: TaskReporter
  #answered = Promise.withResolvers<void>()
  #open: { elicitation: Elicitation; answer: (answer: ElicitResult) => void } | undefined
  #lastElicitation: Promise<unknown> = Promise.resolve()
  #elicitations = 0

  constructor(tool: BoundTool, context: RunContext) {
    this.#tool = tool
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
    const { context, signal, onEnd } = this.#context
    try {
      const onProgress = throttleProgress(text => {
        if (!signal.aborted && !this.#open) this.#reporter.publishStatus('TASK_STATE_WORKING', textMessage(text))
      })
      const onElicitation: CallOptions['onElicitation'] = (elicitation, withdrawn) => this.#ask(elicitation, withdrawn)
      const outcome = await this.#tool.call({ context, signal, onProgress, onElicitation })
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
    if (parts.length > 0) publishArtifact(this.#tool.name, parts)
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

/** Returns the server's message and the percentage, or whichever of them it reports. */
const progressText = ({ progress, total, message }: Progress): string => {
  const share = total === undefined || !(total > 0) ? `${progress}` : `${Math.round((100 * progress) / total)} %`
  const text = message?.trim() ?? ''
  if (text === '') return share
  return `${text.slice(0, MAX_PROGRESS_LENGTH).toWellFormed()}${total === undefined ? '' : ` (${share})`}`
}
