import * as v from 'valibot'
import { audited, countRequest, requireWriter } from '../../auth/index.ts'
import { agentIdPattern, type Receipt, type ServedReceipt, type StoredReceipt } from '../../card/model/index.ts'
import { type CheckedAgent, receiptHost, runChecks, signReceipt, summarize } from '../../conformance/index.ts'
import {
  type Handler,
  HttpError,
  jsonResponse,
  PRIVATE_NO_STORE,
  parseSeconds,
  publicCacheControl,
  type RequestContext,
  readJson,
  respondWithDocument,
} from '../../http/index.ts'
import { isJsonObject, type Json } from '../../json/index.ts'
import { CHECK_TIMEOUT_SECONDS } from '../../limits.ts'
import { cacheReceipt, readDocument, readProfile, readReceipt } from '../../registry/edge/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { StoredManifest } from '../../registry/tables/index.ts'
import { agentCard, loadCard } from '../cards.ts'
import { agentNotFound, upstreamCardUnavailable } from '../errors.ts'
import { CheckRequest } from '../requests.ts'

/** `POST /agents/{id}/check`: tests an agent against its card, and stores the receipt. */
export const postCheck: Handler = audited(async (request, env, ctx, params) => {
  const context = { request, env, ctx }
  const { principal, id } = await requireWriter(context, params)
  const send = await readSend(request)
  await countRequest(env.CALL_LIMIT, principal.subject, 'Too many calls of this token.')
  const registry = getRegistry(env)
  const [manifest, source, profile] = await Promise.all([
    registry.manifest(id),
    registry.sourceRecord(id),
    readProfile(id, env, ctx),
  ])
  if (!manifest || !profile) throw agentNotFound(id)
  const card = await readCheckedCard(id, env)
  const sourceAddress = source?.source.kind === 'card' ? source.source : undefined
  const agent: CheckedAgent = {
    ...{ id, profile, source: sourceAddress, caller: principal.subject, context, serveCard: agentCard },
    seconds: Math.min(CHECK_TIMEOUT_SECONDS, parseSeconds(env.UPSTREAM_TIMEOUT, CHECK_TIMEOUT_SECONDS)),
  }
  if (!(await registry.beginCheck(id)))
    throw new HttpError(409, 'check-running', `Another check of agent "${id}" is running.`, {
      headers: { 'Retry-After': '10' },
    })
  const checking = check(agent, { card, send, manifest })
  // A client that leaves must not leave the agent behind as one that is being checked.
  ctx.waitUntil(checking.catch(() => undefined))
  const stored = await checking
  return jsonResponse({ ...stored, current: true } satisfies ServedReceipt, 200, { 'Cache-Control': PRIVATE_NO_STORE })
})

const readSend = async (request: Request): Promise<boolean> => {
  if (request.body === null || request.headers.get('Content-Length') === '0') return false
  const body = await readJson(request)
  if (v.is(CheckRequest, body)) return body.send === true
  throw new HttpError(422, 'invalid-check', 'The body must be empty, or {"send": true} to send a message, too.')
}

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

const check = async (agent: CheckedAgent, plan: CheckPlan): Promise<StoredReceipt> => {
  const { id, context } = agent
  let stored: StoredReceipt | null = null
  try {
    stored = await makeReceipt(agent, plan)
    cacheReceipt(id, stored)
    return stored
  } finally {
    await getRegistry(context.env).endCheck(id, stored)
  }
}

const makeReceipt = async (agent: CheckedAgent, { card, send, manifest }: CheckPlan): Promise<StoredReceipt> => {
  const { env } = agent.context
  const tests = await runChecks(agent, send)
  const receipt: Receipt = {
    ...{ agent: agent.id, card, checked: new Date().toISOString(), host: receiptHost(manifest, env), send },
    ...{ summary: summarize(tests), tests },
  }
  return signReceipt(receipt, manifest, env)
}

/** `GET /agents/{id}/receipt`: the receipt of the newest check of an agent, for callers who may read its card. */
export const getReceipt: Handler = async (request, env, ctx, { id = '' }) => {
  const etag = agentIdPattern.test(id) ? await findEtag(id, { request, env, ctx }) : null
  if (etag === null) throw agentNotFound(id)
  const stored = await readReceipt(id, env, ctx)
  if (stored === null)
    throw new HttpError(404, 'no-receipt', `Agent "${id}" was never checked. POST /agents/${id}/check checks it.`)
  const served: ServedReceipt = { ...stored, current: stored.receipt.card.etag === etag }
  return respondWithDocument(served, request.headers, {
    'Cache-Control': publicCacheControl(env),
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
