import type { CallToolRequest, CallToolResult, ElicitRequest } from '@modelcontextprotocol/client'
import * as v from 'valibot'
import { isJsonObject, type JsonObject } from '../../json/index.ts'
import type { McpError } from './mcp-error.ts'

/** An elicitation: a server requests data of a schema from its user while a tool runs, or to open a URL. */
export type Elicitation = { message: string; requestedSchema: JsonObject } | { message: string; url: string }

/** The result of an elicitation: data that its schema allows, or the reason why the caller gave no data. */
export type ElicitResult =
  | { action: 'accept'; content?: Record<string, string | number | boolean | string[]> }
  | { action: 'decline' | 'cancel' }

/** Passes an elicitation to the caller of a tool. Aborts the signal when the server no longer waits for the result. */
export type OnElicitation = (elicitation: Elicitation, signal: AbortSignal) => Promise<ElicitResult>

/**
 * The elicitations that a session passes on to the caller of a running tool: those of any call, if all calls are of one
 * caller, or only those of the one call that runs. `none` is for a session without calls, in which the server lists its
 * tools that elicit.
 */
export type ElicitationPolicy = 'any' | 'only-call' | 'none'

/** Creates a timer that aborts a call that is silent for too long, unless it waits for an answer of the caller. */
export const createSilenceTimer = (timeoutMs: number) => {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | null = null
  let elicitations = 0
  let hasEnded = false
  const restart = (): void => {
    clearTimeout(timer)
    if (hasEnded || elicitations > 0) return
    timer = setTimeout(() => controller.abort('The tool was silent for too long.'), timeoutMs)
  }
  restart()
  return {
    signal: controller.signal,
    restart,
    /** Does not count until there is an answer. */
    pause: async <Result>(answer: Promise<Result>): Promise<Result> => {
      elicitations++
      clearTimeout(timer)
      try {
        return await answer
      } finally {
        elicitations--
        restart()
      }
    },
    end: (): void => {
      hasEnded = true
      clearTimeout(timer)
    },
  }
}

type RunningCall = { silence: ReturnType<typeof createSilenceTimer>; onElicitation: OnElicitation }

/** The calls of tools that run in one session, and the function that passes on the elicitations of each. */
export class RunningCalls {
  /** The elicitations that are passed on: without a policy, none. */
  policy: ElicitationPolicy | undefined
  readonly #calls = new Set<RunningCall>()

  constructor(policy: ElicitationPolicy | undefined) {
    this.policy = policy
  }

  /** Adds a call, and times its silence until it is removed. */
  add(timeoutMs: number, onElicitation: OnElicitation): RunningCall {
    const call = { silence: createSilenceTimer(timeoutMs), onElicitation }
    this.#calls.add(call)
    return call
  }

  remove(call: RunningCall): void {
    this.#calls.delete(call)
    call.silence.end()
  }

  /** Passes an elicitation on to the call that began last: a server does not name the tool that elicits. */
  async ask(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult> {
    const call = [...this.#calls].at(-1)
    const isAmbiguous = this.policy !== 'any' && this.#calls.size > 1
    if (call === undefined || this.policy === undefined || isAmbiguous) return { action: 'cancel' }
    return call.silence.pause(call.onElicitation(toElicitation(params), signal))
  }
}

/** The result of MCP 2026-07-28 with which a server requests what it needs to know before it can go on. */
const InputRequired = v.object({
  resultType: v.literal('input_required'),
  inputRequests: v.optional(v.record(v.string(), v.looseObject({ method: v.string() })), {}),
  requestState: v.optional(v.string()),
})
const ElicitationRequest = v.object({
  method: v.literal('elicitation/create'),
  params: v.union([
    v.object({ mode: v.literal('url'), message: v.string(), url: v.string() }),
    v.object({ message: v.string(), requestedSchema: v.custom<JsonObject>(isJsonObject) }),
  ]),
})

type Ask = (elicitation: Elicitation) => Promise<ElicitResult>

/** Passes on all elicitations of a result. Returns undefined if it requires something else, such as sampling. */
const elicitAll = async (requests: object, ask: Ask): Promise<Record<string, ElicitResult> | undefined> => {
  const answers: Record<string, ElicitResult> = {}
  for (const [key, request] of Object.entries(requests)) {
    const { output, success } = v.safeParse(ElicitationRequest, request)
    if (!success) return undefined
    answers[key] = await ask(toElicitation(output.params))
  }
  return answers
}

/** The limit of requests for input, and the wait before a call that a tool only wants to have repeated. */
const MAX_INPUT_ROUNDS = 10
const RECALL_MS = 250

/** Calls a tool, and again with the answers whenever its result has elicitations (MCP 2026-07-28). */
export const callWithElicitation = async (
  params: CallToolRequest['params'],
  call: (params: CallToolRequest['params']) => Promise<CallToolResult>,
  ask: Ask,
): Promise<{ result: CallToolResult } | { failure: McpError }> => {
  let more: object = {}
  for (let round = 0; ; round++) {
    const result = await call({ ...params, ...more })
    const { output, success } = v.safeParse(InputRequired, result)
    if (!success) return { result }
    if (round === MAX_INPUT_ROUNDS) return declined('asked for input too many times')
    const { inputRequests, requestState } = output
    const inputResponses = await elicitAll(inputRequests, ask)
    if (inputResponses === undefined) return declined(UNSUPPORTED_INPUT)
    const isAnswered = Object.keys(inputResponses).length > 0
    if (!isAnswered) await new Promise(resolve => setTimeout(resolve, RECALL_MS))
    more = { ...(isAnswered && { inputResponses }), ...(requestState !== undefined && { requestState }) }
  }
}

const UNSUPPORTED_INPUT =
  'needs a language model or other services of its client (sampling, roots), which this host declines'

const declined = (why: string): { failure: McpError } => ({
  failure: { code: 'refused', message: `The tool ${why}.` },
})

const toElicitation = (params: { message: string; url: string } | { message: string; requestedSchema: object }) =>
  'url' in params
    ? { message: params.message, url: params.url }
    : { message: params.message, requestedSchema: JSON.parse(JSON.stringify(params.requestedSchema)) }
