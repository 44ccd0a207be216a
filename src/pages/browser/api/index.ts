import { ApiError, type ApiResponse, type Client, createClient, isProblem } from '../../../api/client/index.ts'
import { retryImport } from '../dom/index.ts'

export { ApiError, type Client, isProblem, type ResponseOf } from '../../../api/client/index.ts'

/** Creates a client of this host. `onRejected` is called if the host rejects the token. */
export const connect = (token = '', onRejected: (error: ApiError) => void = () => {}): Client =>
  createClient({
    token,
    send,
    retries: 2,
    // Nobody waits before a page for the end of a rate limit.
    canRetry: (method, { retry }) => method === 'GET' && retry !== 'limited',
    explain: error => {
      if (isProblem(error, 'bad-token')) onRejected(error)
      return error
    },
  })

const send = async (path: string, init: RequestInit): Promise<ApiResponse> => {
  const response = await fetch(path, { ...init, cache: 'no-store', redirect: 'error' }).catch(() => {
    throw new ApiError({}, 'failed')
  })
  const { status, headers } = response
  return { status, headers, body: await response.json().catch(() => undefined) }
}

/** Returns what loads a module. That fails as a call does, and can be tried again. */
export const loadModule = <Module>(load: () => Promise<Module>): (() => Promise<Module>) => {
  const retry = retryImport(load)
  return () => retry().catch(() => Promise.reject(new ApiError({}, 'failed')))
}

/** Returns why a call failed, in a sentence for people. */
export const describeError = ({ status, detail }: ApiError): string =>
  detail ??
  (status === 0
    ? 'This host cannot be reached right now. Check your connection, and try again.'
    : `The host answered with the status ${status} and no reason. Try again.`)
