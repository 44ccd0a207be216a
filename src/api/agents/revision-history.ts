import { audited, requireWriter } from '../../auth/index.ts'
import { classifyChanges, diffCards, type Offer } from '../../card/diff/index.ts'
import {
  type Handler,
  HttpError,
  PRIVATE_NO_STORE,
  parsePrecondition,
  problem,
  respondWithDocument,
  statusOf,
} from '../../http/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { MAX_REVISIONS } from '../../limits.ts'
import { type RevisionRow, type StoredRevision, toOffer } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import { paginate, parsePageQuery, readBody, rejectUnknownQuery } from '../parse-request.ts'
import { privateJson } from '../private-responses.ts'
import { RollbackRequest } from '../schemas/index.ts'
import { registerDocument } from './registration.ts'

/** Numbers of this length are exact. */
const seqPattern = /^[1-9]\d{0,14}$/

/** `GET /agents/{id}/revisions`: the history of an agent, newest first, with what changed in a remote card. */
export const getRevisions: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  const { after, limit } = parsePageQuery(new URL(request.url), seqPattern)
  const rows = await getRegistry(env).revisions(id, after === '' ? Number.MAX_SAFE_INTEGER : Number(after), limit + 1)
  if (rows.length === 0 && after === '') throw agentNotFound(id)
  const { page, ...rest } = paginate(rows, limit, 'seq')
  return privateJson({ id, revisions: page.map(serializeRow), ...rest })
}

/** `GET /agents/{id}/revisions/{seq}`: the manifest and the card of one revision, with its author and time. */
export const getRevision: Handler = async (request, env, ctx, params) => {
  const { id } = await requireWriter({ request, env, ctx }, params)
  rejectUnknownQuery(new URL(request.url), [])
  const { origin, manifest, card, tiers, ...row } = await findRevision(id, params.seq, env)
  const body = {
    ...{ id, ...serializeRow(row) },
    ...(origin !== undefined && { origin }),
    ...(manifest !== undefined && { manifest: JSON.parse(manifest) }),
    ...(card !== undefined && { card: JSON.parse(card) }),
    ...(tiers.length > 0 && { tiers: Object.fromEntries(tiers.map(({ tier, card }) => [tier, JSON.parse(card)])) }),
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
    throw problem('bad-revision', 'from must be the number of a revision, as GET …/revisions lists it.')
  const after = await findRevision(id, params.seq, env)
  const before = await findRevision(id, from ?? (await previousSeq(id, after.seq, env)), env)
  const [earlier, later] = [comparable(id, before), comparable(id, after)]
  const manifest = diffCards(earlier.manifest, later.manifest)
  return privateJson({ id, from: before.seq, to: after.seq, ...classifyChanges(earlier.offer, later.offer), manifest })
}

/** `POST /agents/{id}/rollback`: registers the manifest of the revision `{"seq": …}` again, as a new revision. */
export const postRollback: Handler = audited(async (request, env, ctx, params) => {
  const { principal, id } = await requireWriter({ request, env, ctx }, params)
  const precondition = parsePrecondition(request.headers)
  const form = '{"seq": <the number of a revision>}'
  const { seq } = await readBody(request, RollbackRequest, { code: 'invalid-rollback', form })
  const { manifest } = await findRevision(id, String(seq), env)
  if (manifest === undefined)
    throw problem('not-restorable', `Revision ${seq} is the removal of agent "${id}": choose another one.`)
  const requestOrigin = new URL(request.url).origin
  const document: Json = JSON.parse(manifest)
  const write = { principal, id, document, precondition, requestOrigin, cause: { restored: seq } }
  return registerDocument(write, env, ctx).catch(error => {
    if (!(error instanceof HttpError) || statusOf(error) !== 422) throw error
    // The rules may have changed since.
    const hint = `correct what GET /agents/${id}/revisions/${seq} returns, and register that with PUT.`
    const detail = `${error.message} The manifest of revision ${seq} was valid when it was registered: ${hint}`
    throw problem(error.code, detail, { errors: error.errors })
  })
})

/** Finds a revision of an agent, which may have been removed since. */
const findRevision = async (id: string, seq: string | undefined, env: Env): Promise<StoredRevision> => {
  const registry = getRegistry(env)
  const found = seq !== undefined && seqPattern.test(seq) ? await registry.revision(id, Number(seq)) : null
  if (found) return found
  const [newest] = await registry.revisions(id, Number.MAX_SAFE_INTEGER, 1)
  throw newest ? revisionNotFound(id, seq, newest.seq) : agentNotFound(id)
}

const revisionNotFound = (id: string, seq: string | undefined, newest: number): HttpError => {
  const named = JSON.stringify(seq?.slice(0, 20))
  const stored = `The newest is ${newest}, and only the newest ${MAX_REVISIONS} are stored`
  const detail = `Agent "${id}" has no revision ${named}. ${stored}: GET /agents/${id}/revisions lists them.`
  return problem('revision-not-found', detail)
}

/** Returns the number of the revision before one that exists. */
const previousSeq = async (id: string, seq: number, env: Env): Promise<string> => {
  const [previous] = await getRegistry(env).revisions(id, seq, 1)
  if (previous) return String(previous.seq)
  const detail = `Revision ${seq} is the oldest of agent "${id}" that is stored: name another one as from.`
  throw problem('revision-not-found', detail)
}

/** Returns what is compared of a revision. */
const comparable = (id: string, revision: StoredRevision): { offer: Offer; manifest: JsonObject } => {
  const offer = toOffer(revision)
  const { seq, manifest } = revision
  if (manifest !== undefined && offer !== undefined) return { offer, manifest: JSON.parse(manifest) }
  const reason = manifest === undefined ? 'it is a removal' : 'its remote card had not been fetched yet'
  const detail = `Revision ${seq} of agent "${id}" has no card to compare: ${reason}.`
  throw problem('revision-without-card', detail)
}

const serializeRow = ({ created, ...row }: RevisionRow) => ({ ...row, created: new Date(created).toISOString() })
