import type { InferOutput } from 'valibot'
import type { schemas } from '../../../api/openapi/schemas/index.ts'
import { plural } from '../../text/index.ts'

/** A request or response of the API, by the name of its schema in the OpenAPI document. */
export type Api<Name extends keyof typeof schemas> = InferOutput<(typeof schemas)[Name]>

/** A call of the API that failed, in a sentence for people. */
export class CallError extends Error {
  /** The stable code of the problem details; empty if there are none. */
  readonly code: string
  readonly errors: readonly Api<'FieldError'>[]

  constructor(message: string, { code = '', errors = [] }: Partial<Api<'Problem'>> = {}) {
    super(message)
    this.code = code
    this.errors = errors
  }
}

/** The request besides its token. `etag` is that of the resource to replace, `null` if there must be none. */
type CallOptions = { method?: 'POST' | 'DELETE'; body?: unknown; etag?: string | null | undefined }

/** Calls the API of this host with one token, and returns the body of the response. Rejects with a `CallError`. */
export type Client = <Body>(path: string, options?: CallOptions) => Promise<Body>

/** Creates a client. `onRejected` is called if the host rejects the token. Throws for what cannot be a token. */
export const createClient = (token: string, onRejected: (error: CallError) => void): Client => {
  // Nothing else can be sent in a header.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new CallError('This is not a token: it has spaces or characters that no token has. Copy it again.')
  return async <Body>(path: string, { method, body, etag }: CallOptions = {}): Promise<Body> => {
    const response = await fetch(path, {
      ...(method && { method }),
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${token}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(etag === null ? { 'If-None-Match': '*' } : etag !== undefined && { 'If-Match': etag }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    }).catch(() => {
      throw new CallError('This host cannot be reached right now. Check your connection, and try again.')
    })
    if (response.ok) return (response.status === 204 ? undefined : await response.json()) as Body
    const problem = (await response.json().catch(() => ({}))) as Partial<Api<'Problem'>>
    const reason = problem.detail ?? `The host answered with the status ${response.status} and no reason. Try again.`
    const error = new CallError(reason, problem)
    if (error.code === 'bad-token') onRejected(error)
    throw error
  }
}

/** Returns a handler that turns an error with this code into `undefined`. */
export const ignoreError =
  (code: string) =>
  (error: unknown): undefined => {
    if (!(error instanceof CallError && error.code === code)) throw error
  }

/** Returns the path of a resource of an agent, such as `revisions/7`. */
export const agentPath = (id: string, rest = ''): string => `/agents/${encodeURIComponent(id)}${rest && `/${rest}`}`

/** The severities of issues, the worst first: the name of one, a heading of several, and their meaning. */
export const SEVERITIES = [
  ['error', 'error', 'Errors', 'They break clients.'],
  ['warning', 'warning', 'Warnings', 'They mislead clients.'],
  ['info', 'suggestion', 'Suggestions', 'They would improve the card.'],
] as const

/** Counts issues by severity, such as `1 error, 2 suggestions`. */
export const countIssues = (issues: readonly Api<'Issue'>[]): string =>
  SEVERITIES.flatMap(([severity, name]) => {
    const { length } = issues.filter(issue => issue.severity === severity)
    return length === 0 ? [] : [plural(length, name)]
  }).join(', ')

/** The notes of a lint result besides errors and issues: their member, a heading, and their meaning. */
export const NOTE_GROUPS = [
  ['filled', 'Filled in', 'What the card lacks, and this host adds.'],
  ['converted', 'Read in another form', 'What the card has in another form than that of A2A.'],
  ['lossy', 'Lost in translation', 'What clients of other versions or bindings do not get.'],
  ['signatures', 'Signatures', 'What becomes of those of the author, and what this host signs.'],
] as const
