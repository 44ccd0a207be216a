import { actorOf, adminRequired, isAdmin, type Principal } from '../../auth/index.ts'
import { cardUrl } from '../../card/model/index.ts'
import { type Precondition, problem } from '../../http/index.ts'
import { CLEARED_ID_SECONDS } from '../../limits.ts'
import { cacheRegistered, cacheRemoved, purgeLists } from '../../registry/edge/index.ts'
import { etagsByName, publicTier } from '../../registry/index.ts'
import { getRegistry, type Registered, type WriteRejection } from '../../registry/store/index.ts'
import { agentConflict, agentNotFound } from '../agent-errors.ts'
import { agentPath, endpoint, json, jsonBody, noContent } from '../contract/index.ts'
import { Manifest, Receipt, toRegisteredSource } from '../schemas/index.ts'
import type { PreparedWrite, WriteRequest } from './prepare-write.ts'

/** What the reads of an agent's owner have in common. */
export const ownerRead = { tag: 'registry', access: 'write', params: agentPath, problems: ['agent-not-found'] } as const

/** What the writes of an agent have in common. */
export const agentWrite = { ...ownerRead, limits: ['WRITE_LIMIT'] } as const

/** Describes the receipt of a registration. */
export const receipt = (description: string) => json(description, Receipt, { headers: ['ETag'] })

/** The problems of a registration. */
export const REGISTRATION_PROBLEMS = [
  ...(['forbidden', 'invalid-card', 'secret-in-card', 'host-taken', 'incompatible-version', 'conflict'] as const),
] as const

/** `PUT /agents/{id}`: registers or replaces an agent from a manifest or a bare card. */
export const putAgent = endpoint(
  {
    ...agentWrite,
    summary: 'Register or replace an agent',
    description:
      'A manifest, or a bare card in any dialect. The response reports what was filled in, converted and found.',
    conditional: true,
    body: jsonBody(Manifest),
    responses: { 200: receipt('The agent was replaced.'), 201: receipt('The agent was registered.') },
    problems: REGISTRATION_PROBLEMS,
  },
  ({ caller, request, env, ctx, params: { id }, precondition, body: document }) =>
    registerDocument({ caller, request, id, document, precondition }, env, ctx),
)

/** Registers a document as an agent. Returns the response with its receipt; returns or throws why there is none. */
export const registerDocument = async (write: WriteRequest, env: Env, ctx: ExecutionContext) => {
  // The compiler of cards is loaded for writers only.
  const { createPreparation } = await import('./prepare-write.ts')
  const { prepared, result } = await registerPrepared(createPreparation(write, env), write.caller, env)
  const { registration } = prepared
  if (result.outcome !== 'registered') return rejectionError(result, write.id, registration.expected)
  cacheRegistered(registration, result)
  purgeLists(ctx)
  const body = toReceipt(prepared, result)
  return { status: result.created ? 201 : 200, body, headers: { ETag: registration.manifestEtag } } as const
}

/** Returns what a writer gets for a registration. */
export const toReceipt = ({ registration, report, changes }: PreparedWrite, result: Registered): Receipt => {
  const { id, manifestEtag, cards, origin, source } = registration
  const { seq, revised, published, hosts, becameRoot } = result
  const { parts = [] } = cards.find(({ tier }) => tier === publicTier) ?? {}
  const rootNote = { pointer: '/hosts', message: 'set to ["*"]: the first agent of a host becomes its root agent' }
  return {
    ...{ id, seq, changed: revised, published },
    ...(revised && changes),
    root: hosts.includes('*'),
    urls: { card: cardUrl({ origin, id }), agent: `${origin}/agents/${id}` },
    etags: { manifest: manifestEtag, ...etagsByName(parts) },
    ...(source && { source: toRegisteredSource(source) }),
    ...(report && { report: becameRoot ? { ...report, filled: [...report.filled, rootNote] } : report }),
  }
}

const MAX_ATTEMPTS = 5

/** Prepares and registers an agent, again if it was changed, or its remote card refreshed, at the same time. */
export const registerPrepared = async (
  prepare: (isLast: boolean) => Promise<PreparedWrite>,
  caller: Principal,
  env: Env,
): Promise<{ prepared: PreparedWrite; result: Registered | WriteRejection }> => {
  for (let attempt = 1; ; attempt++) {
    const isLast = attempt === MAX_ATTEMPTS
    const prepared = await prepare(isLast)
    const result = await getRegistry(env).register(prepared.registration, isAdmin(caller))
    if (result.outcome !== 'conflict' || isLast) return { prepared, result }
  }
}

/** `DELETE /agents/{id}`: removes an agent, here at once and everywhere within the cache time. */
export const deleteAgent = endpoint(
  {
    ...agentWrite,
    summary: 'Remove an agent',
    conditional: true,
    responses: { 204: noContent('The agent was removed.') },
  },
  async ({ params: { id }, caller, precondition, env, ctx }) => {
    const result = await getRegistry(env).remove(id, precondition, actorOf(caller))
    if (result.outcome === 'unknown-agent') return agentNotFound(id)
    if (result.outcome === 'precondition-failed') return preconditionFailed(id, result.exists, precondition)
    cacheRemoved(id, result)
    purgeLists(ctx)
    return {}
  },
)

/** `DELETE /agents/{id}/tasks`: forgets which callers started which tasks, for an agent that uses its ids again. */
export const deleteTasks = endpoint(
  {
    ...agentWrite,
    summary: 'Forget which callers started which tasks of an agent',
    description:
      'For an agent with `gate.tasks: owner` that has restarted and uses ids again. No caller can reach its earlier ' +
      `tasks; after ${CLEARED_ID_SECONDS} seconds, it can use their ids again.`,
    responses: { 204: noContent('The tasks belong to nobody.') },
  },
  async ({ params: { id }, caller, env }) => {
    const result = await getRegistry(env).clearTasks(id, actorOf(caller))
    return result.outcome === 'cleared' ? {} : agentNotFound(id)
  },
)

/** `GET /agents/{id}/manifest`: the manifest as it was registered. */
export const getManifest = endpoint(
  {
    ...ownerRead,
    summary: 'Get the manifest as it was registered',
    responses: { 200: json('The manifest, or the bare card.', Manifest, { headers: ['ETag', 'Last-Modified'] }) },
  },
  async ({ params: { id }, env }) => {
    const found = await getRegistry(env).manifest(id)
    if (!found) return agentNotFound(id)
    const modified = new Date(found.modified).toUTCString()
    return { body: JSON.parse(found.manifest), headers: { ETag: found.etag, 'Last-Modified': modified } }
  },
)

/** Returns the error for a registration that the Registry rejected. */
export const rejectionError = (rejection: WriteRejection, id: string, precondition: Precondition) => {
  switch (rejection.outcome) {
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
      return preconditionFailed(id, rejection.exists, precondition)
  }
}

const preconditionFailed = (id: string, exists: boolean, { absent }: Precondition) => {
  const read = `GET /agents/${id}/manifest`
  const replaced = absent
    ? `Agent "${id}" exists already. To replace it, send If-Match with the ETag of ${read}.`
    : `Agent "${id}" has changed since you read it. Read it again (${read}) and use its ETag.`
  const detail = exists ? replaced : `No agent "${id}" exists to replace. Register it without If-Match.`
  return problem('precondition-failed', detail)
}
