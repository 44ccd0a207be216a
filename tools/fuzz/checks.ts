import type { Json } from '../../src/json/json.ts'
import { MAX_BODY_BYTES } from '../../src/limits.ts'
import type { FuzzRequest } from './requests.ts'

/** A response as it was received. */
export type FuzzResponse = { status: number; type: string; body: Buffer }

/** The errors of the server that docs/reference/call-errors.md lists. A blank 500 is none of them. */
const documentedServerErrors = new Set([502, 503, 504, 508])

/** Statuses of calls whose bodies the host may not have read, so that their ids are unknown. */
const unreadStatuses = new Set([400, 401, 403, 405, 413, 415, 429])

/** Returns what is wrong with the response to a request; undefined for nothing. */
export const checkResponse = (request: FuzzRequest, response: FuzzResponse | undefined): string | undefined => {
  // A large body may be refused before it is read, and the body of a GET is never read. If the host closes the
  // connection then, its client may lose the response.
  const isUnread = (request.body?.length ?? 0) > (request.method === 'GET' ? 0 : MAX_BODY_BYTES)
  if (response === undefined) return isUnread ? undefined : 'the connection ended without a response'
  const { status, type, body } = response
  if (status >= 500 && !documentedServerErrors.has(status)) return `status ${status}`
  if (request.method === 'HEAD' || status === 204 || status === 304) return undefined
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/.test(type)
  if (status >= 400 && !isJson && !isOtherForm(request, type)) return `an error (${status}) of type "${type}"`
  if (!isJson) return undefined
  const parsed = parse(body)
  if (parsed === undefined) return `a body that is not JSON (${status})`
  return status >= 400 || isRpc(parsed) ? checkError(request, status, parsed) : undefined
}

/** Whether errors of the request have another form than JSON: pages for browsers, and the lines of a batch. */
const isOtherForm = ({ path, headers }: FuzzRequest, type: string): boolean =>
  type.startsWith('text/html')
    ? headers.some(([name, value]) => name.toLowerCase() === 'accept' && value.includes('text/html'))
    : type === 'application/x-ndjson' && path.startsWith('/agents:batch')

const checkError = (request: FuzzRequest, status: number, parsed: Json): string | undefined => {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return `a ${typeof parsed} as an error`
  if (!isRpc(parsed)) {
    const { status: reported, code, error, errorCode } = parsed as Record<string, Json>
    return reported === status || typeof code === 'number' || error !== undefined || isArdError(request, errorCode)
      ? undefined
      : `neither problem details nor an error of A2A or ARD (${status})`
  }
  if ('result' in parsed === 'error' in parsed) return 'a JSON-RPC response without exactly one of result and error'
  const sent = request.cut === undefined && request.body ? parse(request.body) : undefined
  const id = isRpc(sent) ? sent.id : undefined
  const isKnown = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id))
  if (!isKnown || parsed.id === id || (parsed.id === null && unreadStatuses.has(status))) return undefined
  return `the id ${JSON.stringify(parsed.id)?.slice(0, 100)} for ${JSON.stringify(id).slice(0, 100)} (${status})`
}

/** Whether an error has the form of ARD, and comes from an endpoint of its API. */
const isArdError = ({ path }: FuzzRequest, errorCode: Json | undefined): boolean =>
  /^\/(?:search|ard\/)/.test(URL.parse(path, 'http://host')?.pathname ?? path) && typeof errorCode === 'string'

const isRpc = (value: Json | undefined): value is { jsonrpc: Json; id: Json } =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0'

const parse = (body: Buffer): Json | undefined => {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(body))
  } catch {
    return undefined
  }
}
