import type { ElicitRequest } from '@modelcontextprotocol/client'
import type { JsonObject } from '../json/json.ts'

/** A question that a server asks while a tool runs (elicitation). It asks for data of a schema, or to open a URL. */
export type Question = { message: string; schema: JsonObject } | { message: string; url: string }

/** The answer to a question: data that its schema allows, or why there is none. */
export type Answer = { action: 'accept'; content?: AnswerData } | { action: 'decline' | 'cancel' }

/** The members of an answer. MCP allows no deeper values. */
type AnswerData = Record<string, string | number | boolean | string[]>

/** Passes a question to the caller of a tool. The signal tells that the server no longer waits for the answer. */
export type OnQuestion = (question: Question, signal: AbortSignal) => Promise<Answer>

/**
 * Which questions a session passes on to the caller of a running tool: those of any call, where all calls are of one caller, or only
 * those that are certain to be of the one call that runs.
 */
export type QuestionPolicy = 'any' | 'only-call'

/** Aborts a call that is silent for too long, unless it waits for an answer of the caller. */
export class SilenceTimer {
  readonly #controller = new AbortController()
  readonly #timeoutMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #questions = 0
  #hasEnded = false

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
    this.restart()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Begins to count again. */
  restart(): void {
    this.#stop()
    if (this.#hasEnded || this.#questions > 0) return
    this.#timer = setTimeout(() => this.#controller.abort('The tool was silent for too long.'), this.#timeoutMs)
  }

  /** Does not count until an answer has come. */
  async pause<Result>(answer: Promise<Result>): Promise<Result> {
    this.#questions++
    this.#stop()
    try {
      return await answer
    } finally {
      this.#questions--
      this.restart()
    }
  }

  end(): void {
    this.#hasEnded = true
    this.#stop()
  }

  #stop(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
  }
}

/** The calls of tools that run in one session, with those who answer the questions of each. */
export class RunningCalls {
  #policy: QuestionPolicy | undefined
  readonly #calls = new Set<{ timer: SilenceTimer; onQuestion: OnQuestion }>()

  /** Without a policy, nobody answers. */
  constructor(policy: QuestionPolicy | undefined) {
    this.#policy = policy
  }

  /** Answers no more questions: several callers use the session. */
  declineQuestions(): void {
    this.#policy = undefined
  }

  /** Adds a call. Returns the function that removes it. */
  add(timer: SilenceTimer, onQuestion: OnQuestion): () => void {
    const call = { timer, onQuestion }
    this.#calls.add(call)
    return () => this.#calls.delete(call)
  }

  /**
   * Passes a question on to the call that began last. A server does not say which of its running tools asks; the answer reaches the
   * right one in any case.
   */
  async ask(params: ElicitRequest['params'], signal: AbortSignal): Promise<Answer> {
    const call = [...this.#calls].at(-1)
    const isAmbiguous = this.#policy !== 'any' && this.#calls.size > 1
    if (call === undefined || this.#policy === undefined || isAmbiguous) return { action: 'cancel' }
    return call.timer.pause(call.onQuestion(toQuestion(params), signal))
  }
}

const toQuestion = (params: ElicitRequest['params']): Question =>
  params.mode === 'url'
    ? { message: params.message, url: params.url }
    : { message: params.message, schema: JSON.parse(JSON.stringify(params.requestedSchema)) }
