import { decodeJwt, decodeProtectedHeader } from 'jose'
import type { Json, JsonObject } from '../../src/json/json.ts'
import { CALLER_SPAN, type Headers } from './headers.ts'
import type { DiffHost, HostResponse, Outcome } from './hosts.ts'
import { type AgentRequest, isOfSession } from './received-call.ts'

/** What one host did in a case, as it is compared: texts that are the same for two hosts that do the same. */
export type Comparable = { requests: string[]; responses: string[]; logs: string[] }

/** The differing parts of two hosts. */
export type Difference = {
  part: keyof Comparable | 'observed'
  index: number
  before: string | undefined
  after: string | undefined
}

/** What of a host has other values than the other one. */
export type Side = Pick<DiffHost, 'values'> & { agent: { origin: string } }

/**
 * Replaces what differs between two hosts, and between two runs: their tokens and the ids of these, the port of their
 * agent, UUIDs (ids of messages, artifacts and MCP tasks), span ids, encrypted page tokens, signatures and the id of
 * their key, subjects of JWTs, times of now, and durations.
 */
export class Normalizer {
  /** The names of values in the order in which they occur: which of them is which is compared. */
  readonly #random = new Map<string, string>()
  readonly #replaced: [from: string, to: string][]

  constructor({ values, agent }: Side) {
    this.#replaced = [
      ...[...values].map(([name, value]): [string, string] => [value, `<${name}>`]),
      [new URL(agent.origin).host, '<agent>'],
    ]
  }

  /** Normalizes any text. */
  text(text: string): string {
    let result = text
    for (const [from, to] of this.#replaced) if (result.includes(from)) result = result.replaceAll(from, to)
    return result
      .replace(uuidForm, uuid => this.#nameOf('uuid', uuid))
      .replace(subjectForm, subject => this.#nameOf('subject', subject))
      .replace(signatureForm, (_, header: string) => `"protected":"${withoutKey(header)}","signature":"<signature>"`)
      .replace(pageTokenForm, '"nextPageToken":"<encrypted>"')
      .replace(timeForm, time => (Math.abs(Date.parse(time) - Date.now()) < DAY_MS ? '<now>' : time))
  }

  /** Normalizes headers, sorted by name: their order means nothing. A connection closes where a body has not arrived. */
  headers(headers: Headers): string {
    const lines = headers.flatMap(([name, value]): string[] => {
      const lower = name.toLowerCase()
      return ['connection', 'date', 'etag', 'last-modified'].includes(lower)
        ? []
        : [`${lower}: ${this.#header(lower, value)}`]
    })
    return lines
      .toSorted((one, other) => (nameIn(one) < nameIn(other) ? -1 : nameIn(one) > nameIn(other) ? 1 : 0))
      .join('\n')
  }

  /** Normalizes a line of the log; undefined for one of the runtime. */
  log(line: string): string {
    if (!line.startsWith('{')) return this.text(line)
    const {
      'calling_card.duration_ms': _,
      span_id: span,
      parent_span_id: parent,
      'exception.stacktrace': stack,
      ...rest
    } = JSON.parse(line) as JsonObject
    const more = {
      ...(span !== undefined && { span_id: '<span>' }),
      // A host that calls itself is the caller.
      ...(parent !== undefined && { parent_span_id: parent === CALLER_SPAN ? parent : '<span>' }),
      ...(stack !== undefined && { stack: String(stack).split('\n')[0] ?? '' }),
    }
    return this.text(JSON.stringify({ ...rest, ...more } as Json))
  }

  #header(name: string, value: string): string {
    if (name === 'traceparent') return this.text(value.replace(/^(\w{2}-\w{32})-\w{16}-/, '$1-<span>-'))
    if (name === 'server-timing') return value.replace(/dur=[\d.]+/g, 'dur=<ms>')
    if (name === 'calling-card-assertion' && value.split('.').length === 3) return this.text(describeAssertion(value))
    return this.text(value)
  }

  #nameOf(kind: string, value: string): string {
    const name = this.#random.get(value) ?? `<${kind} ${this.#random.size + 1}>`
    this.#random.set(value, name)
    return name
  }
}

const DAY_MS = 86_400_000
const uuidForm = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
/** The subjects of JWTs: their hash depends on the port of the issuer. */
const subjectForm = /\bjwt:127\.0\.0\.1:[0-9a-f]{16,}\b/g
const timeForm = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
/** Those of agents are shorter. */
const pageTokenForm = /"nextPageToken":"[\w-]{38,}"/g

/** Those of ECDSA are random. */
const signatureForm = /"protected":"([\w-]+)","signature":"[\w-]{86}"/g

const withoutKey = (header: string): string =>
  Buffer.from(header, 'base64url')
    .toString()
    .replace(/"kid":"[\w-]+"/, '"kid":"<kid>"')

const nameIn = (line: string): string => line.slice(0, line.indexOf(':'))

const describeAssertion = (assertion: string): string => {
  const { iat = 0, exp = 0, jti, ...claims } = decodeJwt(assertion)
  const { kid: _, ...header } = decodeProtectedHeader(assertion)
  return JSON.stringify({
    header,
    claims,
    seconds: exp - iat,
    isNew: Math.abs(iat * 1000 - Date.now()) < DAY_MS,
    hasId: jti !== undefined,
  })
}

/** Returns what a host did in a case as it is compared. */
export const toComparable = (outcome: Outcome, logs: readonly string[], side: Side): Comparable => {
  const normalizer = new Normalizer(side)
  return {
    requests: outcome.exchanges
      .filter(({ request }) => !isOfSession(request))
      .map(({ request }) => toText(request, normalizer)),
    responses: outcome.responses.map(response =>
      'failed' in response
        ? `no response: ${response.failed}`
        : [
            `${response.status}${response.isCut ? ' cut' : ''}`,
            `${normalizer.headers(response.headers)}\n`,
            normalizer.text(bodyOf(response)),
          ].join('\n'),
    ),
    logs: logs.map(line => normalizer.log(line)),
  }
}

/**
 * Returns the body; of a stream without repeated empty lines, whose number depends on where the network has split it.
 */
const bodyOf = ({ headers, body }: HostResponse): string => {
  const isStream = headers.some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value === 'text/event-stream',
  )
  return isStream ? body.replace(/\n{3,}/g, '\n\n') : body
}

const toText = ({ method, path, headers, body }: AgentRequest, normalizer: Normalizer): string =>
  `${method} ${normalizer.text(path)}\n${normalizer.headers(headers)}\n\n${normalizer.text(body)}`

/** Returns the differences between two hosts in a case. */
export const compare = (before: Comparable, after: Comparable): Difference[] =>
  (['requests', 'responses', 'logs'] as const).flatMap(part => {
    const count = Math.max(before[part].length, after[part].length)
    return Array.from({ length: count }, (_, index) => ({
      part,
      index,
      before: before[part][index],
      after: after[part][index],
    })).filter(each => each.before !== each.after)
  })

const SHOWN = 3000

/** Describes a difference: the whole lines around the first one that differs, on both sides. */
export const describeDifference = ({ part, index, before, after }: Difference): string => {
  const [one, other] = [before, after].map(text => text?.split('\n'))
  const same = one && other ? one.findIndex((line, at) => line !== other[at]) : 0
  const from = same === -1 ? (one?.length ?? 0) : same
  const show = (lines: string[] | undefined, sign: string): string =>
    lines === undefined
      ? `  ${sign} nothing`
      : lines
          .slice(from, from + 6)
          .map(line => `  ${sign} ${clip(line)}`)
          .join('\n') || `  ${sign} (ends here)`
  const first = one?.[0] ?? other?.[0] ?? ''
  return `  ${part}[${index}] ${clip(first, 120)}, line ${from + 1}:\n${show(one, '-')}\n${show(other, '+')}`
}

const clip = (text: string, length = SHOWN): string => {
  const printable = text.replace(
    /[^\t\n -~]/g,
    character => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
  return printable.length > length ? `${printable.slice(0, length)}… (${printable.length})` : printable
}
