import { type OperationName, type ReadResult, type ResultFacts, readResult, specifiedErrors } from '../a2a/index.ts'
import type { Protocol } from '../card/model/index.ts'
import { isJsonObject, isJsonType, type Json, parseJson } from '../json/index.ts'
import type { Answer } from './exchange.ts'

/** What an answer is in terms of A2A. `words` describe it without any text of the agent. */
export type Outcome = { words: string } & (
  | { kind: 'error'; status: number; code: number | undefined }
  | { kind: 'result'; status: number; facts: readonly ResultFacts[]; isStream: boolean }
  /** The caller's credentials are missing or not accepted. */
  | { kind: 'denied'; status: number }
  | { kind: 'invalid'; status: number }
  | { kind: 'unanswered' | 'rate-limit' | 'passed-gate' }
)

/** A call of a check, as its answer is read. */
export type AnsweredCheck = { protocol: Protocol; operation: OperationName; id: string }

const FAILURES = {
  unreachable: 'could not be reached',
  timeout: 'did not answer in time',
  'too-large': 'answered with more than this host reads',
  'not-text': 'answered with bytes that are no UTF-8 text',
  redirect: 'answered with a redirect, which is not followed',
  'rate-limit': 'not sent: the caller is past the rate limit of this host',
  'passed-gate': 'the gate let it pass',
} as const

/** Whether a failure is that the agent does not answer. */
export const isUnansweredFailure = (failure: keyof typeof FAILURES): boolean =>
  failure === 'unreachable' || failure === 'timeout'

/** The codes of JSON-RPC and A2A by the reasons with which HTTP+JSON has them, and back. */
const codes: ReadonlyMap<string, number> = new Map(specifiedErrors.map(({ reason, code }) => [reason, code]))
const reasons: ReadonlyMap<number, string> = new Map(specifiedErrors.map(({ reason, code }) => [code, reason]))

/** What the gate answers for an agent that does not: `unreachable`, `timeout` and the like. */
const INTERNAL_ERROR = -32603

/** Reads an answer as one of A2A. */
export const readOutcome = (answer: Answer, call: AnsweredCheck): Outcome => {
  if ('failed' in answer) {
    const words = FAILURES[answer.failed]
    if (answer.failed === 'rate-limit' || answer.failed === 'passed-gate') return { kind: answer.failed, words }
    return isUnansweredFailure(answer.failed) ? { kind: 'unanswered', words } : { kind: 'invalid', status: 0, words }
  }
  const { status, isStream, texts } = answer
  const media = mediaOf(answer)
  if (status === 401 || status === 403) return { kind: 'denied', status, words: `HTTP ${status}` }
  if (status === 429) return { kind: 'rate-limit', words: 'HTTP 429' }
  const invalid = (fault: string): Outcome => ({ kind: 'invalid', status, words: `HTTP ${status}, ${media}: ${fault}` })
  if (!isStream && !isJsonType(answer.type)) return invalid('no JSON')
  const facts: ResultFacts[] = []
  for (const text of texts) {
    const read = readText(text, status, isStream, call)
    if ('fault' in read) return invalid(read.fault)
    if (read.kind === 'error') return errorOutcome(read, status, media)
    facts.push(read)
  }
  const [first] = facts
  if (first === undefined) return invalid('no event')
  if (status >= 300) return invalid('a result with the status of an error')
  const kinds = [...new Set(facts.map(({ kind }) => kind))].join(', ')
  return { kind: 'result', status, facts, isStream, words: `${kinds}, ${media}` }
}

const readText = (
  text: string,
  status: number,
  isStream: boolean,
  { protocol, operation, id }: AnsweredCheck,
): ReadResult => {
  const parsed = parseJson(text, 'an answer')
  if ('refused' in parsed) return { fault: 'no JSON' }
  const { value } = parsed
  if (protocol.binding === 'JSONRPC' && isJsonObject(value) && value.id !== id)
    return { fault: 'the id of another call' }
  return readResult(
    { operation, ...protocol },
    value,
    isStream ? 'event' : status >= 400 ? 'error-response' : 'response',
  )
}

const errorOutcome = ({ error }: ResultFacts, status: number, media: string): Outcome => {
  const named = error?.reason === undefined ? undefined : codes.get(error.reason)
  const code = named ?? (error?.code !== undefined && error.code < 0 ? error.code : undefined)
  const reason = code === undefined ? undefined : reasons.get(code)
  const numbered = code === undefined ? '' : ` ${code}${reason === undefined ? '' : ` ${reason}`}`
  const words = `error${numbered}, HTTP ${status}, ${media}`
  if ((status === 502 || status === 504) && (code === undefined || code === INTERNAL_ERROR))
    return { kind: 'unanswered', words }
  return { kind: 'error', status, code, words }
}

const mediaOf = ({ type }: { type: string }): string => {
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
    : `HTTP ${answer.status}${answer.status === 304 ? '' : `, ${mediaOf(answer)}`}`
