import { type A2ACall, type CallError, methodOf, pathOf } from '../a2a/index.ts'
import { callerKey } from '../auth/index.ts'
import { compileAgentExtendedCard, parseStored } from '../card/compile/index.ts'
import type { CallProfile } from '../card/index.ts'
import type { Manifest } from '../card/manifest/index.ts'
import {
  type AgentCard,
  type CallModes,
  type CallTarget,
  collectModes,
  type RepresentationName,
  signedNames,
} from '../card/model/index.ts'
import { signCard } from '../card/signatures/index.ts'
import { log, sha256Hex } from '../http/index.ts'
import { isJsonObject, type JsonObject, parseUnambiguous } from '../json/index.ts'
import { EXTENDED_MODES_SECONDS, MAX_AGENT_EXTENDED_CARD_BYTES } from '../limits.ts'
import { ClockCache } from '../registry/edge/index.ts'
import { getRegistry } from '../registry/store/index.ts'
import { createSigning } from '../signing/index.ts'
import { forwardCall } from './forward-call.ts'
import { type CallContext, checkReadAccess, type InboundCall, PAST_LIMIT, targetOf, UNAVAILABLE } from './gate/index.ts'
import { jsonRpcMessage, rewriteRoutingParams, type UpstreamMessage } from './upstream/start.ts'

/** A call for the extended card, or one that is checked against it. */
type CheckedCall = { call: A2ACall; profile: CallProfile; target: CallTarget }

/** The extended card in every representation; its manifest and the origin of this host decide how it is signed. */
type ExtendedCard = { documents: Record<RepresentationName, JsonObject>; manifest: Manifest; origin: string }

/**
 * Fetches the extended card from the agent with the caller's own credentials, and returns it as this host serves it in
 * the dialect of the call, signed as its public card is. If the agent refuses the call, returns its response. The card
 * is not cached: it may be for this caller alone.
 */
export const fetchExtendedCard = async (
  context: CallContext,
  checked: CheckedCall,
  inbound: Pick<InboundCall, 'wrapCard'>,
): Promise<Response | CallError> => {
  const card = await fetchCard(context, checked)
  if (!('documents' in card)) return card
  const { dialect } = checked.call
  const document = card.documents[dialect]
  const mustSign = document.signatures === undefined && signedNames.some(name => name === dialect)
  const signing = mustSign ? await createSigning(card, {}, context.env) : undefined
  const signed = signing && 'signer' in signing ? (await signCard(document, signing.signer)).document : document
  return inbound.wrapCard({ body: new TextEncoder().encode(JSON.stringify(signed)) as Uint8Array<ArrayBuffer> })
}

/** Characters of JSON text. The overhead of an entry is that of the objects around it. */
const MAX_KNOWN_LENGTH = 2 * 1024 * 1024
const ENTRY_OVERHEAD = 300

/**
 * The modes of the extended card for a caller until `expires`, in ms since 1970, by a digest of what they depend on.
 * Nothing else of a card stays in memory: it is for its caller.
 */
const knownModes = new ClockCache<{ modes: CallModes | undefined; expires: number; size: number }>(MAX_KNOWN_LENGTH)

/**
 * Returns the modes of the extended card that the agent returns to the caller; undefined if it returns none, or if the
 * caller has no credentials with which to fetch it. Other failures may pass, so they are not remembered.
 */
export const fetchExtendedModes = async (
  context: CallContext,
  profile: CallProfile,
): Promise<CallModes | undefined> => {
  const { call, request } = context
  const target = call && targetOf(call, profile)
  const credentials = ['authorization', ...profile.apiKeyHeaders].map(name => request.headers.get(name))
  if (!call || !target || credentials.every(value => value === null)) return undefined
  const subject = context.caller.authenticated ? context.caller.subject : ''
  const key = await sha256Hex(JSON.stringify([context.agent.id, profile, target, subject, ...credentials]))
  const known = knownModes.get(key)
  if (known && known.expires > Date.now()) return known.modes
  // A copy, because the log line is about the call itself.
  const card = await fetchCard({ ...context }, { call, profile, target })
  if (!('documents' in card) && !hasNone(card)) return undefined
  const modes = 'documents' in card ? collectModes(card.documents['1.0'] as unknown as AgentCard) : undefined
  const size = ENTRY_OVERHEAD + JSON.stringify(modes ?? null).length
  knownModes.set(key, { modes, expires: Date.now() + EXTENDED_MODES_SECONDS * 1000, size })
  return modes
}

/** Checks whether the agent itself responded, with an error of A2A, a status 4xx or an invalid card. */
const hasNone = (response: Response | CallError): boolean =>
  'status' in response && response.status !== undefined && [2, 4].includes(Math.trunc(response.status / 100))

const fetchCard = async (
  context: CallContext,
  { call, profile, target }: CheckedCall,
): Promise<ExtendedCard | Response | CallError> => {
  // With a secret of this Worker all callers are one to the agent, so this host decides who may read the card.
  const denied = profile.secret === undefined ? undefined : checkReadAccess(context)
  if (denied) return denied
  const { caller, request, env } = context
  const { success } = await env.FETCH_LIMIT.limit({ key: `extended:${callerKey(caller, request)}` })
  if (!success) return PAST_LIMIT
  const extendedCall: A2ACall = { ...call, operation: 'extendedCard', params: {} }
  const { binding, version, id } = call
  // Callers may use the name that another host has for the method.
  const message: UpstreamMessage =
    binding === 'HTTP+JSON'
      ? { method: 'GET', path: pathOf('extendedCard', version) ?? '' }
      : jsonRpcMessage(id, methodOf('extendedCard', version) ?? '', rewriteRoutingParams({}, target))
  const inbound = { toUpstream: () => message }
  const response = await forwardCall(context, { call: extendedCall, profile, target, inbound })
  if ('kind' in response) return response
  const text = await response.text()
  const { ok, status } = response
  if (!ok) return new Response(text, response)
  if (new TextEncoder().encode(text).byteLength > MAX_AGENT_EXTENDED_CARD_BYTES)
    return { kind: 'response-too-large', maxBytes: MAX_AGENT_EXTENDED_CARD_BYTES, status }
  const parsed = parseUnambiguous(text, 'an Agent Card')
  const value = 'value' in parsed ? parsed.value : null
  const envelope = binding === 'JSONRPC' && isJsonObject(value) ? value : undefined
  if (envelope?.error !== undefined) return new Response(text, response)
  const card = envelope ? envelope.result : value
  return isJsonObject(card) ? compileFor(card, profile, context) : { kind: 'invalid-response', status }
}

/** Compiles the card with the agent's manifest. Logs why a card cannot be served: that is an invalid response. */
const compileFor = async (
  extendedCard: JsonObject,
  profile: CallProfile,
  { agent: { id }, env }: CallContext,
): Promise<ExtendedCard | CallError> => {
  const base = await loadBase(id, profile, env)
  if (base === undefined) return UNAVAILABLE
  if (base?.publicCard === undefined) return { kind: 'extended-card-not-configured' }
  const { parsed, publicCard } = base
  const compiled =
    'errors' in parsed ? parsed : compileAgentExtendedCard(parsed, JSON.parse(publicCard) as JsonObject, extendedCard)
  if ('documents' in compiled) return compiled
  const [{ pointer, message } = { pointer: '', message: '' }] = compiled.errors
  log('error', 'extended-card-invalid', {
    'gen_ai.agent.id': id,
    'calling_card.pointer': pointer,
    'calling_card.detail': message,
  })
  return { kind: 'invalid-response', status: 200 }
}

/** What an agent's public card was compiled from, as JSON text if it was fetched. */
type PublicCardBase = { parsed: ReturnType<typeof parseStored>; publicCard: string | undefined }

/** What each agent's public card was compiled from, and the profile that was compiled from the same or before. */
const knownBases = new ClockCache<{ base: PublicCardBase; profile: CallProfile; size: number }>(MAX_KNOWN_LENGTH)

/** Reads what the public card was compiled from, once for a profile; undefined while the Registry is unavailable. */
const loadBase = async (id: string, profile: CallProfile, env: Env): Promise<PublicCardBase | null | undefined> => {
  const known = knownBases.get(id)
  if (known && known.profile === profile) return known.base
  try {
    const stored = await getRegistry(env).refreshBase(id)
    if (!stored) return null
    const { card } = stored.record
    const base = { parsed: parseStored(id, stored), publicCard: card }
    knownBases.set(id, { base, profile, size: ENTRY_OVERHEAD + 3 * stored.manifest.length + (card?.length ?? 0) })
    return base
  } catch (error) {
    log('error', 'registry-unavailable', { 'gen_ai.agent.id': id, 'exception.message': String(error) })
    return undefined
  }
}
