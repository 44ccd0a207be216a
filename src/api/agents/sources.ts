import * as v from 'valibot'
import { actorOf, adminRequired, audited, isAdmin, requireWriter } from '../../auth/index.ts'
import { type Handler, HttpError, jsonResponse, PRIVATE_NO_STORE, readJson } from '../../http/index.ts'
import type { CardVerification, PendingCard, SourceRecord } from '../../registry/index.ts'
import { getRegistry, type SourceState } from '../../registry/store/index.ts'
import { type RefreshOutcome, requestRefresh } from '../../sources/index.ts'
import { agentConflict, agentNotFound } from '../errors.ts'
import { RefreshRequest } from '../requests.ts'

const headers = { 'Cache-Control': PRIVATE_NO_STORE }

/** `POST /agents/{id}/refresh`: fetches a remote card now, or accepts a pending card with `{"accept": etag}`. */
export const postRefresh: Handler = audited(async (request, env, ctx, params) => {
  const { id, principal } = await requireWriter({ request, env, ctx }, params)
  const etag = await readAcceptedEtag(request)
  const accept = etag === undefined ? {} : { accept: { etag, isAdmin: isAdmin(principal) } }
  const { result, state } = await requestRefresh(id, { force: true, ...accept, actor: actorOf(principal) }, env)
  if (!state) throw await noSource(id, env)
  if (result.outcome !== 'refreshed' && result.outcome !== 'unchanged' && result.outcome !== 'pending')
    throw refreshError(id, result)
  const outcome =
    result.outcome === 'pending' ? { outcome: 'pending', pending: serializePending(result.pending) } : result
  return jsonResponse({ id, ...outcome, source: serializeState(state) }, 200, headers)
})

/** `GET /agents/{id}/source`: the state of a remote card. */
export const getSource: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  const state = await getRegistry(env).sourceState(id)
  if (state === null) throw await noSource(id, env)
  return jsonResponse({ id, source: serializeState(state) }, 200, headers)
}

/** Returns the entity tag that the body of a refresh accepts; undefined if there is no body. */
const readAcceptedEtag = async (request: Request): Promise<string | undefined> => {
  if (request.body === null || request.headers.get('Content-Length') === '0') return undefined
  const body = await readJson(request)
  if (v.is(RefreshRequest, body)) return body.accept
  throw new HttpError(422, 'invalid-refresh', 'The body must be empty, or {"accept": "<etag of the pending card>"}.')
}

const noSource = async (id: string, env: Env): Promise<HttpError> =>
  (await getRegistry(env).manifest(id))
    ? new HttpError(409, 'no-source', `The card of agent "${id}" is in its manifest: there is nothing to fetch.`)
    : agentNotFound(id)

const refreshError = (id: string, result: RefreshOutcome): HttpError => {
  switch (result.outcome) {
    case 'failed': {
      const { status, code, message, errors = [] } = result.failure
      const detail = `${message} The card that was served before, if any, is still served.`
      return new HttpError(status, `upstream-${code}`, detail, { errors })
    }
    case 'needs-admin':
      return adminRequired(`Agent "${id}" uses a secret or binding of this host: accepting its pending card`)
    case 'not-pending':
      return new HttpError(
        412,
        'not-pending',
        `Agent "${id}" has no pending card with that etag. GET /agents/${id}/source shows the pending card.`,
      )
    default:
      return agentConflict(id, 'changed during the refresh')
  }
}

/** Serializes the source of a card for the receipt of a registration. */
export const serializeSource = ({
  source: { kind, url, verification: demanded },
  card,
  checked,
  verification,
  failure,
  pending,
  drift = [],
  notes = [],
}: SourceRecord) => ({
  kind,
  url,
  state: stateName(failure !== undefined, card !== undefined, pending !== undefined),
  ...(checked !== undefined && { checked: toIsoTime(checked) }),
  ...(demanded && { verify: demanded.policy }),
  ...(verification && { verification: serializeVerification(verification) }),
  ...(failure && { failure }),
  ...(pending && { pending: serializePending(pending) }),
  ...(drift.length > 0 && { drift }),
  ...(notes.length > 0 && { notes: notes.slice(0, 100) }),
})

const serializeState = ({
  seq,
  publishedHealth,
  checked,
  due,
  failing,
  pending,
  verification,
  ...source
}: SourceState) => ({
  ...source,
  state: stateName(failing !== undefined, checked !== undefined, pending !== undefined),
  ...(checked !== undefined && { checked: toIsoTime(checked) }),
  ...(verification && { verification: serializeVerification(verification) }),
  due: toIsoTime(due),
  ...(failing && { failure: { ...failing, since: toIsoTime(failing.since) } }),
  ...(pending && { pending: serializePending(pending) }),
})

const stateName = (isFailing: boolean, hasCard: boolean, isPending: boolean) =>
  isFailing ? (hasCard ? 'stale' : 'no-card') : isPending ? 'pending' : 'fresh'

const serializePending = ({ etag, widens, drift }: Pick<PendingCard, 'etag' | 'widens' | 'drift'>) => ({
  etag,
  widens,
  drift,
})

const serializeVerification = ({ at, ...verification }: CardVerification) => ({ at: toIsoTime(at), ...verification })

const toIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
