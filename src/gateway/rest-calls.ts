import { matchRestPath } from '../a2a/rest-paths.ts'
import type { Handler } from '../http/handler.ts'
import { readCallBody } from './call-body.ts'
import { type Body, byId } from './endpoint.ts'
import { handleCall } from './handle-call.ts'
import { parseRestCall } from './rest-binding.ts'
import { restNoCall } from './rest-no-call.ts'

/** The HTTP+JSON binding below `/agents/{id}/a2a/`: of v1.0, and under `v1/` of v0.3. */
export const restCall: Handler = (...asking) => {
  const [request] = asking
  const { method, url, params } = request
  // What follows /agents/{id}/a2a/: an agent's id may be `a2a` too.
  const path = new URL(url).pathname.split('/').slice(4).join('/')
  const match = matchRestPath(method, path)
  // Of what an agent answers, it might not take a HEAD for what it is.
  const card = method === 'HEAD' ? matchRestPath('GET', path) : undefined
  const call = card && 'operation' in card && card.operation === 'extendedCard' ? card : match
  if (call === undefined || 'otherMethods' in call) {
    const ask = () => restNoCall(method, path, call?.otherMethods)
    return handleCall({ whose: byId(params.id), body: async () => ({ value: null }), ask }, ...asking)
  }
  const body = async () => (method === 'POST' ? readCallBody(request, false) : { value: null })
  const ask = (body: Body) => parseRestCall(request, call, path, body)
  return handleCall({ whose: byId(params.id), body, ask }, ...asking)
}
