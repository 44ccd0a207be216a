import pMap from 'p-map'
import { hasRemoteCard } from '../../src/card/manifest/manifest.ts'
import { createClient, type HostClient, HostError } from '../client/index.ts'
import type { Context, HostSettings } from '../config.ts'
import { UsageError } from '../exit-codes.ts'
import { CREATE_CARD_HINT, type Draft, type InvalidFile, loadManifests, orCardsFolder } from '../manifests/index.ts'
import { findOrphans, planStep, type Step } from './plan.ts'
import { deleteOrphan, describeRejection, describeStep, getOrphan, type Orphan, push, waitUntilLive } from './push.ts'
import { type AgentResult, nameOf, type SyncResult } from './result.ts'

/** What a synchronisation may do. */
export type SyncOptions = {
  dryRun: boolean
  check: boolean
  prune: boolean
  force: boolean
  /** Also sends unchanged manifests: an upgraded or moved host makes a different card from the same manifest. */
  refresh: boolean
  retries: number
  /** How many seconds to wait until the edge serves what was pushed. */
  wait?: number | undefined
  /** Called before anything is deleted. */
  confirm: (question: string) => Promise<boolean>
  /** Called with each agent whose file differs from the host, before anything is written. */
  onDifference?: (result: Omit<AgentResult, 'action'>) => void
}

/** Options for a host that was just started or deployed: sends everything again, deletes nothing, does not prompt. */
export const NON_INTERACTIVE = {
  dryRun: false,
  check: false,
  prune: false,
  force: false,
  refresh: true,
  retries: 4,
  confirm: async () => false,
} as const satisfies SyncOptions

/** How many requests are sent at once. */
const CONCURRENCY = 6

/** Brings a host in line with the owner's files. `named` are files and folders; `cards/` by default. */
export const syncCards = async (
  named: readonly string[],
  host: HostSettings,
  options: SyncOptions,
  context: Context,
): Promise<SyncResult> => {
  const { url } = host
  const { fetch, clock, cwd, terminal } = context
  const { drafts, invalid, skipped } = loadManifests(orCardsFolder(named), url, cwd)
  if (drafts.length + invalid.length + skipped.length === 0)
    throw new UsageError(`${orCardsFolder(named).join(', ')} has no cards. ${CREATE_CARD_HINT}`)
  const client = createClient({ ...host, retries: options.retries, fetch, clock, inform: terminal.info })
  const run: Run = { client, options, context, breaker: new HostBreaker() }
  const planned = await planSteps(run, drafts)
  const orphans = options.prune ? await lookUpOrphans(run, drafts, invalid) : []
  const steps = planned.filter((step): step is Step => 'todo' in step)
  for (const step of steps) if (step.todo === 'update') options.onDifference?.(describeStep(step))
  const results = [
    ...invalid.map(
      ({ file, id, problems }): AgentResult => ({
        file,
        ...(id !== undefined && { id }),
        action: 'invalid',
        problems,
      }),
    ),
    ...planned.filter((step): step is AgentResult => 'action' in step),
    ...(await carryOut(run, steps)),
    ...(await prune(run, orphans)),
  ]
  results.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const { failure } = run.breaker
  return { url, results, ...(failure && { failure: failure.message }) }
}

/** One synchronisation in progress. */
type Run = { client: HostClient; options: SyncOptions; context: Context; breaker: HostBreaker }

/** Stops calling a host that cannot be used: after the first HostError, it skips the remaining work. */
class HostBreaker {
  failure: HostError | undefined

  /** Returns the result of `work`; undefined if there is a HostError before or during it. */
  async call<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    if (this.failure) return undefined
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof HostError)) throw error
      this.failure ??= error
      return undefined
    }
  }
}

/** Compares every file with what is registered. */
const planSteps = (run: Run, drafts: readonly Draft[]): Promise<(Step | AgentResult)[]> =>
  forEach(run, 'Comparing', drafts, async draft => {
    const found = await run.breaker.call(async () => ({ registered: await run.client.getAgent(draft.id) }))
    const unplanned: Step = { draft, todo: 'nothing' }
    if (found === undefined) return notPushed(unplanned)
    const { registered } = found
    if (registered && 'rejected' in registered) return describeRejection(unplanned, registered)
    return addSource(run, planStep(draft, registered))
  })

/** An unchanged agent may still have an upstream card that could not be fetched. */
const addSource = async ({ client, breaker }: Run, step: Step): Promise<Step> => {
  if (step.todo !== 'nothing' || !hasRemoteCard(step.draft.manifest)) return step
  const source = await breaker.call(() => client.getSource(step.draft.id))
  return { ...step, ...(source && { source }) }
}

const DUE_ACTIONS = { create: 'to create', update: 'to update', nothing: 'unchanged' } as const

/** Pushes what differs, or only reports it. */
const carryOut = async (run: Run, steps: readonly Step[]): Promise<AgentResult[]> => {
  const { client, options, breaker } = run
  const planned = steps.map((step): AgentResult => ({ ...describeStep(step), action: DUE_ACTIONS[step.todo] }))
  if (isReadOnly(options)) return planned
  const due = steps.filter(step => step.todo !== 'nothing' || options.refresh)
  const pushed = await forEach(run, 'Pushing', due, async step => {
    const result = await breaker.call(() => push(client, step, options.force))
    return result ? waitForEdge(run, step, result) : notPushed(step)
  })
  return [...(options.refresh ? [] : planned.filter(({ action }) => action === 'unchanged')), ...pushed]
}

const isReadOnly = ({ dryRun, check }: SyncOptions): boolean => dryRun || check

const waitForEdge = async (run: Run, step: Step, result: AgentResult): Promise<AgentResult> => {
  const { client, options, context, breaker } = run
  const { wait } = options
  const { etag, id } = result
  // The edge serves no internal card without a token, so there is nothing to wait for.
  if (wait === undefined || etag === undefined || id === undefined || step.draft.manifest.visibility === 'internal')
    return result
  const isLive = await breaker.call(() => waitUntilLive(client, { id, etag }, wait, context.clock))
  return { ...result, live: isLive ?? false }
}

/** Returns the agents that no file describes. Returns none if a file is invalid, because it may describe any of them. */
const lookUpOrphans = async (
  run: Run,
  drafts: readonly Draft[],
  invalid: readonly InvalidFile[],
): Promise<(Orphan | AgentResult)[]> => {
  const { client, context, breaker } = run
  if (invalid.length > 0) {
    context.terminal.info('Nothing is pruned while a file is invalid.')
    return []
  }
  const registered = (await breaker.call(client.listAgents)) ?? []
  const ids = findOrphans(
    registered.map(({ id }) => id),
    drafts.map(({ id }) => id),
  )
  const found = await forEach(run, 'Comparing', ids, id => breaker.call(() => getOrphan(client, id)))
  return found.filter(orphan => orphan !== undefined)
}

/** Deletes orphans if the owner agrees. */
const prune = async (run: Run, found: readonly (Orphan | AgentResult)[]): Promise<AgentResult[]> => {
  const { client, options, breaker } = run
  const rejected = found.filter((item): item is AgentResult => 'action' in item)
  const orphans = found.filter((item): item is Orphan => !('action' in item))
  const withAction = (action: 'to delete' | 'kept') => orphans.map(({ id }): AgentResult => ({ id, action }))
  if (isReadOnly(options)) return [...rejected, ...withAction('to delete')]
  if (orphans.length === 0 || breaker.failure) return [...rejected, ...withAction('kept')]
  const names = orphans.map(({ id }) => id).join(', ')
  if (!(await options.confirm(`Delete ${names} from the host? No file describes them.`)))
    return [...rejected, ...withAction('kept')]
  const deleted = await forEach(run, 'Deleting', orphans, async (orphan): Promise<AgentResult> => {
    const result = await breaker.call(() => deleteOrphan(client, orphan))
    return result ?? { id: orphan.id, action: 'not pushed', detail: 'was not deleted' }
  })
  return [...rejected, ...deleted]
}

const notPushed = (step: Step): AgentResult => ({ ...describeStep(step), action: 'not pushed' })

/**
 * Handles every item with a progress bar. The first is handled alone: it shows whether the host can be used, and on an
 * empty host it always becomes the root agent.
 */
const forEach = async <Item, Result>(
  { context }: Run,
  title: string,
  items: readonly Item[],
  handle: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const progress = context.terminal.progress(title, items.length)
  const handleAndTick = async (item: Item): Promise<Result> => {
    const result = await handle(item)
    progress.tick()
    return result
  }
  try {
    const first = await pMap(items.slice(0, 1), handleAndTick)
    return [...first, ...(await pMap(items.slice(1), handleAndTick, { concurrency: CONCURRENCY }))]
  } finally {
    progress.stop()
  }
}
