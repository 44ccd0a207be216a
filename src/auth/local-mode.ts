import { config } from '../config.ts'
import { parseUrl, preflightResponse, problem, toErrorResponse } from '../http/index.ts'

/** The headers that a page of another origin may send with a read: neither credentials nor an API key. */
const READ_HEADERS = 'A2A-Version, A2A-Extensions, If-None-Match'

/**
 * Returns the response to a request that a web page of another origin makes to the host of `npm start`: a 403, or for a
 * preflight, what such a page may do; undefined for every other request. Such a page may only read what is public: this
 * host has secrets of its owner, and reaches this machine. `Host` proves nothing: any name may resolve to this machine.
 */
export const refuseForeignPage = (request: Request, env: Env): Response | undefined => {
  if (!isForeign(request, config(env).localOrigins ?? [])) return undefined
  return request.method === 'OPTIONS'
    ? preflightResponse(['GET', 'HEAD'], READ_HEADERS)
    : toErrorResponse(problem('foreign-origin', FOREIGN_ORIGIN))
}

/** Matches the paths of calls by GET, which reach an agent. */
const callPath = /^(?:\/agents\/[^/]+)?\/(?:a2a|mcp)(?:\/|$)/

const isForeign = ({ method, url: address, headers }: Request, own: readonly string[]): boolean => {
  const url = parseUrl(address)
  const origin = headers.get('Origin')
  const isRead = method === 'GET' || method === 'HEAD'
  const isCall = url !== null && callPath.test(url.pathname)
  // Every sandboxed frame has the origin "null".
  if (origin !== null)
    return (!isRead || isCall || headers.has('Authorization')) && (origin === 'null' || !own.includes(origin))
  // A browser sends no Origin with a GET to the page's own origin, which may be a name that now resolves to this
  // machine, nor with one for an image.
  const isOtherSite = /^(?:cross|same)-site$/.test(headers.get('Sec-Fetch-Site') ?? '')
  return isRead && isCall && (isOtherSite || !own.some(each => each.endsWith(`//${url.host}`)))
}

const FOREIGN_ORIGIN =
  'This host was started by `npm start`, so a web page of another origin may only read what is public, and without a ' +
  'token. If the page is yours, allow its origin: LOCAL_ORIGINS=http://localhost:5173 npm start'
