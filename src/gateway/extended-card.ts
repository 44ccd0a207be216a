import { type A2ACall, type CallError, methodOf, pathOf } from '../a2a/index.ts'
import { callerKey } from '../auth/index.ts'
import { type AgentCard, type CallModes, collectModes, signedNames } from '../card/model/index.ts'
import { signCard } from '../card/signatures/index.ts'
import { sha256Hex } from '../http/index.ts'
import { isJsonObject, parseUnambiguous } from '../json/index.ts'
import { EXTENDED_MODES_SECONDS, MAX_AGENT_EXTENDED_CARD_BYTES } from '../limits.ts'
import { ClockCache } from '../registry/edge/index.ts'
import { createSigning } from '../signing/index.ts'
import { type AgentExtendedCard, compileAgentCard } from '../sources/index.ts'
import type { Exchange, Gate, Sendable } from './gate/index.ts'
import { checkUpstreamReader, PAST_LIMIT, permit, UNAVAILABLE } from './gate/index.ts'
import { send } from './send.ts'
import { jsonRpcMessage, rewriteRoutingParams } from './upstream/index.ts'

/**
 * Fetches the extended card from the agent with the caller's own credentials, and returns it as this host serves it in
 * the dialect of the call, signed as its public card is. If the agent refuses the call, returns its response. The card
 * is not cached: it may be for this caller alone.
 */
export const fetchExtendedCard = async (permitted: Sendable, exchange: Exchange): Promise<Response | CallError> => {
  const card = await fetchCard(permitted, exchange)
  if (!('documents' in card)) return card
  const { dialect } = permitted.call
  const document = card.documents[dialect]
  const mustSign = document.signatures === undefined && signedNames.some(name => name === dialect)
  const signing = mustSign ? await createSigning(card, {}, permitted.gate.env) : undefined
  const signed = signing && 'signer' in signing ? (await signCard(document, signing.signer)).document : document
  return exchange.wrapCard({ body: new TextEncoder().encode(JSON.stringify(signed)) as Uint8Array<ArrayBuffer> })
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
export const fetchExtendedModes = async (gate: Gate, exchange: Exchange): Promise<CallModes | undefined> => {
  const { call, caller, request } = exchange
  const target = call && gate.route(call).target
  const credentials = ['authorization', ...gate.profile.apiKeyHeaders].map(name => request.headers.get(name))
  if (!call || !target || credentials.every(value => value === null)) return undefined
  const subject = caller.authenticated ? caller.subject : ''
  const key = await sha256Hex(JSON.stringify([gate.id, gate.profile, target, subject, ...credentials]))
  const known = knownModes.get(key)
  if (known && known.expires > Date.now()) return known.modes
  // The log line is about the call itself, so its exchange does not learn what is found here.
  const card = await fetchCard({ ...permit(gate, call), target }, Object.create(exchange))
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
  permitted: Sendable,
  exchange: Exchange,
): Promise<AgentExtendedCard | Response | CallError> => {
  const { gate, target } = permitted
  const { caller, request, env } = exchange
  const denied = checkUpstreamReader(gate, caller)
  if (denied) return denied
  const { success } = await env.FETCH_LIMIT.limit({ key: `extended:${callerKey(caller, request)}` })
  if (!success) return PAST_LIMIT
  const { binding, version, id } = permitted.call
  const call: A2ACall = { ...permitted.call, operation: 'extendedCard', params: {} }
  // Callers may use the name that another host has for the method.
  const message =
    binding === 'HTTP+JSON'
      ? { method: 'GET', path: pathOf('extendedCard', version) ?? '' }
      : jsonRpcMessage(id, methodOf('extendedCard', version) ?? '', rewriteRoutingParams({}, target))
  const response = await send({ ...permitted, call, message }, exchange)
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
  if (!isJsonObject(card)) return { kind: 'invalid-response', status }
  const compiled = await compileAgentCard(card, gate, env)
  if (compiled === 'unavailable') return UNAVAILABLE
  if (compiled === 'not-configured') return { kind: 'extended-card-not-configured' }
  return compiled === 'invalid' ? { kind: 'invalid-response', status: 200 } : compiled
}
