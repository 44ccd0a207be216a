import {
  type A2ACall,
  type CallError,
  chooseVersion,
  type ErrorForm,
  isVersionParameter,
  matchRestPath,
  normalizeRestPath,
  type RestMatch,
  readExtensions,
  readVersion,
  resolveRestVersion,
  versionOfPath,
} from '../a2a/index.ts'
import type { CallProfile } from '../card/index.ts'
import { type CallTarget, versions } from '../card/model/index.ts'
import { writeV0SchemeWithWrapper } from '../card/read/index.ts'
import { a2aResponse, type Handler, PRIVATE_NO_STORE } from '../http/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, mapMembers } from '../json/index.ts'
import type { CachedDocument } from '../registry/edge/index.ts'
import {
  type AgentRef,
  agentById,
  type InboundCall,
  impliedVersions,
  preferVersionError,
  readCallBody,
} from './gate/index.ts'
import { handleCall } from './handle-call.ts'
import { rewriteRoutingParams, type UpstreamMessage } from './upstream/start.ts'

/** Handles the HTTP+JSON binding below `/agents/{id}/a2a/`: of 1.0, and under `v1/` of 0.3. */
export const restCall: Handler = (request, env, ctx, { id }) => handleCall(new RestCall(request, id), request, env, ctx)

/** A call over HTTP+JSON. */
export class RestCall implements InboundCall {
  readonly agent: AgentRef
  readonly #request: Request
  /** Path below the agent's endpoint, normalized and percent-encoded. */
  readonly #path: string
  readonly #match: RestMatch | CallError
  /** The value is null if there is no body. */
  #body: { value: Json } | CallError = { value: null }

  constructor(request: Request, agentId: string | undefined) {
    const { method, url } = request
    this.agent = agentById(agentId)
    this.#request = request
    // By position, because an agent's id may be `a2a` too.
    this.#path = normalizeRestPath(new URL(url).pathname.split('/').slice(4).join('/'))
    this.#match = matchRestPath(method, this.#path)
    // HEAD is supported for the extended card only, which this host serves: agents may not support it.
    if (method === 'HEAD') {
      const get = matchRestPath('GET', this.#path)
      if ('operation' in get && get.operation === 'extendedCard') this.#match = get
    }
  }

  async read(): Promise<CallError | undefined> {
    if ('kind' in this.#match) return this.#match
    if (this.#request.method === 'POST') this.#body = await readCallBody(this.#request, { optional: true })
    return undefined
  }

  parse(profile: CallProfile): A2ACall | CallError {
    if ('kind' in this.#match) return this.#match
    if ('kind' in this.#body) return this.#body
    const requested = readVersion(this.#request)
    if ('kind' in requested) return preferVersionError(requested, 'HTTP+JSON', profile)
    const implied = impliedVersions(profile, 'HTTP+JSON')
    const resolved = resolveRestVersion(this.#request.method, this.#match, requested.version, implied)
    if ('kind' in resolved) return preferVersionError(resolved, 'HTTP+JSON', profile)
    const { value } = this.#body
    if (value !== null && !isPlainObject(value))
      return { kind: 'not-a-request', detail: 'The body must be a JSON object.' }
    const { version } = resolved
    const { operation, pathParams } = this.#match
    const { searchParams } = new URL(this.#request.url)
    // Without the version, which is sent as a header. A repeated parameter has its first value only.
    const named = [...searchParams].filter(([name]) => !isVersionParameter(name))
    const query = Object.fromEntries(named.reverse())
    const body = value ?? {}
    return {
      binding: 'HTTP+JSON',
      operation,
      version,
      dialect: versions[version].card,
      id: null,
      // The path wins over the body, and the body over the query.
      params: { ...Object.fromEntries(Object.entries(query).reverse()), ...body, ...pathParams },
      sources: { path: pathParams, query, body },
      extensions: readExtensions(this.#request.headers),
    }
  }

  toUpstream({ sources }: A2ACall, target: CallTarget): UpstreamMessage {
    const query = new URLSearchParams(sources?.query)
    const hasBody = 'value' in this.#body && this.#body.value !== null
    return {
      method: this.#request.method,
      path: query.size > 0 ? `${this.#path}?${query}` : this.#path,
      ...(hasBody && { body: JSON.stringify(rewriteRoutingParams(sources?.body ?? {}, target)) }),
    }
  }

  getErrorForm(): ErrorForm {
    const { version: named } = { version: undefined, ...readVersion(this.#request) }
    const having = 'versions' in this.#match ? this.#match.versions : [versionOfPath(this.#path)]
    return {
      binding: 'HTTP+JSON',
      version: chooseVersion(having, () => (named === undefined ? [] : [named])),
      id: null,
    }
  }

  wrapCard({ body }: Pick<CachedDocument, 'body'>): Response {
    const { version } = this.getErrorForm()
    return a2aResponse(versions[version].card === '0.3' ? wrapSchemesForProto(body) : body, 200, {
      'Cache-Control': PRIVATE_NO_STORE,
    })
  }
}

/** Wraps the security schemes of a 0.3 card as 0.3's proto does, too: its readers reject others. */
const wrapSchemesForProto = (body: BufferSource): string => {
  const card: JsonObject = JSON.parse(new TextDecoder().decode(body))
  const schemes = isJsonObject(card.securitySchemes) ? card.securitySchemes : {}
  const securitySchemes = mapMembers(schemes, each => (isJsonObject(each) ? writeV0SchemeWithWrapper(each) : each))
  return JSON.stringify({ ...card, ...(Object.keys(schemes).length > 0 && { securitySchemes }) })
}
