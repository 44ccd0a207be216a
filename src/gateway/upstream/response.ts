import {
  type CallError,
  type CheckedAnswer,
  type ErrorForm,
  errorText,
  eventText,
  isEventForm,
  jsonTypeOf,
  PASSTHROUGH_STATUSES,
} from '../../a2a/index.ts'
import { extensionsHeaders, versions, type WireVersion } from '../../card/model/start.ts'
import { a2aResponse, CLOUDFLARE_ERRORS, canHaveBody, readText } from '../../http/index.ts'
import { essence, isJsonType } from '../../json/index.ts'
import { HEARTBEAT_SECONDS, MAX_RESPONSE_BYTES } from '../../limits.ts'
import { type AnswerPolicy, checkAnswer, checkEvent, readsAnswers } from './check-answer.ts'
import type { TranslateAnswer, UpstreamCall } from './request.ts'

/** The checks and limits of a response. */
export type AnswerOptions = {
  answers: AnswerPolicy
  /** The maximum size of a response that is not a stream. */
  maxBytes?: number
  /** The limit for the silence of a stream. */
  idleSeconds: number
  heartbeatSeconds?: number
}

/** Checks whether a response of an agent is a stream of events. */
export const isEventStream = ({ ok, status, headers }: Response): boolean =>
  ok && canHaveBody(status) && essence(headers.get('Content-Type')) === 'text/event-stream'

/**
 * Reads a response that is not a stream, and builds the one for the caller: its JSON byte for byte, except for a BOM.
 * JSON may be declared as plain text, which some servers do by default and official clients accept. Rejects responses
 * that are not JSON, too large, or redirects.
 */
export const readUpstreamResponse = async (
  upstream: Response,
  { method, credentials, form, answered, translate }: UpstreamCall,
  { maxBytes = MAX_RESPONSE_BYTES, answers }: AnswerOptions,
): Promise<Response | CallError> => {
  const { status, headers } = upstream
  if (status >= 300 && status < 400) return { kind: 'redirect', status }
  // The caller cannot correct the Worker's own credentials.
  if ('secret' in credentials && (status === 401 || status === 403))
    return { kind: 'misconfigured', detail: `The agent responds with ${status} to the Worker's own credentials.` }
  let invalid: CallError = { kind: 'invalid-response', status }
  const type = headers.get('Content-Type')
  const isDeclared = isJsonType(type)
  const isPlainText = !isDeclared && upstream.ok && essence(type) === 'text/plain'
  const isJson = isDeclared || isPlainText
  // Over HTTP+JSON, the response to a DELETE may be empty.
  const mayBeEmpty = method === 'DELETE'
  if (isJson || mayBeEmpty) {
    const read = await readBody(upstream, maxBytes)
    if ('kind' in read) return read
    const { text } = read
    if (mayBeEmpty && upstream.ok && text === '')
      return translate ? translatedResponse('', upstream, form, translate) : toClientResponse(null, null, upstream)
    if (isJson && canHaveBody(status)) {
      const place = upstream.ok ? 'response' : 'error-response'
      const checked = await checkAnswer(text, { ...answers, call: answered, place, status })
      if (checked === undefined || 'text' in checked) {
        const passed = checked?.text ?? text
        if (isPlainText) answers.onRepair?.(['content-type'], 'response')
        return translate
          ? translatedResponse(passed, upstream, form, translate)
          : toClientResponse(passed, isPlainText ? jsonTypeOf(form) : type, upstream)
      }
      if (checked.kind !== 'invalid-response') return checked
      if (!isPlainText) invalid = checked
    }
  }
  if (status in PASSTHROUGH_STATUSES)
    return toClientResponse(errorText({ kind: 'agent-refused', status }, form), jsonTypeOf(form), upstream)
  const networkError = CLOUDFLARE_ERRORS.get(status)
  return networkError ? { kind: networkError.failed } : invalid
}

/** Relays a stream of events to the caller, and checks each. */
export const relayStream = async (
  response: Response,
  { form, answered, translate }: UpstreamCall,
  { idleSeconds, heartbeatSeconds = HEARTBEAT_SECONDS, answers }: AnswerOptions,
): Promise<Response> => {
  // Loaded on first use, because most calls are not streams.
  const [{ relaySse }, { toErrorEvent }] = await Promise.all([
    import('../../a2a/sse.ts'),
    import('../../a2a/error-response.ts'),
  ])
  const policy = { ...answers, call: answered, place: 'event' as const, status: response.status, stream: {} }
  const watch = {
    idleSeconds,
    heartbeatSeconds,
    lastEvent: (error: CallError) => {
      answers.onStreamError?.(error)
      return toErrorEvent(error, form)
    },
    ...(readsAnswers(answers) && {
      check: (data: string | undefined) => {
        const checked = checkEvent(data, policy)
        if (!translate || data === undefined) return checked
        const toCaller = (passed: CheckedAnswer) => translatedEvent(data, passed, form, translate)
        return checked instanceof Promise ? checked.then(toCaller) : toCaller(checked)
      },
    }),
  }
  const relayed = response.body && relaySse(response.body, watch)
  return toClientResponse(relayed, response.headers.get('Content-Type'), response, translate && form.version)
}

/** Builds the response for another version or binding. An error in place of a stream is an event for clients of 0.3. */
const translatedResponse = (
  text: string,
  upstream: Response,
  form: ErrorForm,
  translate: TranslateAnswer,
): Response | CallError => {
  const translated = translate(text, upstream.ok ? 'response' : 'error-response', upstream.status)
  if ('kind' in translated) return translated
  // Statuses about the caller's credentials or limits are the same in every binding.
  const status = upstream.status in PASSTHROUGH_STATUSES ? upstream.status : translated.status
  const { headers } = upstream
  return isEventForm(form) && status === 200 && translated.isError
    ? toClientResponse(eventText(translated.text), 'text/event-stream', { status, headers }, form.version)
    : toClientResponse(translated.text, jsonTypeOf(form), { status, headers }, form.version)
}

/** Builds the event for a caller of another version or binding. Over HTTP+JSON, only its type marks an error. */
const translatedEvent = (
  data: string,
  checked: CheckedAnswer,
  { binding }: ErrorForm,
  translate: TranslateAnswer,
): CheckedAnswer => {
  if (checked && ('kind' in checked || checked.text === '')) return checked
  const translated = translate(checked?.text ?? data, 'event', 200)
  if ('kind' in translated) return translated
  const { text, isError } = translated
  return { text, eventType: isError && binding === 'HTTP+JSON' ? 'error' : 'message' }
}

const readBody = async (upstream: Response, maxBytes: number): Promise<{ text: string } | CallError> => {
  const { status } = upstream
  try {
    const read = await readText(upstream, maxBytes)
    if (!('failed' in read)) return read
    const isTooLarge = read.failed === 'too-large'
    return isTooLarge ? { kind: 'response-too-large', maxBytes, status } : { kind: 'invalid-response', status }
  } catch (error) {
    return unreachable(error)
  }
}

/** Describes a network error, such as a refused or lost connection. `detail` is for the log. */
export const unreachable = (error: unknown): CallError => ({
  kind: 'unreachable',
  detail: (error instanceof Error ? error.message : String(error)).slice(0, 200),
})

/** The headers of an agent's response that are passed on. */
const PASSED_HEADERS = ['A2A-Version', ...extensionsHeaders, 'Retry-After']

/** Builds the caller's response: the agent's status, an allow-list of its headers, and this host's own. */
export const toClientResponse = (
  body: BodyInit | null,
  type: string | null,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  translatedTo?: WireVersion,
): Response => {
  const response = a2aResponse(body, status)
  if (type === null) response.headers.delete('Content-Type')
  else if (type !== 'application/json') response.headers.set('Content-Type', type)
  for (const name of PASSED_HEADERS) {
    const value = headers.get(name)
    if (value !== null) response.headers.set(name, value)
  }
  if (translatedTo !== undefined) renameHeaders(response.headers, translatedTo)
  const challenges = status === 401 ? headers.get('WWW-Authenticate') : null
  if (challenges !== null) response.headers.set('WWW-Authenticate', sanitizeChallenges(challenges))
  return response
}

/** Each version has a header of its own for extensions. */
const renameHeaders = (headers: Headers, version: WireVersion): void => {
  const extensions = extensionsHeaders.flatMap(name => headers.get(name) ?? [])
  for (const name of extensionsHeaders) headers.delete(name)
  if (extensions.length > 0) headers.set(versions[version].extensionsHeader, extensions.join(', '))
  if (headers.has('A2A-Version')) headers.set('A2A-Version', version)
}

/** The parameters of a challenge that are passed on, and the values that cannot reveal an address. */
const CHALLENGE_PARAMS: ReadonlyMap<string, RegExp> = new Map([
  ['realm', /^[\w -]{1,64}$/],
  ['error', /^[a-z_]{1,64}$/],
  ['scope', /^[\w:. -]{1,256}$/],
  ['charset', /^[\w-]{1,16}$/],
  // Digest (RFC 7616) cannot be answered without these.
  ...['algorithm', 'qop', 'nonce', 'opaque', 'stale'].map((name): [string, RegExp] => [name, /^[\w+/=, -]{1,256}$/]),
])

/** Longer than any real list of challenges, in characters. */
const MAX_CHALLENGES_LENGTH = 2048

/**
 * Rewrites an agent's challenges: keeps the scheme of each, and the parameters that cannot reveal where the agent is.
 * Several header lines arrive as one list (RFC 9110 §11.6.1), in which commas separate challenges and parameters.
 */
const sanitizeChallenges = (header: string): string => {
  const challenges: { scheme: string; params: string[] }[] = []
  for (const [item] of header.slice(0, MAX_CHALLENGES_LENGTH).matchAll(/(?:[^,"]|"(?:[^"\\]|\\.)*"?)+/g)) {
    const [, scheme, name, quoted, token = ''] = challengeItem.exec(item.trim()) ?? []
    if (scheme !== undefined) challenges.push({ scheme, params: [] })
    const value = quoted ?? token
    if (name !== undefined && CHALLENGE_PARAMS.get(name.toLowerCase())?.test(value))
      challenges.at(-1)?.params.push(quoted === undefined ? `${name}=${value}` : `${name}="${value}"`)
  }
  return challenges.map(({ scheme, params }) => `${scheme} ${params.join(', ')}`.trim()).join(', ')
}

/** One item of the list: a scheme, a parameter, or a scheme with its first parameter. */
const challengeItem =
  /^(?:([\w-]{1,32})[\w-]*(?=\s|$)(?!\s*=)\s*)?(?:([a-z]{1,32})\s*=\s*(?:"([^"\\]*)"|([^\s",\\]*)))?/i
