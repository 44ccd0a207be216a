import { actorOf, adminRequired, audited, isAdmin, requireWriter } from '../../auth/index.ts'
import { type Handler, type HttpError, problem } from '../../http/index.ts'
import type { PendingCard, SourceRecord } from '../../registry/index.ts'
import type { SourceState } from '../../registry/store/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { type RefreshOutcome, requestRefresh } from '../../sources/index.ts'
import { agentConflict, agentNotFound } from '../agent-errors.ts'
import { readBody } from '../parse-request.ts'
import { privateJson } from '../private-responses.ts'
import { RefreshRequest } from '../schemas/index.ts'

/** `POST /agents/{id}/refresh`: fetches a remote card now, or accepts a pending card with `{"accept": etag}`. */
export const postRefresh: Handler = audited(async (request, env, ctx, params) => {
  const { id, principal } = await requireWriter({ request, env, ctx }, params)
  const form = 'empty, or {"accept": "<etag of the pending card>"}'
  const { accept: etag } = await readBody(request, RefreshRequest, { code: 'invalid-refresh', form, empty: {} })
  const accept = etag === undefined ? {} : { accept: { etag, isAdmin: isAdmin(principal) } }
  const { result, state } = await requestRefresh(id, { force: true, ...accept, actor: actorOf(principal) }, env)
  if (!state) throw await noSource(id, env)
  if (result.outcome !== 'refreshed' && result.outcome !== 'unchanged' && result.outcome !== 'pending')
    throw refreshError(id, result)
  const outcome =
    result.outcome === 'pending' ? { outcome: 'pending', pending: serializePending(result.pending) } : result
  return privateJson({ id, ...outcome, source: serializeState(state) })
})

/** `GET /agents/{id}/source`: the state of a remote card. */
export const getSource: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  const state = await getRegistry(env).sourceState(id)
  if (state === null) throw await noSource(id, env)
  return privateJson({ id, source: serializeState(state) })
}

const noSource = async (id: string, env: Env): Promise<HttpError> =>
  (await getRegistry(env).manifest(id))
    ? problem('no-source', `The card of agent "${id}" is in its manifest: there is nothing to fetch.`)
    : agentNotFound(id)

const refreshError = (id: string, result: RefreshOutcome): HttpError => {
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

/** Serializes the source of a card for the receipt of a registration. */
export const serializeSource = (record: SourceRecord) => {
  const { source, card, failure, drift = [], notes = [] } = record
  const { kind, url, verification } = source
  return {
    ...{ kind, url },
    ...serializeStatus(record, failure !== undefined, card !== undefined),
    ...(verification && { verify: verification.policy }),
    ...(failure && { failure }),
    ...(drift.length > 0 && { drift }),
    ...(notes.length > 0 && { notes: notes.slice(0, 100) }),
  }
}

const serializeState = ({ seq, publishedHealth, due, failing, ...source }: SourceState) => ({
  ...source,
  ...serializeStatus(source, failing !== undefined, source.checked !== undefined),
  due: toIsoTime(due),
  ...(failing && { failure: { ...failing, since: toIsoTime(failing.since) } }),
})

type Status = Pick<SourceState, 'checked' | 'verification' | 'pending'>

const serializeStatus = ({ checked, verification, pending }: Status, isFailing: boolean, hasCard: boolean) => ({
  state: isFailing ? (hasCard ? 'stale' : 'no-card') : pending ? 'pending' : 'fresh',
  ...(checked !== undefined && { checked: toIsoTime(checked) }),
  ...(verification && { verification: { ...verification, at: toIsoTime(verification.at) } }),
  ...(pending && { pending: serializePending(pending) }),
})

const serializePending = ({ etag, widens, drift }: Pick<PendingCard, 'etag' | 'widens' | 'drift'>) => ({
  ...{ etag, widens, drift },
})

const toIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
