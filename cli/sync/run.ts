import pMap from 'p-map'
import { isFetched } from '../../src/card/manifest/manifest.ts'
import type { BadFile } from '../files/bad-file.ts'
import type { Draft } from '../files/draft.ts'
import type { Host } from '../host/host.ts'
import { Circuit } from './circuit.ts'
import type { SyncOptions } from './options.ts'
import type { Result } from './outcome.ts'
import { plan, type Step, strays } from './plan.ts'
import { lookUp, remove, type Stray } from './prune.ts'
import { push, refusedResult, resultOf } from './push.ts'
import type { Voice } from './voice.ts'
import { waitUntilServed } from './wait.ts'

/** How many requests are under way at once. */
const concurrency = 6

/** How a step is told that is not taken. */
const dueActions = { create: 'to create', update: 'to update', nothing: 'unchanged' } as const

/** One synchronisation under way: asks and changes the host, as far as the options allow and the host answers. */
export class Run {
  readonly circuit = new Circuit()
  readonly #host: Host
  readonly #options: SyncOptions
  readonly #voice: Voice

  constructor(host: Host, options: SyncOptions, voice: Voice) {
    this.#host = host
    this.#options = options
    this.#voice = voice
  }

  /** Whether the host is only looked at. */
  get #looking(): boolean {
    return this.#options.dryRun || this.#options.check
  }

  /** Compares every file with what is registered. */
  plan(drafts: readonly Draft[]): Promise<(Step | Result)[]> {
    return this.#each('Comparing', drafts, async draft => {
      const found = await this.circuit.guard(async () => ({ registered: await this.#host.registered(draft.id) }))
      if (found === undefined) return this.#notPushed({ draft, todo: 'nothing' })
      const { registered } = found
      if (registered && 'refused' in registered) return refusedResult({ draft, todo: 'nothing' }, registered)
      return this.#withSource(plan(draft, registered))
    })
  }

  /** Does what the steps say, or only tells it. */
  async carryOut(steps: readonly Step[]): Promise<Result[]> {
    const { refresh } = this.#options
    const due = steps.filter(step => step.todo !== 'nothing' || refresh)
    const told = steps.map((step): Result => ({ ...resultOf(step), action: dueActions[step.todo] }))
    if (this.#looking) return told
    // An empty host makes its first agent the root: the first goes ahead, so that it is the same one every time.
    const pushed = await this.#each('Pushing', due, async step => {
      const result = await this.circuit.guard(() => push(this.#host, step, this.#options.force))
      return result ? this.#waited(step, result) : this.#notPushed(step)
    })
    return [...(refresh ? [] : told.filter(({ action }) => action === 'unchanged')), ...pushed]
  }

  /** The agents that no file describes; none while a file is bad, as it may be the file of any of them. */
  async strays(drafts: readonly Draft[], bad: readonly BadFile[]): Promise<(Stray | Result)[]> {
    if (bad.length > 0) {
      this.#voice.note('Nothing is pruned while a file is bad.')
      return []
    }
    const listed = (await this.circuit.guard(() => this.#host.list())) ?? []
    const local = drafts.map(draft => draft.id)
    const found = await this.#each(
      'Comparing',
      strays(
        listed.map(({ id }) => id),
        local,
      ),
      id => this.circuit.guard(() => lookUp(this.#host, id)),
    )
    return found.filter(stray => stray !== undefined)
  }

  /** Deletes strays, once the owner agrees. */
  async prune(found: readonly (Stray | Result)[]): Promise<Result[]> {
    const refused = found.filter((item): item is Result => 'action' in item)
    const stale = found.filter((item): item is Stray => 'etag' in item && !('action' in item))
    if (this.#looking || stale.length === 0 || this.circuit.failure)
      return [...refused, ...stale.map(({ id }): Result => ({ id, action: this.#looking ? 'to delete' : 'kept' }))]
    const names = stale.map(({ id }) => id).join(', ')
    if (!(await this.#options.confirm(`Delete ${names} from the host? No file describes it any more.`)))
      return [...refused, ...stale.map(({ id }): Result => ({ id, action: 'kept' }))]
    const removed = await this.#each('Deleting', stale, async (stray): Promise<Result> => {
      const result = await this.circuit.guard(() => remove(this.#host, stray))
      return result ?? { id: stray.id, action: 'not pushed', detail: 'was not deleted' }
    })
    return [...refused, ...removed]
  }

  /** An agent may be as its file says, and its card not have come yet from where it is to come from. */
  async #withSource(step: Step): Promise<Step> {
    if (step.todo !== 'nothing' || !isFetched(step.draft.manifest)) return step
    const source = await this.circuit.guard(() => this.#host.source(step.draft.id))
    return { ...step, ...(source && { source }) }
  }

  async #waited(step: Step, result: Result): Promise<Result> {
    const { wait } = this.#options
    const { etag, id } = result
    // Nobody is served an internal agent's card without a token: there is nothing to wait for.
    const isPublic = step.draft.manifest.visibility !== 'internal'
    if (wait === undefined || etag === undefined || id === undefined || !isPublic) return result
    const deadline = Date.now() + wait * 1000
    return {
      ...result,
      live: (await this.circuit.guard(() => waitUntilServed(this.#host, id, etag, deadline))) ?? false,
    }
  }

  #notPushed(step: Step): Result {
    return { ...resultOf(step), action: 'not pushed' }
  }

  /** Does something for every item, the first alone: where the host is lost, one is enough to find out. */
  async #each<Item, Made>(title: string, items: readonly Item[], make: (item: Item) => Promise<Made>): Promise<Made[]> {
    const progress = this.#voice.progress(title, items.length)
    const step = async (item: Item): Promise<Made> => {
      const made = await make(item)
      progress.tick()
      return made
    }
    try {
      const first = await pMap(items.slice(0, 1), step)
      return [...first, ...(await pMap(items.slice(1), step, { concurrency }))]
    } finally {
      progress.stop()
    }
  }
}
