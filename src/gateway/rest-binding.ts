import type { A2ACall } from '../a2a/call.ts'
import { extensionsOf, versionsInQuery } from '../a2a/call-headers.ts'
import { cardAnswer, errorResponse } from '../a2a/call-responses.ts'
import { restErrorAnswer } from '../a2a/error-answer.ts'
import { type RestMatch, restParams, versionMismatch } from '../a2a/rest-paths.ts'
import { parseVersion } from '../a2a/service-parameters.ts'
import type { Refusal } from '../a2a/verdict.ts'
import type { CallProfile } from '../card/call-profile.ts'
import { writeV0SchemeTwice } from '../card/read/security-schemes.ts'
import { isJsonObject, type JsonObject } from '../json/json.ts'
import { addressedTo } from './addressed-to.ts'
import type { InboundCall, ParsedCall } from './call-context.ts'
import type { Body } from './endpoint.ts'
import { preferVersionError, targetOf } from './policy.ts'

/** A call over HTTP+JSON, by what its path stands for. `body` is what came, parsed or refused; null where there is none. */
export const parseRestCall = (
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
        schemes.map(([name, scheme]) => [name, isJsonObject(scheme) ? writeV0SchemeTwice(scheme) : scheme]),
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
