import { requireWriter } from '../../auth/index.ts'
import { compile } from '../../card/compile/index.ts'
import {
  type AgentCard,
  collectModes,
  createObservations,
  type Observations,
  type Outcomes,
} from '../../card/model/index.ts'
import { compareWithObservations, type Proposal } from '../../conformance/index.ts'
import { type Handler, jsonResponse, PRIVATE_NO_STORE } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { sendObservations } from '../../registry/edge/index.ts'
import type { SourceRecord } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import type { StoredManifest } from '../../registry/tables/index.ts'
import { agentNotFound } from '../errors.ts'

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
  const proposals = proposeChanges({ id, stored, source, observations }, env)
  const body = { id, ...serializeObservations(observations ?? createObservations(0)), ...(proposals && { proposals }) }
  return jsonResponse(body, 200, { 'Cache-Control': PRIVATE_NO_STORE })
}

type ObservedAgent = {
  id: string
  stored: StoredManifest
  source: SourceRecord | null
  observations: Observations | null
}

/** Compares the card of an agent with its calls. Returns undefined without a valid card, as when a remote one was never fetched. */
const proposeChanges = (
  { id, stored, source, observations }: ObservedAgent,
  { PUBLIC_URL: publicUrl }: Env,
): Proposal[] | undefined => {
  const fetched = source?.card === undefined ? undefined : (JSON.parse(source.card) as JsonObject)
  const result = compile(JSON.parse(stored.manifest), { id, publicUrl, requestOrigin: stored.origin, fetched })
  if ('errors' in result) return undefined
  if (!observations) return []
  const { direct: card, profile, extended, toAuthored } = result.compiled
  const extendedOutputModes = extended.flatMap(
    ({ documents }) => collectModes(documents['1.0'] as unknown as AgentCard).union.output,
  )
  const declared = { card, targets: profile.targets, extendedOutputModes }
  return compareWithObservations(declared, observations).map(proposal => ({
    ...proposal,
    pointer: toAuthored(proposal.pointer),
  }))
}

const serializeObservations = ({ first, last, calls, failures, ...observed }: Observations) => {
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  return {
    calls,
    ...(calls > 0 && { since: toIsoTime(first), lastSeen: toIsoTime(last) }),
    errorRate: calls === 0 ? 0 : Number((failed / calls).toFixed(4)),
    failures,
    streaming: observed.streaming,
    pushNotifications: observed.pushNotifications,
    interfaces: Object.entries(observed.protocols).map(([protocol, outcomes]) => serializeProtocol(protocol, outcomes)),
    operations: observed.operations,
    mediaTypes: observed.mediaTypes,
  }
}

const serializeProtocol = (protocol: string, outcomes: Outcomes) => {
  const [protocolBinding, protocolVersion] = protocol.split(' ')
  return { protocolBinding, protocolVersion, ...outcomes }
}

const toIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
