import { setTimeout as sleep } from 'node:timers/promises'
import pRetry from 'p-retry'
import { isJsonObject, type Json } from '../../src/json/json.ts'
import { badPortText, isBadPort } from './bad-port.ts'
import { HostError } from './host-error.ts'

/** What the host answered. `body` is absent where it is not JSON. */
export type Reply = { status: number; headers: Headers; body?: Json }

/** How a request is made and how long it is tried. `note` is told of every attempt that failed. */
export type Connection = { url: string; token: string; retries: number; note: (message: string) => void }

/** What else a request says. `anonymous`: without the token, as everyone asks. */
type RequestDetails = { headers?: Record<string, string>; body?: Json; anonymous?: boolean }

/** Statuses after which the same request may succeed. */
const passing = [429, 500, 502, 503, 504]

/** Longest that a host may make us wait between two attempts, in milliseconds, whatever its `Retry-After`. */
const longestWait = 30_000

/** Sends one request, again and again with back-off while the host cannot be reached or is busy. */
export const request = async (
  { url, token, retries, note }: Connection,
  method: string,
  path: string,
  { headers = {}, body, anonymous = false }: RequestDetails = {},
): Promise<Reply> =>
  pRetry(
    () =>
      attempt(url + path, {
        method,
        headers: {
          Accept: 'application/json',
          ...(!anonymous && { Authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.timeout(longestWait),
      }),
    {
      retries,
      minTimeout: 250,
      maxTimeout: 8000,
      randomize: true,
      shouldRetry: ({ error }) => error instanceof PassingError,
      onFailedAttempt: async ({ error, retriesLeft }) => {
        if (!(error instanceof PassingError) || retriesLeft === 0) return
        note(`${method} ${path}: ${error.message}; trying again (${retriesLeft} left)`)
        await sleep(Math.min(error.wait, longestWait))
      },
    },
  )

/** A failure that may pass; `wait` is what the host asked for, in milliseconds. */
class PassingError extends HostError {
  readonly wait: number

  constructor(message: string, wait = 0) {
    super('unreachable', message)
    this.wait = wait
  }
}

const attempt = async (url: string, init: RequestInit): Promise<Reply> => {
  const { response, text } = await send(url, init)
  const { status, headers } = response
  const parsed = parse(text)
  if (passing.includes(status) && !isOfSource(parsed))
    throw new PassingError(`the host answers ${status}`, retryAfter(headers))
  if (status >= 300 && status < 400 && status !== 304)
    throw new HostError('unreachable', `the host has moved: it answers ${status} to ${headers.get('Location') ?? '?'}`)
  if (status === 401) throw new HostError('unauthorised', 'the host does not accept the token (401)')
  return { status, headers, ...parsed }
}

const send = async (url: string, init: RequestInit): Promise<{ response: Response; text: string }> => {
  try {
    const response = await fetch(url, init)
    return { response, text: await response.text() }
  } catch (error) {
    if (isBadPort(error)) throw new HostError('unreachable', badPortText(url))
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    throw new PassingError(`the connection failed (${cause instanceof Error ? cause.message || cause.name : cause})`)
  }
}

const parse = (text: string): { body?: Json } => {
  try {
    return { body: JSON.parse(text) }
  } catch {
    return {}
  }
}

/** What the host tells of somebody else, who could not be reached: asking the host again is of no use. */
const isOfSource = ({ body }: { body?: Json }): boolean =>
  isJsonObject(body) && String(body.code).startsWith('upstream-')

const retryAfter = (headers: Headers): number => {
  const value = headers.get('Retry-After')
  if (value === null) return 0
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(wait) ? Math.max(0, wait) : 0
}
