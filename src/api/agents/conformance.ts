import { audited, countRequest, requireWriter } from '../../auth/index.ts'
import type { Compiled } from '../../card/compile/index.ts'
import {
  type AgentCard,
  agentIdPattern,
  collectModes,
  createObservations,
  type Observations,
  type Receipt,
  type ServedReceipt,
  type StoredReceipt,
} from '../../card/model/index.ts'
import { config } from '../../config.ts'
import {
  type CheckedAgent,
  compareWithObservations,
  type Proposal,
  receiptHost,
  runChecks,
  signReceipt,
  summarize,
} from '../../conformance/index.ts'
import { type Handler, problem, type RequestContext, respondWithDocument } from '../../http/index.ts'
import { isJsonObject, type Json, type JsonObject } from '../../json/index.ts'
import { CHECK_TIMEOUT_SECONDS } from '../../limits.ts'
import { cacheReceipt, readDocument, readProfile, readReceipt, sendObservations } from '../../registry/edge/index.ts'
import type { SourceRecord } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { StoredManifest } from '../../registry/tables/index.ts'
import { agentNotFound, upstreamCardUnavailable } from '../agent-errors.ts'
import { agentCard, loadCard } from '../card-endpoints.ts'
import { readBody } from '../parse-request.ts'
import { privateJson } from '../private-responses.ts'
import { CheckRequest } from '../schemas/index.ts'

/** `POST /agents/{id}/check`: tests an agent against its card, and stores the receipt. */
export const postCheck: Handler = audited(async (request, env, ctx, params) => {
  const context = { request, env, ctx }
  const { principal, id } = await requireWriter(context, params)
  const form = 'empty, or {"send": true} to send a message, too'
  const { send = false } = await readBody(request, CheckRequest, { code: 'invalid-check', form, empty: {} })
  await countRequest(env.CALL_LIMIT, principal.subject, 'Too many calls of this token.')
  const registry = getRegistry(env)
  const [manifest, source, profile] = await Promise.all([
    registry.manifest(id),
    registry.sourceRecord(id),
    readProfile(id, env, ctx),
  ])
  if (!manifest || !profile) throw agentNotFound(id)
  const card = await readCheckedCard(id, env)
  const agent: CheckedAgent = {
    ...{ id, profile, caller: principal.subject, context, serveCard: agentCard },
    source: source?.source.kind === 'card' ? source.source : undefined,
    seconds: Math.min(CHECK_TIMEOUT_SECONDS, config(env).upstreamTimeoutSeconds),
  }
  if (!(await registry.beginCheck(id)))
    throw problem('check-running', `Another check of agent "${id}" is running.`, {
      headers: { 'Retry-After': '10' },
    })
  const checking = check(agent, { card, send, manifest })
  // A client that leaves must not leave the agent behind as one that is being checked.
  ctx.waitUntil(checking.catch(() => undefined))
  const stored = await checking
  return privateJson({ ...stored, current: true } satisfies ServedReceipt)
})

/** Reads the version and the entity tag of an agent's public card, also of an internal agent. */
const readCheckedCard = async (id: string, env: Env): Promise<Receipt['card']> => {
  const document = await getRegistry(env).document(id, 'agent-card.json')
  if (document === null) throw agentNotFound(id)
  if (document.etag === undefined) throw upstreamCardUnavailable(document.source)
  const card: Json = JSON.parse(new TextDecoder().decode(document.bytes))
  const version = isJsonObject(card) && typeof card.version === 'string' ? card.version : ''
  return { version, etag: document.etag }
}

type CheckPlan = { card: Receipt['card']; send: boolean; manifest: StoredManifest }

const check = async (agent: CheckedAgent, { card, send, manifest }: CheckPlan): Promise<StoredReceipt> => {
  const { id, context } = agent
  const { env } = context
  let stored: StoredReceipt | null = null
  try {
    const tests = await runChecks(agent, send)
    const host = receiptHost(manifest, env)
    const result = { checked: new Date().toISOString(), host, send, summary: summarize(tests), tests }
    stored = await signReceipt({ agent: id, card, ...result }, manifest, env)
    cacheReceipt(id, stored)
    return stored
  } finally {
    await getRegistry(env).endCheck(id, stored)
  }
}

/** `GET /agents/{id}/receipt`: the receipt of the newest check of an agent, for callers who may read its card. */
export const getReceipt: Handler = async (request, env, ctx, { id = '' }) => {
  const etag = agentIdPattern.test(id) ? await findEtag(id, { request, env, ctx }) : null
  if (etag === null) throw agentNotFound(id)
  const stored = await readReceipt(id, env, ctx)
  if (stored === null)
    throw problem('no-receipt', `Agent "${id}" was never checked. POST /agents/${id}/check checks it.`)
  const served: ServedReceipt = { ...stored, current: stored.receipt.card.etag === etag }
  return respondWithDocument(served, request.headers, {
    'Cache-Control': config(env).publicCacheControl,
    'Content-Type': 'application/json',
  })
}

/** Returns the entity tag of an agent's public card, '' while it has none; null if the caller may not read it. */
const findEtag = async (id: string, context: RequestContext): Promise<string | null> => {
  const { env, ctx } = context
  const profile = await readProfile(id, env, ctx)
  if (profile?.visibility === 'public') return (await readDocument(id, 'agent-card.json', env, ctx))?.etag ?? ''
  // What a caller reads of an internal agent may be an extended card.
  if ((await loadCard(id, 'agent-card.json', context, { inList: true })) === null) return null
  return (await getRegistry(env).document(id, 'agent-card.json'))?.etag ?? ''
}

// Observations

/** `GET /agents/{id}/observed`: what the calls of an agent have shown, and how its card differs from it. */
export const getObserved: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  // A client that has just called an agent often reaches the same isolate.
  await sendObservations(id, env)
  const registry = getRegistry(env)
  const [stored, source, observations] = await Promise.all([
    registry.manifest(id),
    registry.sourceRecord(id),
    registry.observations(id),
  ])
  if (!stored) throw agentNotFound(id)
  const compiled = await compileStored(id, stored, source, env)
  // Absent without a valid card, such as one never fetched.
  const proposals = compiled && (observations ? proposeChanges(compiled, observations) : [])
  const observed = serializeObservations(observations ?? createObservations(0))
  return privateJson({ id, ...observed, ...(proposals && { proposals }) })
}

const compileStored = async (
  id: string,
  { manifest, origin }: StoredManifest,
  source: SourceRecord | null,
  env: Env,
): Promise<Compiled | undefined> => {
  const { compile } = await import('../../card/compile/index.ts')
  const fetched: JsonObject | undefined = source?.card === undefined ? undefined : JSON.parse(source.card)
  const { publicOrigin } = config(env)
  const result = compile(JSON.parse(manifest), { id, publicOrigin, requestOrigin: origin, fetched })
  return 'compiled' in result ? result.compiled : undefined
}

/** Compares the card of an agent with its calls. */
const proposeChanges = (compiled: Compiled, observations: Observations): Proposal[] => {
  const { direct: card, profile, extended, toAuthored } = compiled
  const extendedOutputModes = extended.flatMap(
    ({ documents }) => collectModes(documents['1.0'] as unknown as AgentCard).union.output,
  )
  const declared = { card, targets: profile.targets, extendedOutputModes }
  return compareWithObservations(declared, observations).map(proposal => ({
    ...proposal,
    pointer: toAuthored(proposal.pointer),
  }))
}

const serializeObservations = ({ first, last, calls, failures, protocols, ...observed }: Observations) => {
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  const { streaming, pushNotifications, operations, mediaTypes } = observed
  return {
    calls,
    ...(calls > 0 && { since: new Date(first).toISOString(), lastSeen: new Date(last).toISOString() }),
    errorRate: calls === 0 ? 0 : Number((failed / calls).toFixed(4)),
    ...{ failures, streaming, pushNotifications, operations, mediaTypes },
    interfaces: Object.entries(protocols).map(([protocol, outcomes]) => {
      const [protocolBinding, protocolVersion] = protocol.split(' ')
      return { protocolBinding, protocolVersion, ...outcomes }
    }),
  }
}
