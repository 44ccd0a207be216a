import { restErrorAnswer } from '../a2a/error-answer.ts'
import { matchRest } from '../a2a/rest-operations.ts'
import type { Failure, Refusal } from '../a2a/verdict.ts'
import type { JsonObject } from '../card/json.ts'
import { agentOfHost } from '../registry/hosts.ts'
import { agentNamed } from '../registry/names.ts'
import type { Addressee } from './calls/admission.ts'
import { callBody } from './calls/call-body.ts'
import { errorResponse } from './calls/call-responses.ts'
import { passCall, refuseCall } from './calls/pass-call.ts'
import { restCall } from './calls/rest-call.ts'
import { rpcCall } from './calls/rpc-call.ts'
import type { Handler } from './handler.ts'
import { hostNameOf } from './host-name.ts'
import { otherMethod } from './other-method.ts'

const noName: Refusal = {
  refused: 'invalid-params',
  detail: 'Say in `agentName` which agent the call is for.',
  violations: [{ field: 'agentName', description: 'must be the name or id of an agent' }],
}

/** Finds the agent whose a call is; or what is wrong with how the call names it. */
type FindAgent = (
  params: JsonObject,
  ...rest: Parameters<Handler>
) => Promise<Addressee | Refusal> | Addressee | Refusal

const byId = (id = ''): Addressee => ({ id, named: id })

const rpcEndpoint =
  (find: FindAgent): Handler =>
  async (request, env, ctx) => {
    const asked = rpcCall(request, await callBody(request, true))
    const { envelope } = asked
    if ('refusal' in envelope) return refuseCall(asked, envelope.refusal)
    const addressee = await find(envelope.params, request, env, ctx)
    return 'refused' in addressee ? refuseCall(asked, addressee) : passCall(asked, addressee, request, env, ctx)
  }

/** `POST /agents/{id}/a2a` and `POST /agents/{id}`: a JSON-RPC call of one agent. */
export const agentCall: Handler = rpcEndpoint((_, { params }) => byId(params.id))

/** `POST /a2a`: a JSON-RPC call of the agent that `tenant` names, else of the one that the host name stands for. */
export const hostCall: Handler = rpcEndpoint(async ({ tenant }, request, env, ctx) => {
  if (typeof tenant === 'string' && tenant !== '') return byId(tenant)
  return { id: (await agentOfHost(hostNameOf(request), env, ctx)) ?? '', named: '' }
})

/** `POST /a2a/v1`: Shaman's JSON-RPC endpoint, where `agentName` is an agent's name or id, in any case. */
export const namedCall: Handler = rpcEndpoint(async ({ agentName }, _, env, ctx) =>
  typeof agentName === 'string' && agentName !== ''
    ? { id: await agentNamed(agentName, env, ctx), named: agentName }
    : noName,
)

/** The HTTP+JSON binding below `/agents/{id}/a2a/`: of v1.0, and under `v1/` of v0.3. */
export const restAgentCall: Handler = async (request, env, ctx) => {
  const { method, url, params } = request
  // What follows /agents/{id}/a2a/: an agent's id may be `a2a` too.
  const path = new URL(url).pathname.split('/').slice(4).join('/')
  const match = matchRest(method, path)
  if (match === undefined) return unknownPath(method, path)
  if ('otherMethods' in match) throw otherMethod(method, match.otherMethods)
  const body = method === 'POST' ? await callBody(request, false) : { value: null }
  return passCall(restCall(request, match, path, body), byId(params.id), request, env, ctx)
}

const unknownPath = (method: string, path: string): Response => {
  const version = path.startsWith('v1/') ? '0.3' : '1.0'
  const refuse = (problem: Refusal | Failure) => errorResponse(restErrorAnswer(problem, version))
  return refuseCall({ refuse }, { refused: 'method', method: `${method} /${path}`, version })
}
