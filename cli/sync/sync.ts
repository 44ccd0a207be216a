import pMap from 'p-map'
import { cardFiles, cardsFolder, howToStart } from '../files/card-files.ts'
import type { BadFile, Draft } from '../files/draft.ts'
import { load } from '../files/load.ts'
import { connect, type Host } from '../host/host.ts'
import { changeText } from '../report/change-text.ts'
import type { Settings } from '../settings.ts'
import { UsageError } from '../usage-error.ts'
import { Circuit } from './circuit.ts'
import type { SyncOptions } from './options.ts'
import type { Outcome, Result } from './outcome.ts'
import { plan, type Step, strays } from './plan.ts'
import { lookUp, remove, type Stray } from './prune.ts'
import { push, refusedResult, resultOf } from './push.ts'
import type { Voice } from './voice.ts'
import { waitUntilServed } from './wait.ts'

/** How many requests are under way at once. */
const concurrency = 6

/** Brings a host in line with the owner's files, and says what came of each. */
export const syncCards = async (
  named: readonly string[],
  { url, token }: Settings,
  options: SyncOptions,
  voice: Voice,
): Promise<Outcome> => {
  const files = cardFiles(named)
  if (files.length === 0) throw new UsageError(`${named.join(', ') || cardsFolder} holds no cards. ${howToStart}`)
  const { drafts, bad } = load(files, url)
  const host = connect({ url, token, retries: options.retries, note: voice.note })
  const run = new Run(host, options, voice)
  const steps = await run.plan(drafts)
  const stale = options.prune ? await run.strays(drafts, bad) : []
  const results = [...bad.map(invalid), ...steps.flatMap(step => ('action' in step ? [step] : []))]
  const todo = steps.filter((step): step is Step => 'todo' in step)
  for (const step of todo) if (step.todo === 'update') voice.say(changeText(resultOf(step)))
  results.push(...(await run.carryOut(todo)), ...(await run.prune(stale)))
  const { failure } = run.circuit
  return { url, results, ...(failure && { failure: failure.message }) }
}

const invalid = ({ file, id, problems }: BadFile): Result => ({
  file,
  ...(id !== undefined && { id }),
  action: 'invalid',
  problems,
})

/** One synchronisation under way. */
class Run {
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
      return plan(draft, registered)
    })
  }

  /** Does what the steps say, or only tells it. */
  async carryOut(steps: readonly Step[]): Promise<Result[]> {
    // An empty host makes its first agent the root: one goes ahead, so that it is the same one every time.
    const ahead = steps.length > 0 && steps.every(step => step.todo === 'create') ? 1 : 0
    return [...(await this.#push(steps.slice(0, ahead))), ...(await this.#push(steps.slice(ahead)))]
  }

  #push(steps: readonly Step[]): Promise<Result[]> {
    return this.#each('Pushing', steps, async step => {
      const told = resultOf(step)
      if (step.todo === 'nothing') return { ...told, action: 'unchanged' }
      if (this.#looking) return { ...told, action: step.todo === 'create' ? 'to create' : 'to update' }
      const result = await this.circuit.guard(() => push(this.#host, step, this.#options.force))
      return result ? this.#waited(step, result) : this.#notPushed(step)
    })
  }

  /** The agents that no file describes; none while a file is bad, as it may be the file of any of them. */
  async strays(drafts: readonly Draft[], bad: readonly BadFile[]): Promise<(Stray | Result)[]> {
    if (bad.length > 0) {
      this.#voice.note('Nothing is pruned while a file is bad.')
      return []
    }
    const ids = (await this.circuit.guard(() => this.#host.ids())) ?? []
    const local = drafts.map(draft => draft.id)
    const found = await this.#each('Comparing', strays(ids, local), id =>
      this.circuit.guard(() => lookUp(this.#host, id)),
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

  async #each<Item, Made>(title: string, items: readonly Item[], make: (item: Item) => Promise<Made>): Promise<Made[]> {
    const progress = this.#voice.progress(title, items.length)
    try {
      return await pMap(
        items,
        async item => {
          const made = await make(item)
          progress.tick()
          return made
        },
        { concurrency },
      )
    } finally {
      progress.stop()
    }
  }
}
