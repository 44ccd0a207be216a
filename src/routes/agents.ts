import { requireAdmin } from '../auth/admin-token.ts'
import { type Compiled, compile } from '../card/compile.ts'
import type { Json } from '../card/json.ts'
import { agentId } from '../card/limits.ts'
import { privateNoStore } from '../http/caching.ts'
import { type Condition, writeCondition } from '../http/condition.ts'
import { cors } from '../http/cors.ts'
import { jsonResponse } from '../http/json-response.ts'
import { HttpError } from '../http/problem.ts'
import { hashed } from '../registry/hashed.ts'
import { rememberHost } from '../registry/hosts.ts'
import { rememberRegistered, rememberRemoved } from '../registry/remember.ts'
import { truth } from '../registry/truth.ts'
import type { Declined, HostChange, Registered, Registration } from '../registry/write.ts'
import { agentNotFound, badAgentId } from './agent-errors.ts'
import { forgetLists } from './catalog.ts'
import type { Handler } from './handler.ts'
import { jsonBody } from './json-body.ts'

/** `PUT /agents/{id}`: registers or replaces an agent from a manifest or a bare card. */
export const putAgent: Handler = async (request, env, ctx) => {
  await requireAdmin(request, env)
  const id = idOf(request.params)
  const condition = writeCondition(request.headers)
  const document = await jsonBody(request)
  const compiled = compileOrRefuse(document, id, request, env)
  const registration = await hashed(id, document, compiled, condition)
  const result = await truth(env).register(registration)
  if (result.outcome !== 'registered') throw declined(result, id, condition)
  showAtOnce(registration, result)
  forgetLists(ctx)
  return jsonResponse(receipt(compiled, registration, result), result.created ? 201 : 200, {
    ETag: registration.manifestEtag,
    'Cache-Control': privateNoStore,
  })
}

/** `DELETE /agents/{id}`: gone here at once, and everywhere within the cache time. */
export const deleteAgent: Handler = async (request, env, ctx) => {
  await requireAdmin(request, env)
  const id = idOf(request.params)
  const condition = writeCondition(request.headers)
  const result = await truth(env).remove(id, condition)
  if (result.outcome !== 'removed') throw declined(result, id, condition)
  rememberRemoved(id, result)
  showHosts(result.changed)
  forgetLists(ctx)
  return new Response(null, { status: 204, headers: { ...cors, 'Cache-Control': privateNoStore } })
}

/** `GET /agents/{id}/manifest`: what was registered, as registered. */
export const getManifest: Handler = async (request, env) => {
  await requireAdmin(request, env)
  const id = idOf(request.params)
  const found = await truth(env).manifest(id)
  if (!found) throw agentNotFound(id)
  return jsonResponse(found.manifest, 200, {
    ETag: found.etag,
    'Last-Modified': new Date(found.modified).toUTCString(),
    'Cache-Control': privateNoStore,
  })
}

const idOf = (params: Record<string, string>): string => {
  const id = params.id ?? ''
  if (!agentId.test(id)) throw badAgentId(id)
  return id
}

const compileOrRefuse = (document: Json, id: string, request: Request, env: Env): Compiled => {
  const result = compile(document, { id, publicUrl: env.PUBLIC_URL, requestOrigin: new URL(request.url).origin })
  if ('compiled' in result) return result.compiled
  const { errors } = result
  const first = errors[0] ? ` ${errors[0].pointer || 'The document'} ${errors[0].message}.` : ''
  const more = errors.length > 1 ? ` And ${errors.length - 1} more.` : ''
  throw new HttpError(422, 'invalid-card', `Nothing was registered.${first}${more}`, { errors: errors.slice(0, 100) })
}

const declined = (result: Declined, id: string, condition: Condition): HttpError => {
  if (result.outcome === 'unknown-agent') return agentNotFound(id)
  if (result.outcome === 'host-taken')
    return new HttpError(
      409,
      'host-taken',
      `The host name "${result.hostname}" is agent "${result.holder}"'s. Take it out of that agent's hosts first.`,
    )
  return new HttpError(412, 'precondition-failed', whyNot(id, result.exists, condition))
}

const whyNot = (id: string, exists: boolean, condition: Condition): string => {
  if (!exists) return `There is no agent "${id}" to replace. Register it without If-Match.`
  return condition.absent
    ? `There is an agent "${id}" already. To replace it, write with If-Match and the ETag of GET /agents/${id}/manifest.`
    : `Agent "${id}" has changed since you read it. Read it again (GET /agents/${id}/manifest), then write with its new ETag.`
}

/** A write is visible at once where it was made. */
const showAtOnce = (registration: Registration, result: Registered): void => {
  rememberRegistered(registration, result)
  showHosts(result.changed)
}

const showHosts = (changes: readonly HostChange[]): void => {
  for (const { hostname, id, seq } of changes) rememberHost(hostname, { value: id, seq })
}

const receipt = ({ origin, report }: Compiled, registration: Registration, result: Registered) => {
  const { id, manifestEtag, representations } = registration
  const { seq, revised, published, hosts, becameRoot } = result
  const rooted = { pointer: '/hosts', message: 'set to ["*"]: the first agent of a host becomes its root agent' }
  return {
    id,
    seq,
    changed: revised,
    published,
    root: hosts.includes('*'),
    urls: { card: `${origin}/agents/${id}/.well-known/agent-card.json`, agent: `${origin}/agents/${id}` },
    etags: {
      manifest: manifestEtag,
      ...Object.fromEntries(Object.entries(representations).map(([name, { etag }]) => [name, etag])),
    },
    report: becameRoot ? { ...report, filled: [...report.filled, rooted] } : report,
  }
}
