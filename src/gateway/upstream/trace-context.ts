import { containsAdminToken } from '../../auth/index.ts'
import type { Variables } from '../../config.ts'
import { endToEndHeader } from '../../http/index.ts'

/** A trace with a span of this host between its caller and the agent (W3C Trace Context). */
export type TraceContext = NonNullable<ReturnType<typeof continueTrace>>

/** Versions above 00 may have more fields. */
const traceparentForm = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** The flags that the specification defines: sampled, and random trace id. Others must be zero. */
const KNOWN_FLAGS = 0x03

/** Continues the trace of a caller with a new span. Returns undefined if `traceparent` is missing or invalid. */
export const continueTrace = (headers: Headers, env: Variables) => {
  const traceparent = endToEndHeader('traceparent', headers) ?? ''
  const [, version, traceId, parentSpanId, flags = '', rest] = traceparentForm.exec(traceparent) ?? []
  if (traceId === undefined || parentSpanId === undefined || (version === '00' && rest !== undefined)) return undefined
  // The log has the ids, and never a token.
  if (containsAdminToken(traceparent, env)) return undefined
  return {
    traceId,
    // The version digit of a UUID keeps the id from being all zeros, which is invalid.
    spanId: crypto.randomUUID().replaceAll('-', '').slice(0, 16),
    /** The span of the caller. */
    parentSpanId,
    /** Two hexadecimal digits. */
    flags: (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0'),
    /** The `tracestate` as it was received. */
    state: endToEndHeader('tracestate', headers) ?? '',
  }
}
