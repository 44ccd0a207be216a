import type { CallBinding, WireVersion } from '../card/model/calls.ts'
import type { Json, JsonObject } from '../json/json.ts'
import { refusals } from './errors.ts'
import { failures } from './failures.ts'
import type { ErrorSpec, Facts } from './problem.ts'
import type { Failure, Refusal } from './verdict.ts'

/** A JSON-RPC error object. */
export type RpcError = { code: number; message: string; data?: JsonObject | JsonObject[] }

/** The reasons that A2A v1.0 itself names; the others are this host's. */
const a2aReasons: ReadonlySet<string> = new Set([
  'PUSH_NOTIFICATION_NOT_SUPPORTED',
  'UNSUPPORTED_OPERATION',
  'CONTENT_TYPE_NOT_SUPPORTED',
  'INVALID_AGENT_RESPONSE',
  'EXTENDED_AGENT_CARD_NOT_CONFIGURED',
  'EXTENSION_SUPPORT_REQUIRED',
  'VERSION_NOT_SUPPORTED',
  'INVALID_PARAMS',
])

/** The names that google.rpc.Code gives what HTTP has numbers for. */
const rpcStatuses: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  508: 'ABORTED',
}

/** Callers' own text comes back in errors: enough of it to know it by. */
const longestText = 200
const longestList = 50

/** The JSON-RPC error of what stopped a call, in the form of a version. */
export const toJsonRpcError = (problem: Refusal | Failure, version: WireVersion): RpcError => {
  const { code } = entryOf(problem)
  const told = telling(problem)
  return { code, message: told.message, data: version === '1.0' ? detailsOf(told) : factsOf(told) }
}

/** The body of an HTTP+JSON error: v1.0's is google.rpc.Status; v0.3's is the bare JSON-RPC error. */
export const toRestError = (problem: Refusal | Failure, version: WireVersion): JsonObject => {
  if (version === '0.3') return { ...toJsonRpcError(problem, version) }
  const code = httpStatus(problem, 'HTTP+JSON')
  const status = entryOf(problem).precondition ? 'FAILED_PRECONDITION' : (rpcStatuses[code] ?? 'INVALID_ARGUMENT')
  const told = telling(problem)
  return { error: { code, status, message: told.message, details: detailsOf(told) } }
}

/** The HTTP status: over JSON-RPC, 200 for the errors of a well-formed call (protocol.md). */
export const httpStatus = (problem: Refusal | Failure, binding: CallBinding): number => {
  const { status, restStatus = 400, malformed } = entryOf(problem)
  if (typeof status === 'function') return status(problem as never)
  return status ?? (malformed || binding === 'HTTP+JSON' ? restStatus : 200)
}

const entryOf = (problem: Refusal | Failure): ErrorSpec<never> =>
  'refused' in problem ? refusals[problem.refused] : failures[problem.failed]

/** What is said of a problem. */
type Told = { reason: string; message: string; facts: Facts; violations: JsonObject }

/** The tables are typed by tag, so that each entry has its own facts; TypeScript cannot follow a tag to its entry. */
const telling = (problem: Refusal | Failure): Told => {
  const { reason, say, facts } = entryOf(problem)
  const shown = bounded(problem) as never
  return { reason, message: say(shown), facts: facts?.(shown) ?? {}, violations: violationsOf(problem) }
}

const factsOf = ({ reason, facts, violations }: Told): JsonObject => ({ reason, ...copied(facts), ...violations })

const violationsOf = (problem: Refusal | Failure): JsonObject =>
  'refused' in problem && problem.refused === 'invalid-params'
    ? {
        fieldViolations: problem.violations
          .slice(0, longestList)
          .map(({ field, description }) => ({ field: shortened(field), description: shortened(description) })),
      }
    : {}

const copied = (facts: Facts): JsonObject =>
  Object.fromEntries(Object.entries(facts).map(([name, fact]) => [name, typeof fact === 'object' ? [...fact] : fact]))

/** v1.0's `data` and `details`: what happened, and which fields are wrong. */
const detailsOf = ({ reason, facts: said, violations }: Told): JsonObject[] => {
  const domain = a2aReasons.has(reason) ? 'a2a-protocol.org' : 'calling-card'
  const info: JsonObject = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain }
  const metadata: JsonObject = {}
  for (const [name, fact] of Object.entries(said)) {
    metadata[name] = typeof fact === 'object' ? fact.join(', ') : String(fact)
    info.metadata = metadata
  }
  if (!violations.fieldViolations) return [info]
  return [info, { '@type': 'type.googleapis.com/google.rpc.BadRequest', ...violations }]
}

const bounded = (problem: Refusal | Failure): JsonObject => {
  const shown: JsonObject = { ...problem }
  for (const name in shown) {
    const fact: Json = shown[name] ?? null
    shown[name] = Array.isArray(fact) ? fact.slice(0, longestList).map(shortened) : shortened(fact)
  }
  return shown
}

const shortened = <Fact>(fact: Fact): Fact | string =>
  typeof fact === 'string' && fact.length > longestText ? `${fact.slice(0, longestText).toWellFormed()}…` : fact
