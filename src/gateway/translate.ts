import { type BridgedCall, bridgeCall } from '../a2a/bridge/index.ts'
import { type AnswerPlace, methodOf, type Refusal } from '../a2a/index.ts'
import { createTokenFinder } from '../auth/index.ts'
import type { CallTarget } from '../card/model/index.ts'
import { omit } from '../json/index.ts'
import { type Exchange, reportWarning, type Sendable } from './gate/index.ts'
import { jsonRpcMessage, rewriteRoutingParams, type TranslateAnswer, type UpstreamMessage } from './upstream/index.ts'

/** Translates a call for an agent of another version or binding, and arranges that its responses are, too. */
export const translateCall = (permitted: Sendable, exchange: Exchange): Refusal => {
  const { call, target } = permitted
  const { selector } = exchange
  const containsHostToken = createTokenFinder(exchange.env)
  // No agent may see a token of this host, in a body either.
  const queryWithTokens = Object.entries(call.sources?.query ?? {}).filter(
    ([name, value]) => call.params[name] === value && [name, value].some(containsHostToken),
  )
  // These are for this host, or replaced by those of the card.
  const replaced = [
    ...(selector === undefined ? [] : [selector]),
    ...(['tenant', 'agentName'] as const).filter(name => target[name] !== undefined),
    ...queryWithTokens.map(([name]) => name),
  ]
  const bridged = bridgeCall({ ...call, params: omit(call.params, ...replaced) }, target)
  if ('kind' in bridged) return bridged
  permitted.call = bridged.call
  permitted.message = writeMessage(bridged, target)
  permitted.translate = reportLosses(exchange, bridged)
  return undefined
}

/** Writes a translated call, with the tenant and agent name of the card. */
const writeMessage = ({ call, httpMethod, path, hasBody }: BridgedCall, target: CallTarget): UpstreamMessage => {
  const params = rewriteRoutingParams(call.params, target)
  const { operation, version, id, binding } = call
  if (binding === 'JSONRPC') return jsonRpcMessage(id, methodOf(operation, version) ?? '', params)
  return { method: httpMethod, ...(path !== undefined && { path }), ...(hasBody && { body: JSON.stringify(params) }) }
}

/** Reports what the translation of a call and its answers loses, each member once. */
const reportLosses = (exchange: Exchange, { losses, translate }: BridgedCall): TranslateAnswer => {
  const reported = new Set<string>()
  const report = (lost: readonly string[], place: AnswerPlace): void => {
    const found = [...new Set(lost.map(path => path.replaceAll(/\[\d+\]/g, '[]')))].filter(path => !reported.has(path))
    for (const path of found) reported.add(path)
    if (found.length > 0) reportWarning(exchange, { kind: 'lossy', losses: found }, place)
  }
  report(losses, 'response')
  return (text, place, status) => {
    const translated = translate(text, place, status)
    if ('losses' in translated) report(translated.losses, place)
    return translated
  }
}
