import { cardAnswer, type ErrorResponse, errorResponse, restErrorAnswer, toRestError } from '../a2a/error-response.ts'
import type { Refusal } from '../a2a/errors.ts'
import type { A2ACall } from '../a2a/operations.ts'
import { matchRestPath, type RestMatch, restParams, versionMismatch } from '../a2a/rest-paths.ts'
import { extensionsOf, parseVersion, versionsInQuery } from '../a2a/service-parameters.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { writeV0SchemeWithWrapper } from '../card/read/security-schemes.ts'
import type { Handler } from '../http/handler.ts'
import { isJsonObject, type JsonObject } from '../json/json.ts'
import { type Body, byId, type InboundCall, type ParsedCall } from './call-context.ts'
import { handleCall } from './handle-call.ts'
import { readCallBody } from './jsonrpc-binding.ts'
import { preferVersionError, targetOf } from './policy.ts'
import { addressedTo } from './upstream-request.ts'

/** A call over HTTP+JSON, by what its path stands for. `body` is what came, parsed or refused; null where there is none. */
const parseRestCall = (
  request: Request,
  match: Extract<RestMatch, { operation: string }>,
  path: string,
  body: Body,
): InboundCall => ({
  params: {},
  read: profile => readCall(request, match, path, body, profile),
  refuse: (problem, call) => errorResponse(restErrorAnswer(problem, call?.version ?? match.version)),
  answerCard: ({ body }) => cardAnswer(match.version === '0.3' ? wrapSchemesForProto(body) : body),
})

/** The extended card for those who read it by v0.3's proto, too: they refuse a card whose schemes are not wrapped. */
const wrapSchemesForProto = (body: BufferSource): string => {
  const card: JsonObject = JSON.parse(new TextDecoder().decode(body))
  const schemes = isJsonObject(card.securitySchemes) ? Object.entries(card.securitySchemes) : []
  return JSON.stringify({
    ...card,
    ...(schemes.length > 0 && {
      securitySchemes: Object.fromEntries(
        schemes.map(([name, scheme]) => [name, isJsonObject(scheme) ? writeV0SchemeWithWrapper(scheme) : scheme]),
      ),
    }),
  })
}

const readCall = (
  request: Request,
  match: Extract<RestMatch, { operation: string }>,
  path: string,
  body: Body,
  profile: CallProfile,
): ParsedCall | Refusal => {
  if ('refused' in body) return body
  const named = parseVersion(request.headers.get('A2A-Version'), versionsInQuery(request.url))
  if ('refused' in named) return preferVersionError(named, 'HTTP+JSON', profile)
  const elsewhere = versionMismatch(request.method, match, named.version)
  if (elsewhere !== undefined) return preferVersionError(elsewhere, 'HTTP+JSON', profile)
  const { value } = body
  if (value !== null && (!isJsonObject(value) || JSON.isRawJSON(value)))
    return { refused: 'not-a-request', detail: 'The body must be a JSON object.', id: null }
  const query = queryOf(request.url)
  const call = callOf(request, match, restParams(match.path, query, value ?? {}))
  return {
    call,
    dialect: match.version,
    method: request.method,
    path: query.size > 0 ? `${path}?${query}` : path,
    body: () => (value === null ? undefined : JSON.stringify(addressedTo(value, targetOf(call, profile)))),
  }
}

const callOf = (
  { headers }: Request,
  { operation, version }: Extract<RestMatch, { operation: string }>,
  params: JsonObject,
): A2ACall => ({ binding: 'HTTP+JSON', operation, version, id: null, params, extensions: extensionsOf(headers) })

/** The query without the version, which goes upstream as a header; of a name that comes twice, the first: it was checked. */
const queryOf = (url: string): URLSearchParams => {
  const sent = [...new URL(url).searchParams].filter(([name]) => name.toLowerCase() !== 'a2a-version')
  return new URLSearchParams(Object.fromEntries(sent.reverse()))
}

/** What is asked of a path that HTTP+JSON has not; or that it has for `otherMethods` alone. */
const restNoCall = (method: string, path: string, otherMethods?: readonly string[]): InboundCall => {
  const version = path.startsWith('v1/') ? '0.3' : '1.0'
  const refusal = { refused: 'method', method: `${method} /${path}`, version } as const
  const notAllowed = (allowed: readonly string[]): ErrorResponse => {
    const { error, ...said } = toRestError(refusal, version)
    const body = isJsonObject(error) ? { error: { ...error, code: 405, status: 'UNIMPLEMENTED' } } : said
    const headers = { 'Content-Type': 'application/json', Allow: allowed.join(', ') }
    return { status: 405, headers, body: JSON.stringify(body) }
  }
  return {
    refusal,
    params: {},
    read: () => refusal,
    refuse: problem =>
      errorResponse(problem === refusal && otherMethods ? notAllowed(otherMethods) : restErrorAnswer(problem, version)),
    answerCard: () => errorResponse(restErrorAnswer(refusal, version)),
  }
}

/** The HTTP+JSON binding below `/agents/{id}/a2a/`: of v1.0, and under `v1/` of v0.3. */
export const restCall: Handler = (...asking) => {
  const [request] = asking
  const { method, url, params } = request
  // What follows /agents/{id}/a2a/: an agent's id may be `a2a` too.
  const path = new URL(url).pathname.split('/').slice(4).join('/')
  const match = matchRestPath(method, path)
  // Of what an agent answers, it might not take a HEAD for what it is.
  const card = method === 'HEAD' ? matchRestPath('GET', path) : undefined
  const call = card && 'operation' in card && card.operation === 'extendedCard' ? card : match
  if (call === undefined || 'otherMethods' in call) {
    const ask = () => restNoCall(method, path, call?.otherMethods)
    return handleCall({ whose: byId(params.id), body: async () => ({ value: null }), ask }, ...asking)
  }
  const body = async () => (method === 'POST' ? readCallBody(request, false) : { value: null })
  const ask = (body: Body) => parseRestCall(request, call, path, body)
  return handleCall({ whose: byId(params.id), body, ask }, ...asking)
}
