import { createHash } from 'node:crypto'
import { hasRemoteCard } from '../../src/card/manifest/index.ts'
import { isPrivateHost } from '../../src/http/shared.ts'
import { MAX_BODY_BYTES, MAX_PAGE_SIZE } from '../../src/limits.ts'
import { ApiError, createHostClient, type HostClient, readAgent, readLiveCard } from '../client/index.ts'
import { type Context, poll } from '../context.ts'
import { asRejection, HostError, onRejection } from '../errors.ts'
import type { HostSettings } from '../hosts/index.ts'
import { type Draft, defaultToCardsFolder, loadManifests, rejectNoCards, skippedText } from '../manifests/index.ts'
import { findOrphans, prune } from './prune.ts'
import {
  describeOtherOwner,
  describeOutcome,
  describeRejection,
  describeStep,
  foreseeStep,
  type PutResult,
  planStep,
  push,
  type Step,
} from './push.ts'
import { type AgentResult, nameOf, type SyncResult } from './result.ts'
import { Breaker, forEach, type Run, type SyncOptions, selectFiles } from './sync-run.ts'

/** Options for a host that was just started or deployed: sends everything again, deletes nothing, does not prompt. */
export const NON_INTERACTIVE = { refresh: true } as const satisfies SyncOptions

/** Brings a host in line with the owner's files. `named` are files and folders; `cards/` by default. */
export const syncCards = async (
  named: readonly string[],
  host: HostSettings,
  options: SyncOptions,
  context: Context,
): Promise<SyncResult> => {
  const { url, set } = host
  const { onNote: note = context.terminal.info, signal } = options
  const folders = defaultToCardsFolder(named)
  const loaded = loadManifests(folders, url, context.cwd, options.allowSecret)
  if (!options.prune || options.isWatch) rejectNoCards(folders, loaded)
  const { drafts: all, invalid, skipped } = loaded
  for (const file of skipped) note(skippedText(file))
  const drafts = set === undefined ? all : all.map(draft => ({ ...draft, manifest: { ...draft.manifest, set } }))
  const selected = selectFiles({ drafts, invalid }, options.only, options.prune)
  const client = createHostClient(host, context, options)
  const run: Run = { url, client, options, context, note, breaker: new Breaker(signal) }
  const orphans = options.prune
    ? await findOrphans(run, { drafts, invalid: selected.invalid, skipped, folders, profileSet: set })
    : undefined
  const planned = await planSteps(run, selected.drafts)
  const steps = planned.filter(step => 'todo' in step)
  if (!run.breaker.isOpen)
    for (const step of steps) if (step.todo === 'update') options.onDifference?.(describeStep(step))
  const results = [
    ...selected.invalid.map((file): AgentResult => ({ ...file, action: 'invalid' })),
    ...planned.filter(step => 'action' in step),
    ...(options.dryRun
      ? steps.map(step => ({ ...describeStep(step), ...foreseeStep(step, url) }))
      : await carryOut(run, steps)),
    ...(orphans ? await prune(run, orphans) : []),
  ]
  results.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  const { failure, isInterrupted } = run.breaker
  return { url, results, skipped, failure: failure?.message, interrupted: isInterrupted || undefined }
}

const planSteps = (run: Run, drafts: readonly Draft[]): Promise<(Step | AgentResult)[]> => {
  const readEtag = shareReads(run, drafts)
  return forEach(run, 'Comparing', drafts, async draft => {
    const etag = await readEtag(draft)
    const found = await run.breaker.call(async () => ({ registered: await readRegistered(run.client, draft, etag) }))
    const unplanned: Step = { draft, todo: 'nothing' }
    if (found === undefined) return notPushed(run, unplanned)
    const { registered } = found
    if (registered instanceof ApiError) return describeRejection(unplanned, registered)
    const otherOwner = run.options.force ? undefined : describeOtherOwner(draft, registered)
    if (otherOwner !== undefined)
      return { ...describeStep(unplanned), action: 'owned by another set', detail: otherOwner }
    const step = planStep(draft, registered)
    const advice = 'correct the errors below, or push it as it is with --force'
    if (run.options.force !== true && step.todo !== 'nothing' && breaksClients(draft, run.url))
      return { ...describeStep(step), action: 'not sent', detail: advice }
    if (step.todo !== 'nothing' || !hasRemoteCard(draft.manifest)) return step
    // An unchanged agent may still have an upstream card that could not be fetched.
    const reading = () => run.client.call('GET /agents/:id/source', { params: { id: draft.id } })
    const state = await run.breaker.call(() => reading().catch(onRejection(() => undefined)))
    return { ...step, ...(state && { source: state.source }) }
  })
}

/** Checks whether the linter finds an error in a card. Clients of a host with a private address reach others, too. */
const breaksClients = ({ compiled }: Draft, url: string): boolean =>
  compiled?.report.issues.some(
    ({ severity, rule }) => severity === 'error' && !(rule === 'private-url' && isPrivateHost(new URL(url).hostname)),
  ) === true

/** Reads what is registered, unless its entity tag shows that it is what the file has, or nothing. */
const readRegistered = async (client: HostClient, { id, manifest }: Draft, etag: string | null | undefined) => {
  if (etag === null) return undefined
  const digest = createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
  return etag === `"${digest}"` ? { manifest, etag } : readAgent(client, id).catch(asRejection)
}

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
  const { client, context, breaker } = run
  const { wait, signal } = run.options
  const { etag, id } = result
  // The edge serves no internal card without a token, so there is nothing to wait for.
  if (wait === undefined || etag === undefined || id === undefined || step.draft.manifest.visibility === 'internal')
    return result
  const check = async () => (await readLiveCard(client, id)).etag === etag
  const pauses = { clock: context.clock, timeoutMs: wait * 1000, pauseMs: 100, maxPauseMs: 3000, signal }
  const isLive = await breaker.call(() => poll(check, pauses))
  if (isLive === false && signal?.aborted) breaker.isInterrupted = true
  return isLive === undefined ? result : { ...result, live: isLive }
}

const notPushed = ({ options }: Run, step: Step): AgentResult => ({
  ...describeStep(step),
  action: options.dryRun ? 'not compared' : 'not pushed',
})

/** For fewer agents, single requests at the same time take no longer than shared ones. */
const MIN_SHARED = 20

/** The manifests in one request: it is done within seconds, so that progress shows, and Ctrl-C does not wait long. */
const MAX_SHARED_BYTES = 1024 * 1024

/** A line of a batch must not be longer than a body with the manifest alone; this is for its other members. */
const MAX_LINE_OVERHEAD = 1024

type Lookup<Item, Result> = (item: Item) => Promise<Result | undefined>

/** Looks up entity tags, `null` for agents that do not exist, but not that of the first draft, which tests the host. */
const shareReads = ({ client, breaker }: Run, drafts: readonly Draft[]): Lookup<Draft, string | null> => {
  const sizeOf = (): number => 0
  return share(drafts.slice(1), sizeOf, async group => {
    const ids = group.map(({ id }) => id)
    const list = () => client.call('GET /agents', { query: { id: ids } }).catch(onRejection(() => undefined))
    const listed = await breaker.call(list)
    // Of an agent that the token cannot write, the host lists no entity tag.
    if (listed === undefined || listed.agents.some(({ etag }) => etag === undefined)) return []
    const etags = new Map(listed.agents.map(({ id, etag }) => [id, etag]))
    return ids.map(id => etags.get(id) ?? null)
  })
}

/** Registers manifests, but not the first, which may become the root agent, and no remote cards, which take longer. */
const shareWrites = ({ client, breaker }: Run, steps: readonly Step[]): Lookup<Step, PutResult | ApiError> => {
  const sizeOf = ({ draft }: Step): number => Buffer.byteLength(JSON.stringify(draft.manifest))
  const isShared = (step: Step): boolean =>
    !hasRemoteCard(step.draft.manifest) && sizeOf(step) + MAX_LINE_OVERHEAD <= MAX_BODY_BYTES
  return share(steps.slice(1).filter(isShared), sizeOf, async group => {
    return (await breaker.call(() => putAgents(client, group))) ?? []
  })
}

/** Registers the manifests of steps with one request. Returns undefined for those that must be sent by themselves. */
const putAgents = async (client: HostClient, steps: readonly Step[]): Promise<(PutResult | ApiError | undefined)[]> => {
  const lines = steps.map(({ draft: { id, manifest }, etag }) => ({
    ...{ id, manifest },
    ...(etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: etag }),
  }))
  try {
    const replies = await client.call('POST /agents:batch', { lines, once: true })
    const results = new Map(replies.map(result => [result.line, result]))
    return steps.map((_, index) => {
      const { status = 0, agent, error: body } = results.get(index + 1) ?? {}
      if (agent) return agent
      const error = new ApiError({ status, body })
      // The result is unknown, or the failure may pass.
      if (body === undefined || error.retry !== undefined) return undefined
      const explained = client.explain(Object.assign(error, { isAuthorized: true }))
      return explained instanceof ApiError ? explained : undefined
    })
  } catch (error) {
    const failure = error instanceof HostError ? error.cause : error
    // Each card is sent by itself then, which gives each a result. Past a rate limit, that would be too many requests.
    if (!(failure instanceof ApiError) || failure.status === 401 || failure.retry === 'limited') throw error
    return steps.map(() => undefined)
  }
}

/** Sends the request of a group when the first of its items is looked up. */
const share = <Item, Result>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
  send: (group: readonly Item[]) => Promise<readonly (Result | undefined)[]>,
): Lookup<Item, Result> => {
  const groups: Item[][] = []
  let bytes = 0
  for (const item of items.length < MIN_SHARED ? [] : items) {
    const size = sizeOf(item)
    const last = groups.at(-1)
    const isFull = last === undefined || last.length === MAX_PAGE_SIZE || bytes + size > MAX_SHARED_BYTES
    if (isFull) groups.push([item])
    else last.push(item)
    bytes = isFull ? size : bytes + size
  }
  const lookups = new Map<Item, () => Promise<Result | undefined>>()
  for (const group of groups) {
    let results: ReturnType<typeof send> | undefined
    const lookUp = async (index: number): Promise<Result | undefined> => {
      results ??= send(group)
      return (await results)[index]
    }
    for (const [index, item] of group.entries()) lookups.set(item, () => lookUp(index))
  }
  return async item => lookups.get(item)?.()
}
