import { classifyChanges, diffCards, type Offer } from '../../card/diff/index.ts'
import { HttpError, problem, statusOf } from '../../http/index.ts'
import type { Json, JsonObject } from '../../json/index.ts'
import { MAX_REVISIONS } from '../../limits.ts'
import { type StoredRevision, toOffer } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { agentNotFound } from '../agent-errors.ts'
import { agentPath, endpoint, integer, json, jsonBody, pageQuery, paginate } from '../contract/index.ts'
import { Revision, RevisionDiff, RevisionList, RollbackRequest, toRevision, toRevisionRow } from '../schemas/index.ts'
import { agentWrite, ownerRead, REGISTRATION_PROBLEMS, receipt, registerDocument } from './registration.ts'

const revisionPath = {
  ...agentPath,
  seq: integer('The number of the revision.'),
} as const

/** `GET /agents/{id}/revisions`: the history of an agent, newest first, with what changed in a remote card. */
export const listRevisions = endpoint(
  {
    ...ownerRead,
    summary: 'List the revisions of an agent, newest first',
    query: pageQuery(),
    responses: { 200: json('A page of revisions.', RevisionList) },
  },
  async ({ params: { id }, query: { limit, cursor }, env }) => {
    const before = cursor === '' ? Number.MAX_SAFE_INTEGER : Number(cursor)
    const rows = await getRegistry(env).revisions(id, before, limit + 1)
    if (rows.length === 0 && cursor === '') return agentNotFound(id)
    const { page, ...rest } = paginate(rows, limit, 'seq')
    return { body: { id, revisions: page.map(toRevisionRow), ...rest } }
  },
)

/** `GET /agents/{id}/revisions/{seq}`: the manifest and the card of one revision, with its author and time. */
export const getRevision = endpoint(
  {
    ...ownerRead,
    summary: 'Get one revision, also of a removed agent',
    params: revisionPath,
    query: {},
    responses: { 200: json('The revision, which never changes.', Revision) },
    validated: true,
    problems: ['agent-not-found', 'revision-not-found'],
  },
  async ({ params: { id, seq }, env }) => ({ body: toRevision(id, await findRevision(id, seq, env)) }),
)

/** `GET /agents/{id}/revisions/{seq}/diff`: what changed from the revision `?from=`, by default the one before it. */
export const diffRevisions = endpoint(
  {
    ...ownerRead,
    summary: 'Compare two revisions',
    params: revisionPath,
    query: {
      from: integer('The revision to compare with. Default: the one before.', {
        problem: 'bad-revision',
        expected: 'the number of a revision, as GET …/revisions lists it',
      }),
    },
    responses: { 200: json('What changed for clients, and in the manifest.', RevisionDiff) },
    problems: ['agent-not-found', 'revision-not-found', 'revision-without-card'],
  },
  async ({ params: { id, seq }, query: { from }, env }) => {
    const after = await findRevision(id, seq, env)
    const previous = from ?? (await getRegistry(env).revisions(id, after.seq, 1))[0]?.seq
    if (previous === undefined)
      throw problem(
        'revision-not-found',
        `Revision ${seq} is the oldest of agent "${id}" that is stored: name another one as from.`,
      )
    const before = await findRevision(id, String(previous), env)
    const [earlier, later] = [comparable(id, before), comparable(id, after)]
    const manifest = diffCards(earlier.manifest, later.manifest)
    return { body: { id, from: before.seq, to: after.seq, ...classifyChanges(earlier.offer, later.offer), manifest } }
  },
)

/** `POST /agents/{id}/rollback`: registers the manifest of the revision `{"seq": …}` again, as a new revision. */
export const rollBack = endpoint(
  {
    ...agentWrite,
    summary: 'Register the manifest of an earlier revision again',
    conditional: true,
    body: jsonBody(RollbackRequest, { problem: 'invalid-rollback', outcome: 'Nothing was registered.' }),
    responses: {
      200: receipt('The revision was restored.'),
      201: receipt('The revision of a removed agent was restored.'),
    },
    problems: [...REGISTRATION_PROBLEMS, 'agent-not-found', 'revision-not-found', 'not-restorable'],
  },
  async ({ params: { id }, caller, precondition, body: { seq }, request, env, ctx }) => {
    const { manifest } = await findRevision(id, String(seq), env)
    if (manifest === undefined)
      return problem('not-restorable', `Revision ${seq} is the removal of agent "${id}": choose another one.`)
    const document: Json = JSON.parse(manifest)
    const write = { caller, request, id, document, precondition, cause: { restored: seq } }
    return registerDocument(write, env, ctx).catch(error => {
      if (!(error instanceof HttpError) || statusOf(error) !== 422) throw error
      // The rules may have changed since.
      const hint = `correct what GET /agents/${id}/revisions/${seq} returns, and register that with PUT.`
      const detail = `${error.message} The manifest of revision ${seq} was valid when it was registered: ${hint}`
      throw problem(error.code, detail, { errors: error.errors })
    })
  },
)

/** Finds a revision of an agent, which may have been removed since. */
const findRevision = async (id: string, seq: string, env: Env): Promise<StoredRevision> => {
  const registry = getRegistry(env)
  const number = revisionPath.seq.parse([seq])
  const found = number === undefined ? null : await registry.revision(id, number)
  if (found) return found
  const [newest] = await registry.revisions(id, Number.MAX_SAFE_INTEGER, 1)
  if (!newest) throw agentNotFound(id)
  const named = JSON.stringify(seq.slice(0, 20))
  const stored = `The newest is ${newest.seq}, and only the newest ${MAX_REVISIONS} are stored`
  const detail = `Agent "${id}" has no revision ${named}. ${stored}: GET /agents/${id}/revisions lists them.`
  throw problem('revision-not-found', detail)
}

const comparable = (id: string, revision: StoredRevision): { offer: Offer; manifest: JsonObject } => {
  const offer = toOffer(revision)
  const { seq, manifest } = revision
  if (manifest !== undefined && offer !== undefined) return { offer, manifest: JSON.parse(manifest) }
  const reason = manifest === undefined ? 'it is a removal' : 'its remote card had not been fetched yet'
  const detail = `Revision ${seq} of agent "${id}" has no card to compare: ${reason}.`
  throw problem('revision-without-card', detail)
}
