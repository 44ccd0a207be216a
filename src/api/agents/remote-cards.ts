import { actorOf, adminRequired, isAdmin } from '../../auth/index.ts'
import { problem } from '../../http/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { type RefreshOutcome, requestRefresh } from '../../sources/index.ts'
import { agentConflict, agentNotFound, UPSTREAM_PROBLEMS } from '../agent-errors.ts'
import { endpoint, json, jsonBody } from '../contract/index.ts'
import { RefreshRequest, RefreshResult, Source, toPending, toSourceState } from '../schemas/index.ts'
import { agentWrite, ownerRead } from './registration.ts'

/** `POST /agents/{id}/refresh`: fetches a remote card now, or accepts a pending card with `{"accept": etag}`. */
export const refresh = endpoint(
  {
    ...agentWrite,
    summary: 'Fetch a remote card now, or accept a pending one',
    description: 'Accepting the pending card of an agent with a secret or service binding needs the scope `admin`.',
    body: jsonBody(RefreshRequest, { problem: 'invalid-refresh', outcome: 'Nothing was fetched.', fallback: {} }),
    responses: { 200: json('The result of the refresh.', RefreshResult) },
    problems: [
      ...(['agent-not-found', 'no-source', 'forbidden', 'not-pending', 'conflict'] as const),
      ...UPSTREAM_PROBLEMS,
      ...(['upstream-invalid-card', 'upstream-unverified'] as const),
    ],
  },
  async ({ params: { id }, caller, body: { accept: etag }, env }) => {
    const accept = etag === undefined ? {} : { accept: { etag, isAdmin: isAdmin(caller) } }
    const { result, state } = await requestRefresh(id, { force: true, ...accept, actor: actorOf(caller) }, env)
    if (!state) return noSource(id, env)
    if (result.outcome !== 'refreshed' && result.outcome !== 'unchanged' && result.outcome !== 'pending')
      return refreshError(id, result)
    const brought = result.outcome === 'pending' ? { ...result, pending: toPending(result.pending) } : result
    return { body: { id, ...brought, source: toSourceState(state) } }
  },
)

/** `GET /agents/{id}/source`: the state of a remote card. */
export const getSource = endpoint(
  {
    ...ownerRead,
    summary: 'Get the state of a remote card',
    responses: { 200: json('The state of the source.', Source) },
    problems: ['agent-not-found', 'no-source'],
  },
  async ({ params: { id }, env }) => {
    const state = await getRegistry(env).sourceState(id)
    return state === null ? noSource(id, env) : { body: { id, source: toSourceState(state) } }
  },
)

const noSource = async (id: string, env: Env) =>
  (await getRegistry(env).manifest(id))
    ? problem('no-source', `The card of agent "${id}" is in its manifest: there is nothing to fetch.`)
    : agentNotFound(id)

const refreshError = (id: string, result: RefreshOutcome) => {
  switch (result.outcome) {
    case 'failed': {
      const { code, message, errors = [] } = result.failure
      const detail = `${message} The card that was served before, if any, is still served.`
      return problem(`upstream-${code}`, detail, { errors })
    }
    case 'needs-admin':
      return adminRequired(`Agent "${id}" uses a secret or binding of this host: accepting its pending card`)
    case 'not-pending': {
      const hint = `GET /agents/${id}/source shows the pending card.`
      return problem('not-pending', `Agent "${id}" has no pending card with that etag. ${hint}`)
    }
    default:
      return agentConflict(id, 'changed during the refresh')
  }
}
