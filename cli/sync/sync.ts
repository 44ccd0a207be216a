import { createHash } from 'node:crypto'
import { hasRemoteCard } from '../../src/card/manifest/index.ts'
import { isPrivateHost } from '../../src/http/shared.ts'
import { createClient, type HostClient } from '../client/index.ts'
import type { Context } from '../context.ts'
import type { HostSettings } from '../hosts/index.ts'
import { type Draft, defaultToCardsFolder, loadManifests, rejectNoCards, skippedText } from '../manifests/index.ts'
import { shareReads, shareWrites } from './groups.ts'
import { describeOtherOwner, foreseeUpdate, planStep, type Step } from './plan.ts'
import { findOrphans, prune } from './prune.ts'
import { describeOutcome, describeRejection, describeStep, push, waitUntilLive } from './push.ts'
import { type AgentResult, nameOf, type SyncResult } from './result.ts'
import { Breaker, forEach, type Run, type SyncOptions } from './run.ts'
import { selectFiles } from './selection.ts'

/** Options for a host that was just started or deployed: sends everything again, deletes nothing, does not prompt. */
export const NON_INTERACTIVE = { refresh: true, retries: 4 } as const satisfies SyncOptions

/** Brings a host in line with the owner's files. `named` are files and folders; `cards/` by default. */
export const syncCards = async (
  named: readonly string[],
  host: HostSettings,
  options: SyncOptions,
  context: Context,
): Promise<SyncResult> => {
  const { url, set } = host
  const { fetch, clock, cwd, terminal } = context
  const { retries, signal } = options
  const folders = defaultToCardsFolder(named)
  const loaded = loadManifests(folders, url, cwd, options.allowSecrets)
  if (!options.prune || options.isWatch) rejectNoCards(folders, loaded)
  const { drafts: all, invalid, skipped } = loaded
  for (const file of skipped) (options.onNote ?? terminal.info)(skippedText(file))
  const drafts = set === undefined ? all : all.map(draft => ({ ...draft, manifest: { ...draft.manifest, set } }))
  const selected = selectFiles({ drafts, invalid }, options.only, options.prune)
  const client = createClient({ ...host, retries, fetch, clock, inform: terminal.info, signal })
  const run: Run = { url, client, options, context, breaker: new Breaker(signal) }
  const orphans = options.prune
    ? await findOrphans(run, { drafts, invalid: selected.invalid, skipped, folders, profileSet: set })
    : undefined
  const planned = await planSteps(run, selected.drafts)
  const steps = planned.filter((step): step is Step => 'todo' in step)
  if (!run.breaker.isOpen)
    for (const step of steps) if (step.todo === 'update') options.onDifference?.(describeStep(step))
  const results = [
    ...selected.invalid.map(
      ({ file, id, problems }): AgentResult => ({
        file,
        ...(id !== undefined && { id }),
        action: 'invalid',
        problems,
      }),
    ),
    ...planned.filter((step): step is AgentResult => 'action' in step),
    ...(options.dryRun ? steps.map(step => describeDue(step, url)) : await carryOut(run, steps)),
    ...(orphans ? await prune(run, orphans) : []),
  ]
  results.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const { failure, isInterrupted } = run.breaker
  return {
    url,
    results,
    skipped,
    ...(failure && { failure: failure.message }),
    ...(isInterrupted && { interrupted: true }),
  }
}

/** Compares every file with what is registered. */
const planSteps = (run: Run, drafts: readonly Draft[]): Promise<(Step | AgentResult)[]> => {
  const readEtag = shareReads(run, drafts)
  return forEach(run, 'Comparing', drafts, async draft => {
    const etag = await readEtag(draft)
    const found = await run.breaker.call(async () => ({ registered: await readRegistered(run.client, draft, etag) }))
    const unplanned: Step = { draft, todo: 'nothing' }
    if (found === undefined) return notPushed(run, unplanned)
    const { registered } = found
    if (registered && 'rejected' in registered) return describeRejection(unplanned, registered)
    const otherOwner = run.options.force ? undefined : describeOtherOwner(draft, registered)
    if (otherOwner !== undefined)
      return { ...describeStep(unplanned), action: 'owned by another set', detail: otherOwner }
    const step = planStep(draft, registered)
    if (run.options.force !== true && step.todo !== 'nothing' && breaksClients(draft, run.url))
      return { ...describeStep(step), action: 'not sent', detail: LINT_ERROR }
    return addSource(run, step)
  })
}

const LINT_ERROR = 'correct the errors below, or push it as it is with --force'

/** Whether the linter finds an error in a card. Clients of a host with a private address reach others, too. */
const breaksClients = ({ compiled }: Draft, url: string): boolean =>
  compiled?.report.issues.some(
    ({ severity, rule }) => severity === 'error' && !(rule === 'private-url' && isPrivateHost(new URL(url).hostname)),
  ) === true

/** Reads what is registered, unless its entity tag shows that it is what the file has, or nothing. */
const readRegistered = async (client: HostClient, { id, manifest }: Draft, etag: string | null | undefined) => {
  if (etag === null) return undefined
  const digest = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  return etag === `"${digest}"` ? { manifest, etag } : client.getAgent(id)
}

/** An unchanged agent may still have an upstream card that could not be fetched. */
const addSource = async ({ client, breaker }: Run, step: Step): Promise<Step> => {
  if (step.todo !== 'nothing' || !hasRemoteCard(step.draft.manifest)) return step
  const source = await breaker.call(() => client.getSource(step.draft.id))
  return { ...step, ...(source && { source }) }
}

const DUE_ACTIONS = { create: 'to create', update: 'to update', nothing: 'unchanged' } as const

/** Returns what a push of a step would do. */
const describeDue = (step: Step, origin: string): AgentResult => ({
  ...describeStep(step),
  action: DUE_ACTIONS[step.todo],
  ...foreseeUpdate(step, origin),
})

/** Pushes what differs. */
const carryOut = async (run: Run, steps: readonly Step[]): Promise<AgentResult[]> => {
  const { client, options, breaker } = run
  const isPublic = ({ draft }: Step): boolean => draft.manifest.visibility !== 'internal'
  // The first is pushed alone: on an empty host, the first public agent becomes the root agent.
  const due = steps
    .filter(step => step.todo !== 'nothing' || options.refresh)
    .sort((one, other) => Number(isPublic(other)) - Number(isPublic(one)))
  const putShared = shareWrites(run, due)
  const pushed = await forEach(run, 'Pushing', due, async step => {
    const first = await putShared(step)
    const result =
      (first && describeOutcome(step, first)) ??
      (await breaker.call(() => push(client, step, options.force === true, first)))
    return result ? waitForEdge(run, step, result) : notPushed(run, step)
  })
  const unchanged = options.refresh ? [] : steps.filter(({ todo }) => todo === 'nothing')
  return [...unchanged.map((step): AgentResult => ({ ...describeStep(step), action: 'unchanged' })), ...pushed]
}

const waitForEdge = async (run: Run, step: Step, result: AgentResult): Promise<AgentResult> => {
  const { client, options, context, breaker } = run
  const { wait, signal } = options
  const { clock } = context
  const { etag, id } = result
  // The edge serves no internal card without a token, so there is nothing to wait for.
  if (wait === undefined || etag === undefined || id === undefined || step.draft.manifest.visibility === 'internal')
    return result
  const isLive = await breaker.call(() => waitUntilLive(client, { id, etag }, { seconds: wait, clock, signal }))
  if (isLive === false && signal?.aborted) breaker.isInterrupted = true
  return isLive === undefined ? result : { ...result, live: isLive }
}

const notPushed = ({ options }: Run, step: Step): AgentResult => ({
  ...describeStep(step),
  action: options.dryRun ? 'not compared' : 'not pushed',
})
