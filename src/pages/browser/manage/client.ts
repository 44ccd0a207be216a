import type { FieldError } from './answers.ts'

/** A call of the API that failed, in a sentence for people. */
export class CallError extends Error {
  override readonly name = 'CallError'
  /** The status of the response; 0 if there was none. */
  readonly status: number
  /** The stable code of the problem details; empty if the response has none. */
  readonly code: string
  readonly errors: readonly FieldError[]

  constructor(message: string, { status = 0, code = '', errors = [] }: Partial<Problem> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.errors = errors
  }
}

/** The problem details of a response (RFC 9457). */
type Problem = { status: number; code: string; detail: string; errors: readonly FieldError[] }

/** What a call sends besides its token. `etag` is of what it replaces, `null` if nothing must exist. */
type CallOptions = { method?: 'POST' | 'DELETE'; body?: unknown; etag?: string | null | undefined }

/** Calls the API of this host with one token, which only this closure has. */
export type Client = {
  /** Returns the body of the response. Throws a `CallError` for any other than a success. */
  request: <Body>(path: string, options?: CallOptions) => Promise<Body>
}

/** The characters of the credentials of a bearer token, and more: anything else cannot be sent in a header. */
const sendable = /^[\x21-\x7e]+$/

/** Creates a client. `onRejected` is called when the host does not accept the token. Throws for what cannot be a token. */
export const createClient = (token: string, onRejected: (error: CallError) => void): Client => {
  if (!sendable.test(token))
    throw new CallError('This is not a token: it has spaces or characters that no token has. Copy it again.')
  return {
    request: async <Body>(path: string, { method, body, etag }: CallOptions = {}): Promise<Body> => {
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
      const error = await toCallError(response)
      if (error.code === 'bad-token') onRejected(error)
      throw error
    },
  }
}

const toCallError = async (response: Response): Promise<CallError> => {
  const { status } = response
  const problem: Partial<Problem> = await response.json().catch(() => ({}))
  const {
    code = '',
    errors = [],
    detail = `The host answered with the status ${status} and no reason. Try again.`,
  } = problem
  return new CallError(detail, { status, code, errors })
}

/** Returns the path of a resource of an agent, such as `revisions/7`. */
export const agentPath = (id: string, rest = ''): string => `/agents/${encodeURIComponent(id)}${rest && `/${rest}`}`
