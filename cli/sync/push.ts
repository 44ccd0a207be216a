import { compileDocument } from '../../src/card/compile/index.ts'
import { classifyChanges, findVersionFinding } from '../../src/card/diff/index.ts'
import { type JsonObject, jsonEquals, omit } from '../../src/json/index.ts'
import { ApiError, type HostClient, type RegisteredAgent, type ResponseOf, readAgent } from '../client/index.ts'
import { asRejection } from '../errors.ts'
import { type Draft, type LocatedIssue, locateInCard, locateIssues, normalizeManifest } from '../manifests/index.ts'
import { formatCount } from '../terminal.ts'
import { type Action, type AgentResult, callRules } from './result.ts'

/** The state of an upstream card. */
export type SourceState = NonNullable<ResponseOf<'PUT /agents/:id'>['source']>

/** A file, and what is to be done about it. `before` and `etag` are of the manifest that the host has now. */
export type Step = {
  draft: Draft
  todo: 'create' | 'update' | 'nothing'
  before?: JsonObject
  etag?: string
  source?: SourceState
}

/** Compares a file with what is registered under its id. */
export const planStep = (draft: Draft, registered: RegisteredAgent | undefined): Step => {
  if (registered === undefined) return { draft, todo: 'create' }
  const before = toComparable(registered.manifest)
  const isSame = jsonEquals(before, toComparable(draft.manifest))
  return { draft, todo: isSame ? 'nothing' : 'update', before, etag: registered.etag }
}

/** Returns why a file must not replace what is registered: an agent of another set has another owner. */
export const describeOtherOwner = ({ manifest }: Draft, registered: RegisteredAgent | undefined) => {
  const owner = registered && toComparable(registered.manifest).set
  if (owner === undefined || owner === manifest.set) return undefined
  const own = manifest.set === undefined ? 'this file names no set' : `this file is of the set ${String(manifest.set)}`
  return `it belongs to the set ${String(owner)}, and ${own}: choose another id, or take it over with --force`
}

/** Returns the form in which equivalent manifests are equal. A bare card may have been registered with curl. */
export const toComparable = (manifest: JsonObject): JsonObject =>
  omit(normalizeManifest(manifest, false).manifest, 'id')

/**
 * Returns what a push of a step would do, what it would change for clients, and whether the host would refuse it for
 * its version. The last two are known only where both manifests have the whole card: the host fetches remote ones.
 */
export const foreseeStep = ({ draft, todo, before }: Step, origin: string): Pick<AgentResult, 'action' | 'detail'> => {
  const { id, compiled } = draft
  if (todo !== 'update') return { action: todo === 'create' ? 'to create' : 'unchanged' }
  const registered = before && compileDocument({ ...before, id }, { id, requestOrigin: origin })
  if (!compiled || !registered || !('compiled' in registered)) return { action: 'to update' }
  const { class: changeClass, changes } = classifyChanges(registered.compiled, compiled)
  const [first, ...others] = changes
  if (!first || changeClass === 'cosmetic') return { action: 'to update' }
  const { compatibility } = compiled.manifest
  const finding = findVersionFinding(changeClass, registered.compiled.card.version, compiled.card.version)
  const rest = others.length === 0 ? '' : `, and ${formatCount(others.length, 'other change')}`
  return {
    action: finding && compatibility === 'enforce' ? 'refused' : 'to update',
    detail:
      finding && compatibility !== 'off'
        ? `the version ${finding.message}: ${first.message}`
        : `${changeClass}: ${first.message}${rest}`,
  }
}

/** The result of a registration. */
export type PutResult = ResponseOf<'PUT /agents/:id'>

const MAX_ATTEMPTS = 3

/**
 * Registers the manifest of a step. Overwrites a concurrent write only with `force`; if that has the same manifest, an
 * earlier response was lost, and the push has succeeded. `first` is the outcome of the first attempt, if made already.
 */
export const push = async (
  client: HostClient,
  step: Step,
  force: boolean,
  first?: PutResult | ApiError,
): Promise<AgentResult> => {
  const { draft } = step
  const params = { id: draft.id }
  const put = (etag: string | undefined) =>
    client.call('PUT /agents/:id', { params, body: draft.manifest, etag: etag ?? null }).catch(asRejection)
  let result = first ?? (await put(step.etag))
  for (let attempt = 1; ; attempt++) {
    const outcome = describeOutcome(step, result)
    if (outcome) return outcome
    if (attempt === MAX_ATTEMPTS && result instanceof ApiError) return describeRejection(step, result)
    const current = await readAgent(client, draft.id).catch(asRejection)
    if (current instanceof ApiError) return describeRejection(step, current)
    const otherOwner = force ? undefined : describeOtherOwner(draft, current)
    if (otherOwner !== undefined) return { ...describeStep(step), action: 'owned by another set', detail: otherOwner }
    if (!force && planStep(draft, current).todo !== 'nothing')
      return {
        ...describeStep(step),
        action: 'changed meanwhile',
        detail: `somebody else ${current ? 'changed' : 'deleted'} it after it was read`,
        change: { before: step.before ?? {}, after: current ? toComparable(current.manifest) : {} },
      }
    result = await put(current?.etag)
  }
}

/** Returns the result of an attempt to register a step; undefined for a conflict, which another attempt may resolve. */
export const describeOutcome = (step: Step, result: PutResult | ApiError): AgentResult | undefined => {
  if (result instanceof ApiError) return result.status === 412 ? undefined : describeRejection(step, result)
  // After an upgrade, a host may make a different card from an unchanged manifest.
  const action = step.todo === 'create' ? 'created' : step.todo === 'update' || result.changed ? 'updated' : 'unchanged'
  const described = describeStep(step)
  const issues = [...hostIssues(step.draft, result), ...(described.issues ?? [])]
  return { ...described, action, ...describePut(result), ...(issues.length > 0 && { issues }) }
}

/** Returns what is known about the file of a step before it is pushed. */
export const describeStep = ({ draft, todo, before, source }: Step): Omit<AgentResult, 'action'> => ({
  file: draft.file,
  id: draft.id,
  ...(draft.unexposed && { unexposed: true }),
  ...describeSource(source),
  ...(draft.compiled && { issues: locateIssues(draft) }),
  ...(todo === 'update' && before && { change: { before, after: toComparable(draft.manifest) } }),
})

/** Returns the result of a rejected step, with the errors of the host at their places in the file. */
export const describeRejection = (step: Step, error: ApiError): AgentResult => ({
  ...describeStep(step),
  action: actionOf(error),
  detail: error.message,
  ...(error.errors.length > 0 && { problems: error.errors.map(step.draft.sourceMap.locateError) }),
})

/** Returns the action as which a rejection of the host is reported. */
export const actionOf = ({ status }: ApiError): Action =>
  status === 403 ? 'forbidden' : status === 412 ? 'changed meanwhile' : 'refused'

const describePut = (result: PutResult): Partial<AgentResult> => {
  const { seq, etags, urls, root, published, source, class: changeClass, changes = [], report } = result
  const callers = (report?.filled ?? []).find(({ pointer }) => pointer === '/callers')
  const notes = [
    ...(callers ? [`callers ${callers.message}`] : []),
    ...(source?.notes ?? []).map(({ pointer, message }) => `its card: ${pointer} ${message}`),
  ]
  return {
    seq,
    ...(etags['agent-card.json'] !== undefined && { etag: etags['agent-card.json'] }),
    url: urls.card,
    ...(root && { root }),
    ...(!published && { published }),
    ...(changeClass !== undefined && { class: changeClass }),
    ...(changes.length > 0 && { changes }),
    ...describeSource(source),
    ...(notes.length > 0 && { notes }),
  }
}

/** Returns what only the host can find: it compares the card with the one before, and knows what it can call. */
const hostIssues = (draft: Draft, { report }: PutResult): LocatedIssue[] =>
  (report?.issues ?? [])
    .filter(({ rule }) => rule === 'incompatible-version' || callRules.has(rule))
    .map(issue => ({
      issue,
      at: issue.pointer.startsWith('/upstream/') ? draft.sourceMap.locateError(issue) : locateInCard(draft, issue),
    }))

const describeSource = (state: SourceState | undefined): Pick<AgentResult, 'source'> => {
  if (state === undefined || state.state === 'fresh') return {}
  if (state.state === 'pending')
    return { source: 'its upstream card waits for approval: npx sync-card refresh shows the changes, and why' }
  const served = state.state === 'stale' ? 'the previous card is served' : 'there is no card to serve yet'
  return { source: `${served}, and the host keeps retrying. ${state.failure?.message ?? ''}`.trimEnd() }
}
