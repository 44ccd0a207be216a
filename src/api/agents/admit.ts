import { type A2ACall, type CallError, errorResponse, errorText, methodOf, type Refusal } from '../../a2a/index.ts'
import { ANONYMOUS, type Authentication } from '../../auth/index.ts'
import type { CallProfile } from '../../card/index.ts'
import { latestVersion } from '../../card/model/index.ts'
import {
  admit,
  checkUpstreamReader,
  type Exchange,
  getGate,
  isSendable,
  kindsOf,
  loadExtendedCard,
  type Permitted,
  readExtendedModes,
} from '../../gateway/gate/index.ts'
import { createExchange, decideByCard, isRefusedByModes, prepareRequest } from '../../gateway/index.ts'
import type { RequestContext } from '../../http/index.ts'
import type { JsonObject } from '../../json/index.ts'
import { readProfile } from '../../registry/edge/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import { endpoint, json, jsonBody } from '../contract/index.ts'
import { Admission, AdmitRequest } from '../schemas/index.ts'
import { agentWrite } from './registration.ts'

/** `POST /agents/{id}/admit`: decides on a call with the agent's current gate, and sends nothing. */
export const admitCall = endpoint(
  {
    ...agentWrite,
    summary: 'Decide on a call without sending it',
    description:
      "A dry run: the decision of the agent's gate, and the response that a refused caller would get. It counts " +
      'against no limit of calls, and no call is logged. Credentials and rate limits of the caller are not checked.',
    body: jsonBody(AdmitRequest, { problem: 'invalid-admit-request', outcome: 'Nothing was decided.' }),
    responses: { 200: json('The decision, and its reason.', Admission) },
  },
  async ({ params: { id }, body: { call, http, headers, caller: rights }, request: { url }, env, ctx }) => {
    const profile = await readProfile(id, env, ctx)
    if (profile === null) return agentNotFound(id)
    const { method, path, body } = http ?? { method: 'POST', path: undefined, body: call }
    const hasBody = method === 'POST' && body !== undefined
    const request = new Request(`${new URL(url).origin}/agents/${id}/a2a${path === undefined ? '' : `/${path}`}`, {
      method,
      headers: { ...(hasBody && { 'Content-Type': 'application/json' }), ...headers },
      body: hasBody ? JSON.stringify(body) : null,
    })
    const principal = { authenticated: true, subject: 'dry-run', agents: [id], strippedHeaders: [] } as const
    const caller = rights ? { ...principal, ...rights } : ANONYMOUS
    return { body: await dryRun({ request, env, ctx }, { id, profile, caller }) }
  },
)

type CalledAgent = { id: string; profile: CallProfile; caller: Authentication }

/**
 * Decides on a call as if this caller sent it now. Sends, counts, records and logs nothing: the request must have no
 * credentials. What only a real call shows is `notChecked`: the owner of a task, which it may record, and the modes of
 * an extended card that the agent itself serves.
 */
export const dryRun = async (context: RequestContext, { id, profile, caller }: CalledAgent) => {
  const exchange = createExchange(context, id)
  const gate = getGate(id, profile, context.env)
  Object.assign(exchange, { caller, gate })
  const byCard = exchange.parseBody(await exchange.readBody()) ?? decideByCard(exchange)
  const { call } = exchange
  const needsModes = call !== undefined && isRefusedByModes(byCard)
  const modes = needsModes && !profile.agentServesExtendedCard ? await readExtendedModes(gate, exchange) : undefined
  const decision = modes && call ? admit(gate, call, caller, modes) : byCard
  const { target, isTranslated, warnings } = { target: undefined, isTranslated: false, warnings: [], ...decision }
  exchange.warnings = warnings
  const error = 'kind' in decision ? decision : await findError(decision, exchange)
  return {
    decision: error ? 'refused' : target ? 'permitted' : 'answered',
    ...(error && describe(error, exchange)),
    warnings: exchange.warnings.map(warning => kindsOf([warning])),
    ...(call && { operation: methodOf(call.operation, latestVersion) ?? call.operation, ...protocolOf(call) }),
    ...(target && { target: { ...protocolOf(target), translated: isTranslated } }),
    ...(modes && { extendedModes: true }),
    notChecked: [
      ...(target && profile.tasks === 'owner' ? (['task-owner'] as const) : []),
      ...(needsModes && profile.agentServesExtendedCard ? (['extended-card'] as const) : []),
    ],
  } as const
}

const protocolOf = ({ binding, version }: Pick<A2ACall, 'binding' | 'version'>) => ({ binding, version })

/** Describes an error as the log names it, and as the caller gets it. */
const describe = (error: CallError, exchange: Exchange) => {
  const form = exchange.call ?? exchange.errorForm()
  const body: JsonObject = JSON.parse(errorText(error, form))
  const response = { status: errorResponse(error, form).status, body }
  return { reason: error.kind, ...(error.kind === 'misconfigured' && { detail: error.detail }), error: response }
}

/** Does with a permitted call what a real one undergoes until it is sent, or answered here. Returns what fails. */
const findError = async (permitted: Permitted, exchange: Exchange): Promise<Refusal> => {
  const { call, gate } = permitted
  if (!isSendable(permitted)) {
    const card = await loadExtendedCard(gate, call.dialect, exchange)
    return 'kind' in card ? card : undefined
  }
  const isCard = call.operation === 'extendedCard'
  const denied = isCard ? checkUpstreamReader(gate, exchange.caller) : undefined
  if (denied) return denied
  const sent = isCard ? { ...permitted, call: { ...call, params: {} } } : permitted
  const request = await prepareRequest(sent, exchange)
  return 'kind' in request ? request : undefined
}
