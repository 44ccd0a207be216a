/** What a line of the log is about. docs/observability.md explains each. */
type LogEvent =
  | 'call'
  | 'card-unread'
  | 'check-unanswered'
  | 'extended-card-invalid'
  | 'issuer-keys-ignored'
  | 'issuer-unread'
  | 'jwt-unverifiable'
  | 'kv-read-failed'
  | 'misconfigured'
  | 'observations-lost'
  | 'publication-failed'
  | 'purge-failed'
  | 'refresh-failed'
  | 'refusal-unrecorded'
  | 'registry-unavailable'
  | 'rpc'
  | 'signing-key'
  | 'source-blocked'
  | 'storage-unavailable'
  | 'stream'
  | 'task-owners-unavailable'
  | 'tool-call'
  | 'unexpected'
  | 'webhook-changes-lost'
  | 'webhook-failed'

/**
 * The fields of a line. Those of `calling_card` are this host's own; the others are OpenTelemetry's semantic conventions, some of which
 * are in development. docs/observability.md explains each.
 */
type LogFields = {
  'a2a.method.name'?: string
  'a2a.protocol.version'?: string
  'calling_card.binding'?: string
  'calling_card.caller'?: string
  'calling_card.detail'?: string
  'calling_card.duration_ms'?: number
  'calling_card.issuer'?: string
  'calling_card.key'?: string
  'calling_card.outcome'?: string
  'calling_card.pointer'?: string
  'calling_card.upstream.status_code'?: number
  'calling_card.warnings'?: string
  'error.type'?: string
  'exception.message'?: string
  'exception.stacktrace'?: string
  'gen_ai.agent.id'?: string
  'http.response.status_code'?: number
  parent_span_id?: string
  'rpc.method'?: string
  'server.address'?: string
  'server.port'?: number
  span_id?: string
  trace_flags?: string
  trace_id?: string
}

/** Writes one structured line to the Worker's log. Fields never contain a token, a body or the value of a header. */
export const log = (level: 'info' | 'warn' | 'error', event: LogEvent, fields: LogFields): void =>
  console[level](JSON.stringify({ event, ...fields }))
