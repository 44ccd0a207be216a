import { actorOf, adminRequired, findIdentityErrors, isAdmin, type Principal } from '../../auth/index.ts'
import type { Compiled, ParsedManifest } from '../../card/compile/index.ts'
import { compile, completeManifest, parseManifest, parseStored } from '../../card/compile/index.ts'
import { type Changes, findNewUse, type VersionFinding } from '../../card/diff/index.ts'
import type { ManifestContext } from '../../card/manifest/index.ts'
import type { Finding, Issue, Report } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { findMissingBindings, type Precondition, problem } from '../../http/index.ts'
import { formatPointer, type Json, type JsonObject, jsonEquals, type Pointer } from '../../json/index.ts'
import type { Registration, SourceRecord, WriteCause } from '../../registry/index.ts'
import { compareWithLatest, prepareRegistration } from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { createSigning, describeSigning } from '../../signing/index.ts'
import { checkSourceAllowed, describeBlocked, fetchSource, reconcile } from '../../sources/index.ts'
import { invalidBody } from '../contract/index.ts'

/** A registration that is ready to be written, and what its receipt is made from. */
export type PreparedWrite = {
  registration: Registration
  /** Absent for a remote card that was never fetched. */
  report?: Report
  /** The changes for clients; absent where there is no card to compare with. */
  changes?: Changes
}

/** A write as it was requested. */
export type WriteRequest = {
  caller: Principal
  request: Request
  id: string
  document: Json
  precondition: Precondition
  /** The pending card that it accepts, or the revision that it restores. */
  cause?: WriteCause
}

/** Returns a function that prepares a registration, again after a conflict; it fetches a remote card only once. */
export const createPreparation = (write: WriteRequest, env: Env): ((isLast: boolean) => Promise<PreparedWrite>) => {
  let fetched: ReturnType<typeof fetchSource> | undefined
  const fetchOnce: typeof fetchSource = (source, context) => {
    fetched ??= fetchSource(source, context, env)
    return fetched
  }
  return isLast => prepareWrite({ ...write, isLast }, env, fetchOnce)
}

/**
 * Authorizes a write, obtains its card, compiles it, compares it with what is registered, and prepares it. A version
 * that does not announce what changes is reported, or rejected if the manifest wants that.
 */
const prepareWrite = async (
  { caller, request, id, document, precondition, cause, isLast }: WriteRequest & { isLast: boolean },
  env: Env,
  fetchOnce: typeof fetchSource,
): Promise<PreparedWrite> => {
  const context = { id, publicOrigin: config(env).publicOrigin, requestOrigin: new URL(request.url).origin }
  const parsed = await parseWrite(document, context, env)
  // Before anything is fetched, because a secret may be sent along.
  const use = isAdmin(caller) ? undefined : await authorizeBindingUse(parsed, env)

  const remote = await obtainCard(parsed, context.requestOrigin, env, fetchOnce)
  const result = remote ? await reconcile({ parsed, ...remote, by: 'manifest' }, remote.fetched) : compile(parsed)
  if ('errors' in result) throw invalidCard(result.errors)
  // Nothing is compiled where a remote card was never fetched.
  const { compiled } = result
  const record = 'record' in result ? result.record : undefined
  if (use) assertSameUse(use, document, compiled, remote)

  const latest = await getRegistry(env).latestRevision(id)
  // What its upstream has changed is no change of the manifest, unless that names another upstream.
  const earlierCard = remote?.served ? parseCard(record) : parseCard(remote?.known)
  const { finding, changes } = compareWithLatest(compiled, latest, read => {
    const earlier = completeManifest(read, context)
    return 'errors' in earlier ? earlier : compile(earlier, earlierCard)
  })
  // A rollback restores the version of its revision.
  const isEnforced = compiled?.manifest.compatibility === 'enforce' && !(cause && 'restored' in cause)
  if (finding && isEnforced) throw incompatibleVersion(parsed.errorPointer('/version'), finding)

  const signing = await createSigning(parsed, latest?.signatures ?? {}, env)
  const expected = {
    // A newer revision has other changes. But a busy agent must not be refused for their class.
    ...((isEnforced || !isLast) && { seq: latest?.seq ?? null }),
    ...precondition,
    // Besides the writer's own condition, which another revision may meet as well: the permission is for this one only.
    ...(use && { seq: use.seq }),
    ...(remote && { checked: remote.known?.checked ?? null }),
  }
  const changeClass = changes && { changeClass: changes.class }
  const terms = { actor: actorOf(caller), expected, ...(cause && { cause }), ...changeClass }
  return {
    registration: await prepareRegistration(parsed, { compiled, record, signing }, terms),
    ...(compiled && { report: extendReport(compiled, describeSigning(signing, compiled.documents), finding, env) }),
    ...(changes && { changes }),
  }
}

const parseWrite = async (document: Json, context: ManifestContext, env: Env): Promise<ParsedManifest> => {
  const parsed = parseManifest(document, context)
  const errors = 'errors' in parsed ? parsed.errors : await findIdentityErrors(parsed.manifest, env)
  if ('errors' in parsed || errors.length > 0) throw invalidCard(errors)
  if (parsed.secrets.length > 0) throw invalidCard(parsed.secrets, 'secret-in-card')
  return parsed
}

/** Fetches the card of a manifest that does not contain it. `served` is the one that is served now from its source. */
const obtainCard = async (parsed: ParsedManifest, requestOrigin: string, env: Env, fetchOnce: typeof fetchSource) => {
  const { id, origin, source } = parsed
  if (source === undefined) return undefined
  const blocked = checkSourceAllowed(source, env)
  if (blocked) throw invalidCard([blocked])
  const known = (await getRegistry(env).sourceRecord(id)) ?? undefined
  const fetched = await fetchOnce(source, { id, known, ownOrigins: [origin, requestOrigin] }, env)
  const isSame = known?.source.kind === source.kind && known.source.url === source.url
  return { source, known, fetched, served: isSame ? parseCard(known) : undefined }
}

type RemoteCard = Awaited<ReturnType<typeof obtainCard>>

const incompatibleVersion = (pointer: Pointer, { use, message }: VersionFinding) => {
  const advice = `${use === undefined ? 'Use another version' : `Use ${use}`}, or set \`compatibility\` to warn.`
  const detail = `Nothing was registered. The version ${message}. ${advice}`
  return problem('incompatible-version', detail, { errors: [{ pointer, message }] })
}

/** Adds to a report how the card is signed, and warns of its version and of what makes its calls fail. */
const extendReport = (compiled: Compiled, signing: Finding[], finding: VersionFinding | undefined, env: Env) => {
  const { report, toAuthored } = compiled
  const version = { rule: 'incompatible-version', pointer: toAuthored('/version'), message: finding?.message ?? '' }
  const warnings = [...(finding ? [version] : []), ...findCallProblems(compiled, env)]
  const issues = [...warnings.map((warning): Issue => ({ ...warning, severity: 'warning' })), ...report.issues]
  return { ...report, signatures: [...report.signatures, ...signing], issues }
}

/** Finds what makes every call of an agent fail: what this host lacks, or an address that it does not call. */
const findCallProblems = ({ manifest: { upstream }, direct, profile, toAuthored }: Compiled, env: Env) => {
  const missing = findMissingBindings(upstream, env, config(env)).map(({ field, message }) => ({
    ...{ rule: 'missing-binding', message },
    pointer: formatPointer('upstream', field),
  }))
  const targets = profile.route === 'gateway' && profile.service === undefined ? profile.targets : []
  const blocked = targets.flatMap(({ url }) => {
    const message = describeBlocked(url, env)
    const index = direct.supportedInterfaces.findIndex(each => each.url === url)
    const pointer = upstream.url === undefined ? toAuthored(`/supportedInterfaces/${index}/url`) : '/upstream/url'
    return message === undefined ? [] : [{ rule: 'blocked-upstream', pointer, message }]
  })
  return [...missing, ...blocked.slice(0, 1)]
}

const parseCard = (record: SourceRecord | undefined): JsonObject | undefined =>
  record?.card === undefined ? undefined : (JSON.parse(record.card) as JsonObject)

const invalidCard = (errors: Finding[], code: 'invalid-card' | 'secret-in-card' = 'invalid-card') =>
  invalidBody(code, 'Nothing was registered.', errors)

/** A revision that uses a secret or a service binding of this Worker, and which of them its manifest names. */
type BindingUse = { seq: number; name: 'secret' | 'service'; registered: ParsedManifest }

/**
 * Returns the registered agent whose secret or binding a manifest uses unchanged; undefined if it uses none. Throws if
 * it uses one in another way: a writer of one agent could have the secret of another sent to a server of their own.
 */
const authorizeBindingUse = async ({ id, manifest }: ParsedManifest, env: Env): Promise<BindingUse | undefined> => {
  const { secret, service } = manifest.upstream
  if (secret === undefined && service === undefined) return undefined
  const name = secret === undefined ? 'service' : 'secret'
  const stored = await getRegistry(env).manifest(id)
  if (!stored) throw bindingChanged(name, NOT_REGISTERED)
  const registered = parseStored(id, stored)
  if (
    'errors' in registered ||
    !jsonEquals(registered.manifest.upstream as JsonObject, manifest.upstream as JsonObject)
  )
    throw bindingChanged(name, NOT_REGISTERED)
  return { seq: stored.seq, name, registered }
}

/** Asserts that a binding is used for the same addresses, calls and callers. */
const assertSameUse = (use: BindingUse, document: Json, compiled: Compiled | undefined, remote: RemoteCard): void => {
  const { name, registered } = use
  if (compiled && (!remote || remote.served)) {
    const before = compile(registered, remote?.served)
    const newUse = 'compiled' in before ? findNewUse(before.compiled.profile, compiled.profile) : NOT_REGISTERED
    if (newUse !== undefined) throw bindingChanged(name, newUse)
  } else if (!jsonEquals(document, registered.document))
    throw bindingChanged(name, 'belongs to an agent whose card was never fetched, so nothing can be compared')
}

const NOT_REGISTERED = 'is not what is registered now'

const bindingChanged = (name: BindingUse['name'], reason: string) =>
  adminRequired(
    `upstream.${name} ${reason}. Changing where a secret or binding of the host is sent, for which calls, or by whom,`,
  )
