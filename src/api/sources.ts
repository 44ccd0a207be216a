import { isAdmin } from '../auth/permissions.ts'
import { adminRequired, requireWriter } from '../auth/require.ts'
import { readJson } from '../http/body.ts'
import { HttpError } from '../http/errors.ts'
import type { Handler } from '../http/handler.ts'
import { PRIVATE_NO_STORE } from '../http/headers.ts'
import { jsonResponse } from '../http/responses.ts'
import { isJsonObject } from '../json/json.ts'
import type { PendingCard, SourceRecord, SourceState } from '../registry/records.ts'
import { getRegistry } from '../registry/store/client.ts'
import type { RefreshOutcome } from '../sources/refresh.ts'
import { requestRefresh } from '../sources/revalidate.ts'
import { agentNotFound } from './errors.ts'
import { parsePageQuery } from './pagination.ts'

/** How the source of a card stands after a registration, as its owner is told. */
export const sourceReceipt = ({
  source: { kind, url },
  card,
  checked,
  failure,
  pending,
  drift = [],
  notes = [],
}: SourceRecord) => ({
  kind,
  url,
  state: failure ? (card === undefined ? 'no-card' : 'stale') : pending ? 'held' : 'fresh',
  ...(checked !== undefined && { checked: timeOf(checked) }),
  ...(failure && { failure }),
  ...(pending && { held: heldReceipt(pending) }),
  ...(drift.length > 0 && { drift }),
  ...(notes.length > 0 && { notes: notes.slice(0, 100) }),
})

/** The same of what the Registry has kept since. */
const stateReceipt = ({ seq, publishedHealth, checked, due, failing, pending, ...source }: SourceState) => ({
  ...source,
  state: failing ? (checked === undefined ? 'no-card' : 'stale') : pending ? 'held' : 'fresh',
  ...(checked !== undefined && { checked: timeOf(checked) }),
  due: timeOf(due),
  ...(failing && { failure: { ...failing, since: timeOf(failing.since) } }),
  ...(pending && { held: heldReceipt(pending) }),
})

/** A card that waits for its owner: by its entity tag it is accepted. */
const heldReceipt = ({ etag, widens, drift }: Pick<PendingCard, 'etag' | 'widens' | 'drift'>) => ({
  etag,
  widens,
  drift,
})

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString()

/** `POST /agents/{id}/refresh`: reads the card from its source again; `{"accept": etag}` takes one that was held back. */
export const postRefresh: Handler = async (request, env, ctx) => {
  const { id, principal: bearer } = await requireWriter({ request, env, ctx })
  const etag = await acceptedTag(request)
  const accept = etag === undefined ? {} : { accept: { etag, isAdmin: isAdmin(bearer) } }
  const { result, state } = await requestRefresh(id, { force: true, ...accept }, env)
  if (!state) throw (await getRegistry(env).manifest(id)) ? noSource(id) : agentNotFound(id)
  if (result.outcome === 'refreshed' || result.outcome === 'unchanged' || result.outcome === 'pending')
    return jsonResponse({ id, ...toldOf(result), source: stateReceipt(state) }, 200, {
      'Cache-Control': PRIVATE_NO_STORE,
    })
  throw whyNot(id, result)
}

/** `GET /agents/{id}/source`: how the source of an agent's card stands. */
export const getSource: Handler = async (request, env, ctx) => {
  const { id } = await requireWriter({ request, env, ctx })
  const state = await getRegistry(env).sourceState(id)
  if (state === null) throw (await getRegistry(env).manifest(id)) ? noSource(id) : agentNotFound(id)
  return jsonResponse({ id, source: stateReceipt(state) }, 200, { 'Cache-Control': PRIVATE_NO_STORE })
}

/** `GET /agents/{id}/revisions`: what an agent's card and manifest were, newest first, and how what was fetched has drifted. */
export const getRevisions: Handler = async (request, env, ctx) => {
  const { id } = await requireWriter({ request, env, ctx })
  const { after, limit } = parsePageQuery(new URL(request.url), /^[1-9]\d{0,15}$/)
  const rows = await getRegistry(env).revisions(id, after === '' ? Number.MAX_SAFE_INTEGER : Number(after), limit + 1)
  if (rows.length === 0 && after === '') throw agentNotFound(id)
  const revisions = rows
    .slice(0, limit)
    .map(({ created, ...row }) => ({ ...row, created: new Date(created).toISOString() }))
  const cursor = rows.length > limit ? { cursor: String(revisions.at(-1)?.seq) } : {}
  return jsonResponse({ id, revisions, ...cursor }, 200, { 'Cache-Control': PRIVATE_NO_STORE })
}

/** The entity tag that a body accepts; undefined where there is none. */
const acceptedTag = async (request: Request): Promise<string | undefined> => {
  if (request.body === null || request.headers.get('Content-Length') === '0') return undefined
  const body = await readJson(request)
  const unknown = isJsonObject(body) ? Object.keys(body).filter(name => name !== 'accept') : []
  if (!isJsonObject(body) || unknown.length > 0 || !['undefined', 'string'].includes(typeof body.accept))
    throw new HttpError(
      422,
      'invalid-refresh',
      'The body is empty, or {"accept": "<the etag of the card that is held>"}.',
    )
  return body.accept as string | undefined
}

const toldOf = (refreshed: RefreshOutcome) => {
  if (refreshed.outcome === 'pending') return { outcome: 'held', held: heldReceipt(refreshed.pending) }
  return refreshed
}

const noSource = (id: string): HttpError =>
  new HttpError(409, 'no-source', `The card of agent "${id}" is written in its manifest: there is nothing to fetch.`)

const whyNot = (id: string, refreshed: RefreshOutcome): HttpError => {
  switch (refreshed.outcome) {
    case 'failed': {
      const { status, code, message, errors = [] } = refreshed.failure
      return new HttpError(status, `upstream-${code}`, `${message} What was served before still is, if there is any.`, {
        errors,
      })
    }
    case 'needs-admin':
      return adminRequired(`Agent "${id}" uses a secret or a binding of this host: accepting a card that was held back`)
    case 'not-pending':
      return new HttpError(
        412,
        'not-held',
        `No card of agent "${id}" with that etag is held: GET /agents/${id}/source tells which is.`,
      )
    default:
      return new HttpError(409, 'overtaken', `Agent "${id}" changed during the refresh. Retry.`, {
        headers: { 'Retry-After': '1' },
      })
  }
}
