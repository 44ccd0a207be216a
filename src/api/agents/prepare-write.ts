import { actorOf, adminRequired, isAdmin, type Principal } from '../../auth/index.ts'
import { type CompileContext, type Compiled, compile } from '../../card/compile/index.ts'
import { type Changes, findNewUse, type VersionFinding } from '../../card/diff/index.ts'
import { createRedaction, findDisallowedSecrets } from '../../card/lint/index.ts'
import { findLocalHost, type Manifest, readManifest, resolveOrigin, resolveSource } from '../../card/manifest/index.ts'
import type { Finding, Issue, Report } from '../../card/model/index.ts'
import { config } from '../../config.ts'
import { findIdentityErrors } from '../../gateway/upstream/index.ts'
import { findMissingBindings, type Precondition, problem } from '../../http/index.ts'
import { formatPointer, type Json, type JsonObject, jsonEquals, type Pointer } from '../../json/index.ts'
import {
  compareWithLatest,
  prepareRegistration,
  type Registration,
  type SourceRecord,
  type WriteCause,
  type WriteTerms,
  withClass,
} from '../../registry/index.ts'
import { getRegistry } from '../../registry/store/index.ts'
import { createSigning, describeSigning } from '../../signing/index.ts'
import { checkSourceAllowed, describeBlocked, fetchSource, prepareRemote, reconcile } from '../../sources/index.ts'
import { invalidBody } from '../contract/index.ts'

/** A registration that is ready to be written, and what its receipt is made from. */
export type PreparedWrite = {
  registration: Registration
  /** Absent for a remote card that was never fetched. */
  report?: Report
  /** The source of a remote card. */
  record?: SourceRecord
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
  return isLast =>
    prepareWrite({ ...write, isLast }, env, fetch => {
      fetched ??= fetch()
      return fetched
    })
}

const prepareWrite = async (
  { caller, request, id, document, precondition, cause, isLast }: WriteRequest & { isLast: boolean },
  env: Env,
  fetchOnce: (fetch: () => ReturnType<typeof fetchSource>) => ReturnType<typeof fetchSource>,
): Promise<PreparedWrite> => {
  const origins = { publicOrigin: config(env).publicOrigin, requestOrigin: new URL(request.url).origin }
  const read = readManifest(document, id)
  if ('errors' in read) throw invalidCard(createRedaction([document])(read.errors))
  const { manifest } = read
  const errors = [...findLocalHost(manifest, origins), ...(await findIdentityErrors(manifest, env))]
  if (errors.length > 0) throw invalidCard(errors)
  const secrets = findDisallowedSecrets(read)
  if (secrets.length > 0) throw invalidCard(secrets, 'secret-in-card')
  const source = resolveSource(manifest.upstream)
  const origin = resolveOrigin(manifest, origins)
  // Before anything is fetched, because a secret may be sent along.
  const bindingUse = isAdmin(caller) ? undefined : await currentBindingUse(id, manifest, env)
  // Besides the writer's own condition, which another revision may meet as well: the permission is for this one only.
  const condition = { ...precondition, ...(bindingUse && { seq: bindingUse.seq }) }
  const terms = { actor: actorOf(caller), expected: condition, ...(cause && { cause }) }
  const context = { id, ...origins }
  const write = { context, manifest, origin, isLast, terms, versionPlace: read.errorPointer('/version') }
  if (source === undefined) {
    const result = compile(document, context)
    if ('errors' in result) throw invalidCard(result.errors)
    const { compiled } = result
    if (bindingUse) assertSameUse(bindingUse, compiled)
    const compared = await compareWithRegistered(compiled, write, env)
    const registration = await prepareRegistration(
      { id, document, compiled, signing: compared.signing },
      compared.terms,
    )
    return { ...compared.found, registration }
  }
  const blocked = checkSourceAllowed(source, env)
  if (blocked) throw invalidCard([blocked])
  const known = (await getRegistry(env).sourceRecord(id)) ?? undefined
  const ownOrigins = [origin, origins.requestOrigin]
  const fetched = await fetchOnce(() => fetchSource(source, { id, known, ownOrigins }, env))
  const agent = { id, document, manifest, origins, source, known, by: 'manifest' } as const
  const reconciled = await reconcile(agent, fetched)
  if ('errors' in reconciled) throw invalidCard(reconciled.errors)
  const { record, compiled } = reconciled
  // The fetched card that is served now, if it comes from the same source.
  const isSame = known?.source.kind === source.kind && known.source.url === source.url
  const served = isSame ? parseCard(known) : undefined
  if (bindingUse && compiled && served) assertSameUse(bindingUse, compiled, served)
  else if (bindingUse && !jsonEquals(document, bindingUse.document))
    throw bindingChanged(
      bindingUse.name,
      'belongs to an agent whose card was never fetched, so nothing can be compared',
    )
  // What its upstream has changed is no change of the manifest, unless that names another upstream.
  const withCard = { ...context, fetched: parseCard(served ? record : known) }
  const ifUnchanged = { ...terms, expected: { ...condition, checked: known?.checked ?? null } }
  const compared = await compareWithRegistered(compiled, { ...write, context: withCard, terms: ifUnchanged }, env)
  const registration = await prepareRemote(agent, reconciled, compared.signing, compared.terms)
  return { ...compared.found, record, registration }
}

type ComparedWrite = {
  context: CompileContext
  manifest: Manifest
  origin: string
  isLast: boolean
  terms: WriteTerms
  versionPlace: Pointer
}

/**
 * Compares a write with what is registered. A version that does not announce what changes is reported, or rejected if
 * the manifest wants that; but a rollback restores the version of its revision. Signatures of what stays the same stay.
 */
const compareWithRegistered = async (
  compiled: Compiled | undefined,
  { context, manifest, origin, isLast, terms, versionPlace }: ComparedWrite,
  env: Env,
) => {
  const latest = await getRegistry(env).latestRevision(context.id)
  const comparison = compareWithLatest(compiled, latest, earlier => {
    const result = compile(earlier, context)
    return 'compiled' in result ? result.compiled : undefined
  })
  const { finding, changes } = comparison
  const isRollback = terms.cause !== undefined && 'restored' in terms.cause
  const isEnforced = compiled?.manifest.compatibility === 'enforce' && !isRollback
  if (finding && compiled && isEnforced) throw incompatibleVersion(versionPlace, finding)
  const signing = await createSigning({ manifest, origin }, latest?.signatures ?? {}, env)
  return {
    found: {
      ...(compiled && { report: extendReport(compiled, describeSigning(signing, compiled.documents), finding, env) }),
      ...(changes && { changes }),
    },
    signing,
    terms: withClass(terms, comparison, isLast && !isEnforced),
  }
}

const incompatibleVersion = (pointer: Pointer, { use, message }: VersionFinding) => {
  const advice = `${use === undefined ? 'Use another version' : `Use ${use}`}, or set \`compatibility\` to warn.`
  const detail = `Nothing was registered. The version ${message}. ${advice}`
  return problem('incompatible-version', detail, { errors: [{ pointer, message }] })
}

/** Adds to a report how the card is signed, and warns of its version and of what makes its calls fail. */
const extendReport = (
  compiled: Compiled,
  signing: Finding[],
  finding: VersionFinding | undefined,
  env: Env,
): Report => {
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
type BindingUse = { id: string; seq: number; name: 'secret' | 'service'; document: Json; origin: string }

/**
 * Returns the registered agent whose secret or binding a manifest uses unchanged; undefined if it uses none. Throws if
 * it uses one in another way: a writer of one agent could have the secret of another sent to a server of their own.
 */
const currentBindingUse = async (id: string, { upstream }: Manifest, env: Env): Promise<BindingUse | undefined> => {
  const { secret, service } = upstream
  if (secret === undefined && service === undefined) return undefined
  const name = secret === undefined ? 'service' : 'secret'
  const registered = await getRegistry(env).manifest(id)
  const document: Json = registered && JSON.parse(registered.manifest)
  const before = readManifest(document)
  const isSame = 'manifest' in before && jsonEquals(before.manifest.upstream as JsonObject, upstream as JsonObject)
  if (!registered || !isSame) throw bindingChanged(name, 'is not what is registered now')
  return { id, seq: registered.seq, name, document, origin: registered.origin }
}

/** Asserts that a binding is used for the same addresses, calls and callers. `served` is the current fetched card. */
const assertSameUse = (use: BindingUse, { profile }: Compiled, served?: JsonObject): void => {
  const { id, name, document, origin } = use
  const before = compile(document, { id, publicOrigin: origin, requestOrigin: origin, fetched: served })
  const newUse = 'compiled' in before ? findNewUse(before.compiled.profile, profile) : 'is not what is registered now'
  if (newUse !== undefined) throw bindingChanged(name, newUse)
}

const bindingChanged = (name: BindingUse['name'], reason: string) =>
  adminRequired(
    `upstream.${name} ${reason}. Changing where a secret or binding of the host is sent, for which calls, or by whom,`,
  )
