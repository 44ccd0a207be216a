import * as v from 'valibot'
import { audited, requireWriter } from '../../auth/index.ts'
import { classifyChanges, diffCards, type Offer } from '../../card/diff/index.ts'
import {
  type Handler,
  HttpError,
  jsonResponse,
  PRIVATE_NO_STORE,
  parsePrecondition,
  readJson,
  respondWithDocument,
} from '../../http/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { MAX_REVISIONS } from '../../limits.ts'
import { type RevisionRow, type StoredRevision, toOffer } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { agentNotFound } from '../errors.ts'
import { parsePageQuery, rejectUnknownQuery } from '../parse-request.ts'
import { RollbackRequest } from '../request-bodies.ts'
import { registerDocument } from './register.ts'

const headers = { 'Cache-Control': PRIVATE_NO_STORE }

/** Numbers of this length are exact. */
const seqPattern = /^[1-9]\d{0,14}$/

/** `GET /agents/{id}/revisions`: the history of an agent, newest first, with what changed in a remote card. */
export const getRevisions: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  const { after, limit } = parsePageQuery(new URL(request.url), seqPattern)
  const rows = await getRegistry(env).revisions(id, after === '' ? Number.MAX_SAFE_INTEGER : Number(after), limit + 1)
  if (rows.length === 0 && after === '') throw agentNotFound(id)
  const revisions = rows.slice(0, limit).map(serializeRow)
  const cursor = rows.length > limit ? { cursor: String(revisions.at(-1)?.seq) } : {}
  return jsonResponse({ id, revisions, ...cursor }, 200, headers)
}

/** `GET /agents/{id}/revisions/{seq}`: the manifest and the card of one revision, with its author and time. */
export const getRevision: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  rejectUnknownQuery(new URL(request.url), [])
  const { origin, manifest, card, tiers, ...row } = await findRevision(id, params.seq, env)
  const body = {
    ...{ id, ...serializeRow(row) },
    ...(origin !== undefined && { origin }),
    ...(manifest !== undefined && { manifest: JSON.parse(manifest) as Json }),
    ...(card !== undefined && { card: JSON.parse(card) as Json }),
    ...(tiers.length > 0 && {
      tiers: Object.fromEntries(tiers.map(({ tier, card }) => [tier, JSON.parse(card) as Json])),
    }),
  }
  return respondWithDocument(body, request.headers, {
    'Cache-Control': PRIVATE_NO_STORE,
    'Content-Type': 'application/json',
  })
}

/** `GET /agents/{id}/revisions/{seq}/diff`: what changed from the revision `?from=`, by default the one before it. */
export const getDiff: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  const url = new URL(request.url)
  rejectUnknownQuery(url, ['from'])
  const from = url.searchParams.get('from')
  if (from !== null && !seqPattern.test(from))
    throw new HttpError(400, 'bad-revision', 'from must be the number of a revision, as GET …/revisions lists it.')
  const after = await findRevision(id, params.seq, env)
  const before = await findRevision(id, from ?? (await previousSeq(id, after.seq, env)), env)
  const [earlier, later] = [comparable(id, before), comparable(id, after)]
  const body = {
    ...{ id, from: before.seq, to: after.seq },
    ...classifyChanges(earlier.offer, later.offer),
    manifest: diffCards(earlier.manifest, later.manifest),
  }
  return jsonResponse(body, 200, headers)
}

/** `POST /agents/{id}/rollback`: registers the manifest of the revision `{"seq": …}` again, as a new revision. */
export const postRollback: Handler = audited(async (request, env, ctx, params) => {
  const { principal, id } = await requireWriter({ request, env, ctx }, params)
  const precondition = parsePrecondition(request.headers)
  const seq = parseRollback(await readJson(request))
  const { manifest } = await findRevision(id, String(seq), env)
  if (manifest === undefined)
    throw new HttpError(
      422,
      'not-restorable',
      `Revision ${seq} is the removal of agent "${id}": choose an earlier one.`,
    )
  const requestOrigin = new URL(request.url).origin
  const document = JSON.parse(manifest) as Json
  const write = { principal, id, document, precondition, requestOrigin, cause: { restored: seq } }
  return registerDocument(write, env, ctx).catch(error => {
    throw error instanceof HttpError && error.status === 422 ? notRestorableAsIs(error, id, seq) : error
  })
})

/** The rules of today are those of any registration. */
const notRestorableAsIs = ({ code, message, errors }: HttpError, id: string, seq: number): HttpError =>
  new HttpError(
    422,
    code,
    `${message} The manifest of revision ${seq} was valid when it was registered, and no longer is: correct what GET /agents/${id}/revisions/${seq} returns, and register that with PUT.`,
    { errors },
  )

const parseRollback = (body: Json): number => {
  if (v.is(RollbackRequest, body)) return body.seq
  throw new HttpError(422, 'invalid-rollback', 'The body must be {"seq": <the number of a revision>}.')
}

/** Finds a revision of an agent, which may have been removed since. */
const findRevision = async (id: string, seq: string | undefined, env: Env): Promise<StoredRevision> => {
  const registry = getRegistry(env)
  const found = seq !== undefined && seqPattern.test(seq) ? await registry.revision(id, Number(seq)) : null
  if (found) return found
  const [newest] = await registry.revisions(id, Number.MAX_SAFE_INTEGER, 1)
  throw newest ? revisionNotFound(id, seq, newest.seq) : agentNotFound(id)
}

const revisionNotFound = (id: string, seq: string | undefined, newest: number): HttpError =>
  new HttpError(
    404,
    'revision-not-found',
    `Agent "${id}" has no revision ${JSON.stringify(seq?.slice(0, 20))}. The newest is ${newest}, and only the newest ${MAX_REVISIONS} are stored: GET /agents/${id}/revisions lists them.`,
  )

/** Returns the number of the revision before one that exists. */
const previousSeq = async (id: string, seq: number, env: Env): Promise<string> => {
  const [previous] = await getRegistry(env).revisions(id, seq, 1)
  if (previous) return String(previous.seq)
  throw new HttpError(
    404,
    'revision-not-found',
    `Revision ${seq} is the oldest of agent "${id}" that is stored: name another one as from.`,
  )
}

/** Returns what is compared of a revision. */
const comparable = (id: string, revision: StoredRevision): { offer: Offer; manifest: JsonObject } => {
  const offer = toOffer(revision)
  const { seq, manifest } = revision
  if (manifest === undefined || offer === undefined)
    throw new HttpError(
      404,
      'revision-without-card',
      `Revision ${seq} of agent "${id}" has no card to compare: ${manifest === undefined ? 'it is a removal' : 'its remote card had not been fetched yet'}.`,
    )
  return { offer, manifest: JSON.parse(manifest) as JsonObject }
}

const serializeRow = ({ created, ...row }: RevisionRow) => ({ ...row, created: new Date(created).toISOString() })
