import { type OperationName, type ResultFacts, readResult, specifiedErrors } from '../a2a/index.ts'
import type { Protocol } from '../card/model/index.ts'
import { isJsonObject, isJsonType, type Json, parseJson } from '../json/index.ts'
import type { Answer } from './exchange.ts'

/** An answer in terms of A2A. `summary` describes it without any text of the agent. */
export type Outcome = { summary: string } & (
  | { kind: 'error'; status: number; reason: string | undefined }
  | { kind: 'result'; status: number; facts: readonly ResultFacts[]; isStream: boolean }
  /** The caller's credentials are missing or not accepted. */
  | { kind: 'denied'; status: number }
  | { kind: 'invalid'; status: number }
  | { kind: 'unanswered' | 'rate-limit' | 'passed-gate' }
)

type AnsweredCheck = { protocol: Protocol; operation: OperationName; id: string }

const FAILURES = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  'too-large': 'answered with more than this host reads',
  'not-text': 'answered with bytes that are no UTF-8 text',
  redirect: 'answered with a redirect, which is not followed',
  'rate-limit': 'not sent: the caller is past the rate limit of this host',
  'passed-gate': 'the gate let it pass',
} as const

/** Returns whether a failure is that the agent does not answer. */
export const isUnansweredFailure = (failure: keyof typeof FAILURES): boolean =>
  failure === 'unreachable' || failure === 'timeout'

/** The error of the gate for an agent that does not answer: `unreachable`, `timeout` and the like. */
const INTERNAL_ERROR = -32603

/** Reads an answer as one of A2A. */
export const readOutcome = (answer: Answer, call: AnsweredCheck): Outcome => {
  if ('failed' in answer) {
    const summary = FAILURES[answer.failed]
    if (answer.failed === 'rate-limit' || answer.failed === 'passed-gate') return { kind: answer.failed, summary }
    return isUnansweredFailure(answer.failed)
      ? { kind: 'unanswered', summary }
      : { kind: 'invalid', status: 0, summary }
  }
  const { status, isStream, texts } = answer
  const media = describeType(answer)
  if (status === 401 || status === 403) return { kind: 'denied', status, summary: `HTTP ${status}` }
  if (status === 429) return { kind: 'rate-limit', summary: 'HTTP 429' }
  const invalid = (violation: string): Outcome => {
    return { kind: 'invalid', status, summary: `HTTP ${status}, ${media}: ${violation}` }
  }
  if (!isStream && !isJsonType(answer.type)) return invalid('no JSON')
  const facts: ResultFacts[] = []
  const form = isStream ? 'event' : status >= 400 ? 'error-response' : 'response'
  for (const text of texts) {
    const read = readText(text, form, call)
    if ('fault' in read) return invalid(read.fault)
    if (read.kind === 'error') return readError(read, status, media)
    facts.push(read)
  }
  if (facts.length === 0) return invalid('no event')
  if (status >= 300) return invalid('a result with the status of an error')
  const kinds = [...new Set(facts.map(({ kind }) => kind))].join(', ')
  return { kind: 'result', status, facts, isStream, summary: `${kinds}, ${media}` }
}

const readText = (text: string, form: Parameters<typeof readResult>[2], { protocol, operation, id }: AnsweredCheck) => {
  const parsed = parseJson(text, 'an answer')
  if ('refused' in parsed) return { fault: 'no JSON' }
  const { value } = parsed
  if (protocol.binding === 'JSONRPC' && isJsonObject(value) && value.id !== id)
    return { fault: 'the id of another call' }
  return readResult({ operation, ...protocol }, value, form)
}

/** Reads an error, which HTTP+JSON identifies by a reason, and JSON-RPC by a code. */
const readError = ({ error }: ResultFacts, status: number, media: string): Outcome => {
  const named = specifiedErrors.find(({ reason }) => reason === error?.reason)
  const code = named?.code ?? (error?.code !== undefined && error.code < 0 ? error.code : undefined)
  const reason = specifiedErrors.find(each => each.code === code)?.reason
  const identity = [code, reason].filter(each => each !== undefined).map(each => ` ${each}`)
  const summary = `error${identity.join('')}, HTTP ${status}, ${media}`
  return (status === 502 || status === 504) && (code === undefined || code === INTERNAL_ERROR)
    ? { kind: 'unanswered', summary }
    : { kind: 'error', status, reason: reason ?? code?.toString(), summary }
}

const describeType = ({ type }: { type: string }): string => {
  if (type === '') return 'without a content type'
  return type.length <= 60 && /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'an unusual content type'
}

/** Reads a document of JSON; undefined for any other answer. */
export const readDocument = (answer: Answer): Json | undefined => {
  if ('failed' in answer || answer.status !== 200 || answer.isStream || !isJsonType(answer.type)) return undefined
  const parsed = parseJson(answer.texts[0] ?? '')
  return 'value' in parsed ? parsed.value : undefined
}

/** Describes the answer to a request for a document. */
export const describeDocument = (answer: Answer): string =>
  'failed' in answer
    ? FAILURES[answer.failed]
    : `HTTP ${answer.status}${answer.status === 304 ? '' : `, ${describeType(answer)}`}`
