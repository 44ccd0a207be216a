import type { Compiled } from '../../card/compile/index.ts'
import type { AgentCard, Observations, Receipt, StoredReceipt } from '../../card/model/index.ts'
import { agentIdPattern, collectModes, createObservations } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import type { CheckedAgent, Proposal } from '../../conformance/index.ts'
import { compareWithObservations, runChecks, signReceipt, summarize } from '../../conformance/index.ts'
import { problem } from '../../http/index.ts'
import { isJsonObject, type Json } from '../../json/index.ts'
import { CHECK_TIMEOUT_SECONDS } from '../../limits.ts'
import { cacheReceipt, readDocument, readProfile, readReceipt, sendObservations } from '../../registry/edge/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { StoredManifest } from '../../registry/tables/index.ts'
import { agentNotFound, UPSTREAM_PROBLEMS, upstreamCardUnavailable } from '../agent-errors.ts'
import { agentCard, loadCard } from '../card-endpoints.ts'
import { agentPath, type CallerContext, endpoint, json, jsonBody } from '../contract/index.ts'
import { CheckRequest, ConformanceReceipt, Observed, toObserved } from '../schemas/index.ts'
import { agentWrite, ownerRead } from './registration.ts'

/** `POST /agents/{id}/check`: tests an agent against its card, and stores the receipt. */
export const checkAgent = endpoint(
  {
    ...agentWrite,
    summary: 'Test an agent against its card, and store a signed receipt',
    description:
      'Sends harmless calls through the gate and to the agent itself. With `send`, one message and one stream as ' +
      'well, which start work.',
    body: jsonBody(CheckRequest, { problem: 'invalid-check', outcome: 'Nothing was checked.', fallback: {} }),
    responses: { 200: json('The receipt.', ConformanceReceipt) },
    problems: ['agent-not-found', 'check-running', ...UPSTREAM_PROBLEMS],
    limits: ['WRITE_LIMIT', 'CALL_LIMIT'],
  },
  async ({ params: { id }, caller, body: { send = false }, request, env, ctx }) => {
    const registry = getRegistry(env)
    const [manifest, source, profile] = await Promise.all([
      registry.manifest(id),
      registry.sourceRecord(id),
      readProfile(id, env, ctx),
    ])
    if (!manifest || !profile) return agentNotFound(id)
    const card = await readCheckedCard(id, env)
    const agent: CheckedAgent = {
      ...{ id, profile, caller: caller.subject, context: { request, env, ctx }, serveCard: agentCard },
      source: source?.source.kind === 'card' ? source.source : undefined,
      seconds: Math.min(CHECK_TIMEOUT_SECONDS, config(env).upstreamTimeoutSeconds),
    }
    if (!(await registry.beginCheck(id)))
      return problem('check-running', `Another check of agent "${id}" is running.`, {
        headers: { 'Retry-After': '10' },
      })
    const checking = check(agent, card, send, manifest)
    // A client that leaves must not leave the agent behind as one that is being checked.
    ctx.waitUntil(checking.catch(() => undefined))
    return { body: { ...(await checking), current: true } }
  },
)

/** Reads the version and the entity tag of an agent's public card, also of an internal agent. */
const readCheckedCard = async (id: string, env: Env): Promise<Receipt['card']> => {
  const document = await getRegistry(env).document(id, 'agent-card.json')
  if (document === null) throw agentNotFound(id)
  if (document.etag === undefined) throw upstreamCardUnavailable(document.source)
  const card: Json = JSON.parse(new TextDecoder().decode(document.bytes))
  const version = isJsonObject(card) && typeof card.version === 'string' ? card.version : ''
  return { version, etag: document.etag }
}

const check = async (agent: CheckedAgent, card: Receipt['card'], send: boolean, manifest: StoredManifest) => {
  const { id, context } = agent
  const { env } = context
  let stored: StoredReceipt | null = null
  try {
    const tests = await runChecks(agent, send)
    // Never the origin of the request, which is the caller's choice.
    const host = config(env).publicOrigin ?? manifest.origin
    const result = { checked: new Date().toISOString(), host, send, summary: summarize(tests), tests }
    stored = await signReceipt({ agent: id, card, ...result }, manifest, env)
    cacheReceipt(id, stored)
    return stored
  } finally {
    await getRegistry(env).endCheck(id, stored)
  }
}

/** `GET /agents/{id}/receipt`: the receipt of the newest check of an agent, for callers who may read its card. */
export const getReceipt = endpoint(
  {
    tag: 'registry',
    summary: 'Get the receipt of the newest check of an agent',
    access: 'optional',
    params: agentPath,
    responses: { 200: json('The receipt.', ConformanceReceipt) },
    validated: true,
    problems: ['agent-not-found', 'no-receipt'],
  },
  async ({ params: { id }, ...context }) => {
    const { env, ctx } = context
    const etag = agentIdPattern.test(id) ? await findEtag(id, context) : null
    if (etag === null) return agentNotFound(id)
    const stored = await readReceipt(id, env, ctx)
    return stored === null
      ? problem('no-receipt', `Agent "${id}" was never checked. POST /agents/${id}/check checks it.`)
      : { body: { ...stored, current: stored.receipt.card.etag === etag } }
  },
)

/** Returns the entity tag of an agent's public card, '' while it has none; null if the caller may not read it. */
const findEtag = async (id: string, context: CallerContext): Promise<string | null> => {
  const { caller, env, ctx } = context
  const profile = await readProfile(id, env, ctx)
  if (profile?.visibility === 'public') return (await readDocument(id, 'agent-card.json', env, ctx))?.etag ?? ''
  // What a caller reads of an internal agent may be an extended card.
  if ((await loadCard(id, 'agent-card.json', context, { caller, inList: true })) === null) return null
  return (await getRegistry(env).document(id, 'agent-card.json'))?.etag ?? ''
}

/** `GET /agents/{id}/observed`: what the calls of an agent have shown, and how its card differs from it. */
export const getObserved = endpoint(
  {
    ...ownerRead,
    summary: 'Get what the calls of an agent have shown, and how its card differs',
    responses: { 200: json('Counts of calls, and proposals.', Observed) },
  },
  async ({ params: { id }, env }) => {
    // A client that has just called an agent often reaches the same isolate.
    await sendObservations(id, env)
    const registry = getRegistry(env)
    const [stored, source, observations] = await Promise.all([
      registry.manifest(id),
      registry.sourceRecord(id),
      registry.observations(id),
    ])
    if (!stored) return agentNotFound(id)
    const { compile, parseStored } = await import('../../card/compile/index.ts')
    const parsed = parseStored(id, stored)
    const result = 'errors' in parsed ? parsed : compile(parsed, source?.card && JSON.parse(source.card))
    // Absent without a valid card, such as one never fetched.
    const proposals = 'compiled' in result && (observations ? proposeChanges(result.compiled, observations) : [])
    return { body: { id, ...toObserved(observations ?? createObservations(0)), ...(proposals && { proposals }) } }
  },
)

const proposeChanges = (compiled: Compiled, observations: Observations): Proposal[] => {
  const { direct: card, profile, extended, toAuthored } = compiled
  const extendedOutputModes = extended.flatMap(
    ({ documents }) => collectModes(documents['1.0'] as unknown as AgentCard).union.output,
  )
  const declared = { card, targets: profile.targets, extendedOutputModes }
  // The change stays one of the canonical card.
  const toProposal = (each: Proposal): Proposal => ({ ...each, pointer: toAuthored(each.pointer) })
  return compareWithObservations(declared, observations).map(toProposal)
}
