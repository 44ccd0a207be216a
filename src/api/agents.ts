import { isAdmin } from '../auth/permissions.ts'
import { adminRequired, requireWriter } from '../auth/require.ts'
import { readJson } from '../http/body.ts'
import { type Precondition, parsePrecondition } from '../http/conditional.ts'
import { HttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { CORS_HEADERS, PRIVATE_NO_STORE } from '../http/headers.ts'
import { jsonResponse } from '../http/responses.ts'
import { cacheRegistered, cacheRemoved, purgeLists } from '../registry/edge/write-through.ts'
import type { Registered, Rejection } from '../registry/records.ts'
import { getRegistry } from '../registry/store/client.ts'
import { agentNotFound } from './errors.ts'
import type { Prepared } from './registration.ts'
import { sourceReceipt } from './sources.ts'

/** `PUT /agents/{id}`: registers or replaces an agent from a manifest or a bare card. */
export const putAgent: Handler = async (request, env, ctx) => {
  const { principal: bearer, id } = await requireWriter({ request, env, ctx })
  const asked = parsePrecondition(request.headers)
  const document = await readJson(request)
  // What makes cards is loaded by who writes one: who reads or calls does not wait for it to start.
  const { preparation } = await import('./registration.ts')
  const prepare = preparation({ bearer, id, document, asked, request }, env)
  const attempt = async (): Promise<Attempt> => {
    const prepared = await prepare()
    return { prepared, result: await getRegistry(env).register(prepared.registration, isAdmin(bearer)) }
  }
  const { prepared, result } = await retryOnConflict(attempt)
  const { registration } = prepared
  if (result.outcome !== 'registered') throw toHttpError(result, id, registration.expected)
  cacheRegistered(registration, result)
  purgeLists(ctx)
  return jsonResponse(receipt(prepared, result), result.created ? 201 : 200, {
    ETag: registration.manifestEtag,
    'Cache-Control': PRIVATE_NO_STORE,
  })
}

type Attempt = { prepared: Prepared; result: Registered | Rejection }

/** What came of a registration; tried again where the source of its card was read by somebody else at the same time. */
const retryOnConflict = async (attempt: () => Promise<Attempt>, tries = 5): Promise<Attempt> => {
  const made = await attempt()
  return made.result.outcome === 'conflict' && tries > 1 ? retryOnConflict(attempt, tries - 1) : made
}

/** `DELETE /agents/{id}`: gone here at once, and everywhere within the cache time. */
export const deleteAgent: Handler = async (request, env, ctx) => {
  const { id } = await requireWriter({ request, env, ctx })
  const condition = parsePrecondition(request.headers)
  const result = await getRegistry(env).remove(id, condition)
  if (result.outcome !== 'removed') throw toHttpError(result, id, condition)
  cacheRemoved(id, result)
  purgeLists(ctx)
  return new Response(null, { status: 204, headers: { ...CORS_HEADERS, 'Cache-Control': PRIVATE_NO_STORE } })
}

/** `GET /agents/{id}/manifest`: what was registered, as registered. */
export const getManifest: Handler = async (request, env, ctx) => {
  const { id } = await requireWriter({ request, env, ctx })
  const found = await getRegistry(env).manifest(id)
  if (!found) throw agentNotFound(id)
  return jsonResponse(found.manifest, 200, {
    ETag: found.etag,
    'Last-Modified': new Date(found.modified).toUTCString(),
    'Cache-Control': PRIVATE_NO_STORE,
  })
}

const toHttpError = (result: Rejection, id: string, condition: Precondition): HttpError => {
  if (result.outcome === 'unknown-agent') return agentNotFound(id)
  if (result.outcome === 'host-not-owned')
    return adminRequired(`Assigning the hostname "${result.hostname}" to agent "${id}"`)
  // Whoever gets here may know of every agent: without `admin`, no name that is another's is looked at.
  if (result.outcome === 'host-taken')
    return new HttpError(
      409,
      'host-taken',
      `The host name "${result.hostname}" is agent "${result.owner}"'s. Take it out of that agent's hosts first.`,
    )
  if (result.outcome === 'conflict')
    return new HttpError(409, 'overtaken', `Agent "${id}" is being refreshed by another request. Retry.`, {
      headers: { 'Retry-After': '1' },
    })
  return new HttpError(412, 'precondition-failed', whyNot(id, result.exists, condition))
}

const whyNot = (id: string, exists: boolean, condition: Precondition): string => {
  if (!exists) return `There is no agent "${id}" to replace. Register it without If-Match.`
  return condition.absent
    ? `There is an agent "${id}" already. To replace it, write with If-Match and the ETag of GET /agents/${id}/manifest.`
    : `Agent "${id}" has changed since you read it. Read it again (GET /agents/${id}/manifest), then write with its new ETag.`
}

const receipt = ({ registration, compiled, record }: Prepared, result: Registered) => {
  const { id, manifestEtag, representations, origin } = registration
  const { seq, revised, published, hosts, becameRoot } = result
  const rooted = { pointer: '/hosts', message: 'set to ["*"]: the first agent of a host becomes its root agent' }
  const report = compiled?.report
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
    ...(record && { source: sourceReceipt(record) }),
    ...(report && { report: becameRoot ? { ...report, filled: [...report.filled, rooted] } : report }),
  }
}
