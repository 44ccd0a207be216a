import type { A2ACall, CallError, CheckedAnswer, ErrorForm } from '../../a2a/index.ts'
import {
  errorText,
  eventText,
  isEventForm,
  jsonTypeOf,
  PASSTHROUGH_STATUSES,
  relaySse,
  toErrorEvent,
} from '../../a2a/index.ts'
import { extensionsHeaders, versions, type WireVersion } from '../../card/model/index.ts'
import type { BodyText } from '../../http/index.ts'
import { a2aResponse, CLOUDFLARE_ERRORS, canHaveBody, readText, sanitizeChallenges } from '../../http/index.ts'
import { essence, isJsonType } from '../../json/index.ts'
import { HEARTBEAT_SECONDS, MAX_RESPONSE_BYTES } from '../../limits.ts'
import type { TranslateAnswer } from '../upstream/index.ts'
import type { ResponseCheck } from './response-check.ts'

/** How the response to a call is read and written. */
export type ResponseOptions = {
  /** The call as its caller made it: errors are in its form. */
  form: A2ACall
  check: ResponseCheck
  /** Translates what the agent responds, if its version or binding is not the caller's. */
  translate: TranslateAnswer | undefined
  /** Whether the Worker's own secret was sent. */
  hasSecret: boolean
  /** The limit for the silence of a stream. */
  idleSeconds: number
  heartbeatSeconds?: number
  /** The maximum size of a response that is not a stream. */
  maxBytes?: number
}

/** Checks whether a response of an agent is a stream of events. */
export const isEventStream = ({ ok, status, headers }: Response): boolean =>
  ok && canHaveBody(status) && essence(headers.get('Content-Type')) === 'text/event-stream'

type Responding = Response | CallError | Promise<Response | CallError>

/**
 * Reads a response that is not a stream, and builds the one for the caller: its JSON byte for byte, except for a BOM.
 * JSON may be declared as plain text, which some servers do by default and official clients accept. Rejects responses
 * that are not JSON, too large, or redirects.
 */
export const readUpstreamResponse = (upstream: Response, method: string, options: ResponseOptions): Responding => {
  const { form, check, translate, hasSecret, maxBytes = MAX_RESPONSE_BYTES } = options
  const { ok, status, headers } = upstream
  const received = { ok, status, headers }
  const type = headers.get('Content-Type')
  const isDeclared = isJsonType(type)
  const isPlainText = !isDeclared && ok && essence(type) === 'text/plain'
  const isJson = isDeclared || isPlainText
  // Over HTTP+JSON, the response to a DELETE may be empty.
  const mayBeEmpty = method === 'DELETE'
  const passOn = (text: string | null) => {
    if (translate) return translatedResponse(text ?? '', received, form, translate)
    return toClientResponse(text, text === null ? null : isPlainText ? jsonTypeOf(form) : type, received)
  }
  const replace = (invalid: CallError = { kind: 'invalid-response', status }) => {
    if (status in PASSTHROUGH_STATUSES)
      return toClientResponse(errorText({ kind: 'agent-refused', status }, form), jsonTypeOf(form), received)
    const networkError = CLOUDFLARE_ERRORS.get(status)
    return networkError ? { kind: networkError.failed } : invalid
  }
  const respond = (text: string, checked: CheckedAnswer) => {
    if (checked && 'kind' in checked)
      return checked.kind === 'invalid-response' ? replace(isPlainText ? undefined : checked) : checked
    if (isPlainText) check.reportRepairs(['content-type'], 'response')
    return passOn(checked?.text ?? text)
  }
  const handleBody = (read: BodyText): Responding => {
    if ('failed' in read)
      return read.failed === 'too-large'
        ? { kind: 'response-too-large', maxBytes, status }
        : { kind: 'invalid-response', status }
    const { text } = read
    if (mayBeEmpty && ok && text === '') return passOn(null)
    if (!isJson || !canHaveBody(status)) return replace()
    const checking = check.check(text, ok ? 'response' : 'error-response', status)
    return checking instanceof Promise ? checking.then(checked => respond(text, checked)) : respond(text, checking)
  }
  const isRedirect = status >= 300 && status < 400
  // The caller cannot correct the Worker's own credentials.
  const isOwnFault = hasSecret && (status === 401 || status === 403)
  if ((isJson || mayBeEmpty) && !isRedirect && !isOwnFault)
    return readText(upstream, maxBytes, headers).then(handleBody, unreachable)
  upstream.body?.cancel().catch(() => undefined)
  if (isRedirect) return { kind: 'redirect', status }
  return isOwnFault
    ? { kind: 'misconfigured', detail: `The agent responds with ${status} to the Worker's own credentials.` }
    : replace()
}

/** Relays a stream of events to the caller, and checks each. */
export const relayStream = (response: Response, options: ResponseOptions): Response => {
  const { form, check, translate, idleSeconds, heartbeatSeconds = HEARTBEAT_SECONDS } = options
  const { status, headers } = response
  const watch = {
    idleSeconds,
    heartbeatSeconds,
    lastEvent: (error: CallError) => {
      check.endStream(error)
      return toErrorEvent(error, form)
    },
    ...(check.reads && {
      check: (data: string | undefined) => {
        const checked = check.checkEvent(data, status)
        if (!translate || data === undefined) return checked
        const toCaller = (passed: CheckedAnswer) => translatedEvent(data, passed, form, translate)
        return checked instanceof Promise ? checked.then(toCaller) : toCaller(checked)
      },
    }),
  }
  const relayed = response.body && relaySse(response.body, watch)
  return toClientResponse(relayed, headers.get('Content-Type'), response, translate && form.version)
}

/** Builds the response for another version or binding. An error in place of a stream is an event for clients of 0.3. */
const translatedResponse = (
  text: string,
  received: Pick<Response, 'ok' | 'status' | 'headers'>,
  form: ErrorForm,
  translate: TranslateAnswer,
): Response | CallError => {
  const { headers } = received
  const translated = translate(text, received.ok ? 'response' : 'error-response', received.status)
  if ('kind' in translated) return translated
  // Statuses about the caller's credentials or limits are the same in every binding.
  const status = received.status in PASSTHROUGH_STATUSES ? received.status : translated.status
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
  const response = a2aResponse(body, status, type === null ? {} : { 'Content-Type': type })
  if (type === null) response.headers.delete('Content-Type')
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
