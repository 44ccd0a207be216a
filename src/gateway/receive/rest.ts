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
} from '../../a2a/index.ts'
import { type CallTarget, versions } from '../../card/model/index.ts'
import { writeV0SchemeWithWrapper } from '../../card/read/index.ts'
import { a2aResponse, type BodyText, PRIVATE_NO_STORE } from '../../http/index.ts'
import { isJsonObject, isPlainObject, type Json, type JsonObject, mapMembers } from '../../json/index.ts'
import type { CachedDocument } from '../../registry/edge/index.ts'
import { agentById, Exchange, type Gate } from '../gate/index.ts'
import { rewriteRoutingParams, type UpstreamMessage } from '../upstream/index.ts'
import { isEmptyPost, parseBody, readBody } from './json-rpc.ts'

/** Matches URLs that the parser accepts and leaves as they are, and takes the path below the agent's endpoint. */
const plainUrl = /^https?:\/\/(?!.*xn--)(?:[\w-]+\.)*[a-z][\w-]*(?::\d{1,4})?\/[a-z]+\/[a-z0-9-]+\/a2a\/([\w/:-]*)$/

/** A call over HTTP+JSON, below `/agents/{id}/a2a/`: of 1.0, and under `v1/` of 0.3. */
export class RestExchange extends Exchange {
  readonly #method: string
  /** Path below the agent's endpoint, normalized and percent-encoded. */
  readonly #path: string
  readonly #query: URLSearchParams | undefined
  readonly #match: RestMatch | CallError
  /** The value is null if there is no body. */
  #body: { value: Json } | CallError = { value: null }

  constructor(request: Request, env: Env, ctx: ExecutionContext, agentId: string | undefined) {
    super(request, env, ctx, agentById(agentId))
    const { url } = this
    const { method } = request
    this.#method = method
    const plain = plainUrl.exec(url)?.[1]
    const parsed = plain === undefined ? new URL(url) : undefined
    // By position, because an agent's id may be `a2a` too.
    this.#path = normalizeRestPath(plain ?? parsed?.pathname.split('/').slice(4).join('/') ?? '')
    this.#query = parsed?.searchParams
    this.#match = matchRestPath(method, this.#path)
    // HEAD is supported for the extended card only, which this host serves: agents may not support it.
    if (method === 'HEAD') {
      const get = matchRestPath('GET', this.#path)
      if ('operation' in get && get.operation === 'extendedCard') this.#match = get
    }
  }

  readBody(): Promise<BodyText> | CallError | undefined {
    if ('kind' in this.#match) return this.#match
    return this.#method === 'POST' && !isEmptyPost(this.request, this.headers)
      ? readBody(this.request, this.headers, this.type)
      : undefined
  }

  parseBody(read: BodyText | CallError | undefined): CallError | undefined {
    if ('kind' in this.#match) return read && this.#match
    const isEmpty = read === undefined || ('text' in read && read.text === '')
    this.#body = isEmpty ? { value: null } : parseBody(read)
    return undefined
  }

  parse(gate: Gate): A2ACall | CallError {
    if ('kind' in this.#match) return this.#match
    if ('kind' in this.#body) return this.#body
    const requested = readVersion(this)
    if ('kind' in requested) return gate.preferVersionError(requested, 'HTTP+JSON')
    const implied = () => gate.impliedVersions('HTTP+JSON')
    const resolved = resolveRestVersion(this.#method, this.#match, requested.version, implied)
    if ('kind' in resolved) return gate.preferVersionError(resolved, 'HTTP+JSON')
    const { value } = this.#body
    if (value !== null && !isPlainObject(value))
      return { kind: 'not-a-request', detail: 'The body must be a JSON object.' }
    const { version } = resolved
    const { operation, pathParams } = this.#match
    // Without the version, which is sent as a header. A repeated parameter has its first value only.
    const named = this.#query ? [...this.#query].filter(([name]) => !isVersionParameter(name)) : []
    const query = Object.fromEntries(named.reverse())
    const body = value ?? {}
    return {
      binding: 'HTTP+JSON',
      operation,
      version,
      dialect: versions[version].card,
      id: null,
      // The path wins over the body, and the body over the query.
      params: { ...(named.length > 0 && Object.fromEntries(Object.entries(query).reverse())), ...body, ...pathParams },
      sources: { path: pathParams, query, body },
      extensions: readExtensions(this.headers),
    }
  }

  write({ sources }: A2ACall, target: CallTarget): UpstreamMessage {
    const { query = {} } = sources ?? {}
    const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : ''
    const hasBody = 'value' in this.#body && this.#body.value !== null
    return {
      method: this.#method,
      path: this.#path + search,
      ...(hasBody && { body: JSON.stringify(rewriteRoutingParams(sources?.body ?? {}, target)) }),
    }
  }

  errorForm(): ErrorForm {
    const { version: named } = { version: undefined, ...readVersion(this) }
    const having = 'versions' in this.#match ? this.#match.versions : [versionOfPath(this.#path)]
    return {
      binding: 'HTTP+JSON',
      version: chooseVersion(having, () => (named === undefined ? [] : [named])),
      id: null,
    }
  }

  wrapCard({ body }: Pick<CachedDocument, 'body'>): Response {
    const { version } = this.errorForm()
    return a2aResponse(versions[version].card === '0.3' ? wrapSchemesForProto(body) : body, 200, {
      'Cache-Control': PRIVATE_NO_STORE,
    })
  }
}

/** Wraps the security schemes of a 0.3 card as 0.3's proto does, too: its readers reject others. */
const wrapSchemesForProto = (body: BufferSource): string => {
  const card: JsonObject = JSON.parse(new TextDecoder().decode(body))
  const { securitySchemes } = card
  const wrapped = isJsonObject(securitySchemes) && {
    securitySchemes: mapMembers(securitySchemes, writeV0SchemeWithWrapper),
  }
  return JSON.stringify({ ...card, ...wrapped })
}
