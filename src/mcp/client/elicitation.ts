import type { CallToolRequest, CallToolResult, ElicitRequest } from '@modelcontextprotocol/client'
import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../json/index.ts'
import { inputDeclined, type McpError, tooManyElicitations } from './errors.ts'

/** An elicitation: what a server requests of its user while a tool runs. It is data of a schema, or to open a URL. */
export type Elicitation = { message: string; requestedSchema: JsonObject } | { message: string; url: string }

/** The result of an elicitation: data that its schema allows, or the reason why the caller gave no data. */
export type ElicitResult = { action: 'accept'; content?: ElicitContent } | { action: 'decline' | 'cancel' }

/** The members of an answer. MCP allows no deeper values. */
type ElicitContent = Record<string, string | number | boolean | string[]>

/** Passes an elicitation to the caller of a tool. The signal is aborted when the server no longer waits for the result. */
export type OnElicitation = (elicitation: Elicitation, signal: AbortSignal) => Promise<ElicitResult>

/**
 * Which elicitations a session passes on to the caller of a running tool: those of any call, where all calls are of one caller, or only
 * those that are certain to be of the one call that runs. `none` is for a session without calls, in which the server is to offer its
 * tools that ask.
 */
export type ElicitationPolicy = 'any' | 'only-call' | 'none'

/** Aborts a call that is silent for too long, unless it waits for an answer of the caller. */
export class SilenceTimer {
  readonly #controller = new AbortController()
  readonly #timeoutMs: number
  #timer: ReturnType<typeof setTimeout> | undefined
  #elicitations = 0
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
    if (this.#hasEnded || this.#elicitations > 0) return
    this.#timer = setTimeout(() => this.#controller.abort('The tool was silent for too long.'), this.#timeoutMs)
  }

  /** Does not count until there is an answer. */
  async pause<Result>(answer: Promise<Result>): Promise<Result> {
    this.#elicitations++
    this.#stop()
    try {
      return await answer
    } finally {
      this.#elicitations--
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

/** The calls of tools that run in one session, and the function that passes on the elicitations of each. */
export class RunningCalls {
  #policy: ElicitationPolicy | undefined
  readonly #calls = new Set<{ timer: SilenceTimer; onElicitation: OnElicitation }>()

  /** Without a policy, nobody answers. */
  constructor(policy: ElicitationPolicy | undefined) {
    this.#policy = policy
  }

  /** Passes on no more elicitations: several callers use the session. */
  declineElicitations(): void {
    this.#policy = undefined
  }

  /** Adds a call. Returns the function that removes it. */
  add(timer: SilenceTimer, onElicitation: OnElicitation): () => void {
    const call = { timer, onElicitation }
    this.#calls.add(call)
    return () => this.#calls.delete(call)
  }

  /**
   * Passes an elicitation on to the call that began last. A server does not name the tool that elicits; the result reaches the
   * right one in any case.
   */
  async ask(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const call = [...this.#calls].at(-1)
    const isAmbiguous = this.#policy !== 'any' && this.#calls.size > 1
    if (call === undefined || this.#policy === undefined || isAmbiguous) return { action: 'cancel' }
    return call.timer.pause(call.onElicitation(toElicitation(params), signal))
  }
}

/** What a server of MCP 2026-07-28 returns in place of a result: what it needs to know before it can go on. */
type InputRequired = v.InferOutput<typeof InputRequired>
const schema = v.custom<JsonObject>(isJsonObject)
const InputRequired = v.object({
  resultType: v.literal('input_required'),
  inputRequests: v.optional(v.record(v.string(), v.looseObject({ method: v.string() })), {}),
  requestState: v.optional(v.string()),
})
const ElicitationRequest = v.union([
  v.object({ params: v.object({ mode: v.literal('url'), message: v.string(), url: v.string() }) }),
  v.object({ params: v.object({ message: v.string(), requestedSchema: schema }) }),
])

/** Returns the input that a result requires; undefined for a result that requires none. */
const readInputRequired = (result: unknown): InputRequired | undefined => {
  const { output, success } = v.safeParse(InputRequired, result)
  return success ? output : undefined
}

/** Passes on all elicitations of a result. Returns undefined if it requires something else, such as sampling. */
const elicitAll = async (
  { inputRequests }: InputRequired,
  ask: (elicitation: Elicitation) => Promise<ElicitResult>,
): Promise<Record<string, ElicitResult> | undefined> => {
  const answers: Record<string, ElicitResult> = {}
  for (const [key, request] of Object.entries(inputRequests)) {
    const { output, success } = v.safeParse(ElicitationRequest, request)
    if (request.method !== 'elicitation/create' || !success) return undefined
    const { params } = output
    answers[key] = await ask(
      'url' in params
        ? { message: params.message, url: params.url }
        : { message: params.message, requestedSchema: params.requestedSchema },
    )
  }
  return answers
}

/** How often a tool may ask for input, and how long to wait where it only wants to be called again. */
const MAX_INPUT_ROUNDS = 10
const RECALL_MS = 250

/** Calls a tool, and again with the answers whenever its result has elicitations (MCP 2026-07-28). */
export const callWithElicitation = async (
  params: CallToolRequest['params'],
  call: (params: CallToolRequest['params']) => Promise<CallToolResult>,
  ask: (elicitation: Elicitation) => Promise<ElicitResult>,
): Promise<{ result: CallToolResult } | { failure: McpError }> => {
  let more: object = {}
  for (let round = 0; ; round++) {
    const result = await call({ ...params, ...more })
    const required = readInputRequired(result)
    if (required === undefined) return { result }
    if (round === MAX_INPUT_ROUNDS) return { failure: tooManyElicitations }
    const inputResponses = await elicitAll(required, ask)
    if (inputResponses === undefined) return { failure: inputDeclined }
    const { requestState } = required
    const isAnswered = Object.keys(inputResponses).length > 0
    if (!isAnswered) await new Promise(resolve => setTimeout(resolve, RECALL_MS))
    more = { ...(isAnswered && { inputResponses }), ...(requestState !== undefined && { requestState }) }
  }
}

const toElicitation = (params: ElicitRequest['params']): Elicitation =>
  params.mode === 'url'
    ? { message: params.message, url: params.url }
    : { message: params.message, requestedSchema: JSON.parse(JSON.stringify(params.requestedSchema)) }
