import { actorOf, adminRequired, audited, isAdmin, type Principal, requireWriter } from '../../auth/index.ts'
import { cardUrl } from '../../card/model/index.ts'
import {
  type Handler,
  type HttpError,
  type Precondition,
  parsePrecondition,
  problem,
  readJson,
} from '../../http/index.ts'
import { cacheRegistered, cacheRemoved, purgeLists } from '../../registry/edge/index.ts'
import type { Registered, WriteRejection } from '../../registry/store/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { agentConflict, agentNotFound } from '../agent-errors.ts'
import { noContent, privateJson } from '../private-responses.ts'
import type { PreparedWrite, WriteRequest } from './prepare-write.ts'
import { serializeSource } from './remote-cards.ts'

/** `PUT /agents/{id}`: registers or replaces an agent from a manifest or a bare card. */
export const putAgent: Handler = audited(async (request, env, ctx, params) => {
  const { principal, id } = await requireWriter({ request, env, ctx }, params)
  const precondition = parsePrecondition(request.headers)
  const document = await readJson(request)
  const requestOrigin = new URL(request.url).origin
  return registerDocument({ principal, id, document, precondition, requestOrigin }, env, ctx)
})

/** Registers a document as an agent and returns its receipt. Throws if nothing was registered. */
export const registerDocument = async (write: WriteRequest, env: Env, ctx: ExecutionContext): Promise<Response> => {
  const { principal, id } = write
  // The compiler of cards is loaded for writers only.
  const { createPreparation } = await import('./prepare-write.ts')
  const { prepared, result } = await registerPrepared(createPreparation(write, env), principal, env)
  const { registration } = prepared
  if (result.outcome !== 'registered') throw rejectionError(result, id, registration.expected)
  cacheRegistered(registration, result)
  purgeLists(ctx)
  const { manifestEtag: ETag } = registration
  return privateJson(serializeReceipt(prepared, result), result.created ? 201 : 200, { ETag })
}

const MAX_ATTEMPTS = 5

/** Prepares and registers an agent, again if it was changed, or its remote card refreshed, at the same time. */
export const registerPrepared = async (
  prepare: (isLast: boolean) => Promise<PreparedWrite>,
  principal: Principal,
  env: Env,
): Promise<{ prepared: PreparedWrite; result: Registered | WriteRejection }> => {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === MAX_ATTEMPTS
    const prepared = await prepare(isLast)
    const result = await getRegistry(env).register(prepared.registration, isAdmin(principal))
    if (result.outcome !== 'conflict' || isLast) return { prepared, result }
  }
}

/** `DELETE /agents/{id}`: removes an agent, here at once and everywhere within the cache time. */
export const deleteAgent: Handler = audited(async (request, env, ctx, params) => {
  const { principal, id } = await requireWriter({ request, env, ctx }, params)
  const precondition = parsePrecondition(request.headers)
  const result = await getRegistry(env).remove(id, precondition, actorOf(principal))
  if (result.outcome !== 'removed') throw rejectionError(result, id, precondition)
  cacheRemoved(id, result)
  purgeLists(ctx)
  return noContent()
})

/** `DELETE /agents/{id}/tasks`: forgets which callers started which tasks, for an agent that uses its ids again. */
export const deleteTasks: Handler = audited(async (request, env, ctx, params) => {
  const { principal, id } = await requireWriter({ request, env, ctx }, params)
  const result = await getRegistry(env).clearTasks(id, actorOf(principal))
  if (result.outcome !== 'cleared') throw rejectionError(result, id, {})
  return noContent()
})

/** `GET /agents/{id}/manifest`: the manifest as it was registered. */
export const getManifest: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  const found = await getRegistry(env).manifest(id)
  if (!found) throw agentNotFound(id)
  const modified = new Date(found.modified).toUTCString()
  return privateJson(found.manifest, 200, { ETag: found.etag, 'Last-Modified': modified })
}

/** Returns the error for a write that the Registry rejected. */
export const rejectionError = (rejection: WriteRejection, id: string, precondition: Precondition): HttpError => {
  switch (rejection.outcome) {
    case 'unknown-agent':
      return agentNotFound(id)
    case 'host-not-owned':
      return adminRequired(`Assigning the hostname "${rejection.hostname}" to agent "${id}"`)
    case 'host-taken': {
      const { hostname, owner } = rejection
      // May name the other agent: only an admin's request gets this far.
      const detail = `The hostname "${hostname}" belongs to agent "${owner}". Remove it from that agent's hosts first.`
      const error = { pointer: '/hosts', message: `has "${hostname}", which belongs to agent "${owner}"` }
      return problem('host-taken', detail, { errors: [error] })
    }
    case 'conflict':
      return agentConflict(id, 'is being refreshed or removed by another request')
    default:
      return problem('precondition-failed', preconditionDetail(id, rejection.exists, precondition))
  }
}

const preconditionDetail = (id: string, exists: boolean, { absent }: Precondition): string => {
  if (!exists) return `No agent "${id}" exists to replace. Register it without If-Match.`
  return absent
    ? `Agent "${id}" exists already. To replace it, send If-Match with the ETag of GET /agents/${id}/manifest.`
    : `Agent "${id}" has changed since you read it. Read it again (GET /agents/${id}/manifest) and use its ETag.`
}

/** Returns what a writer gets for a registration. */
export const serializeReceipt = ({ registration, compiled, record, changes }: PreparedWrite, result: Registered) => {
  const { id, manifestEtag, representations, origin } = registration
  const { seq, revised, published, hosts, becameRoot } = result
  const rootNote = { pointer: '/hosts', message: 'set to ["*"]: the first agent of a host becomes its root agent' }
  const report = compiled?.report
  return {
    ...{ id, seq, changed: revised, published },
    ...(revised && changes),
    root: hosts.includes('*'),
    urls: { card: cardUrl({ origin, id }), agent: `${origin}/agents/${id}` },
    etags: {
      manifest: manifestEtag,
      ...Object.fromEntries(Object.entries(representations).map(([name, { etag }]) => [name, etag])),
    },
    ...(record && { source: serializeSource(record) }),
    ...(report && { report: becameRoot ? { ...report, filled: [...report.filled, rootNote] } : report }),
  }
}
