import pMap from 'p-map'
import { matchesGlob } from '../../src/card/model/index.ts'
import type { HostClient } from '../client/index.ts'
import type { Context } from '../context.ts'
import { didYouMean } from '../did-you-mean.ts'
import { HostError, UsageError } from '../errors.ts'
import type { CardFiles } from '../manifests/index.ts'
import type { AgentResult } from './result.ts'

/** The options of a synchronization. */
export type SyncOptions = {
  dryRun?: boolean | undefined
  prune?: boolean | undefined
  /** Repeats it when files change: folders may be empty for a moment then. */
  isWatch?: boolean
  /** Overwrites concurrent changes and agents of other sets, and pushes cards in which the linter finds an error. */
  force?: boolean | undefined
  /** Also sends unchanged manifests: an upgraded or moved host makes a different card from the same manifest. */
  refresh?: boolean | undefined
  retries?: number
  /** The seconds to wait until the edge serves what was pushed. */
  wait?: number | undefined
  /** Globs of the ids that are looked at; all without any. */
  only?: readonly string[] | undefined
  /** The places that may have what looks like a secret, in any of the files. */
  allowSecret?: readonly string[] | undefined
  /** Prompts before anything is deleted. Without it, nothing is asked, and any number of agents may be deleted. */
  confirm?: ((question: string, signal?: AbortSignal) => Promise<boolean>) | undefined
  /** Called with each agent whose file differs from the host, before anything is written. */
  onDifference?: (result: Omit<AgentResult, 'action'>) => void
  /** Called with what is skipped and why; by default, the terminal shows it. */
  onNote?: (note: string) => void
  /** Once aborted, no further request is sent. Requests under way are completed. */
  signal?: AbortSignal | undefined
}

/** One synchronization in progress. */
export type Run = { url: string; client: HostClient; options: SyncOptions; context: Context; breaker: Breaker } & {
  note: (text: string) => void
}

/** Ends a synchronization between two requests: after the first HostError, or once the signal is aborted. */
export class Breaker {
  failure: HostError | undefined
  /** The user has interrupted the synchronization before everything was done. */
  isInterrupted = false
  readonly #signal: AbortSignal | undefined

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  /** Checks whether the remaining work is skipped. */
  get isOpen(): boolean {
    return this.failure !== undefined || this.isInterrupted || this.#signal?.aborted === true
  }

  /** Returns the result of `work`; undefined if it is skipped or has a HostError. */
  async call<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      if (!this.isOpen) return await work()
    } catch (error) {
      if (!(error instanceof HostError)) throw error
      this.failure ??= error
    }
    if (this.#signal?.aborted) this.isInterrupted = true
    return undefined
  }
}

const CONCURRENCY = 6

/** Handles items with a progress bar, the first alone: it shows whether the host works, and may be the root agent. */
export const forEach = async <Item, Result>(
  { context, breaker }: Pick<Run, 'context' | 'breaker'>,
  title: string,
  items: readonly Item[],
  handle: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const progress = context.terminal.progress(title, items.length)
  const handleAndTick = async (item: Item): Promise<Result> => {
    const result = await handle(item)
    // What is skipped is not done.
    if (!breaker.isOpen) progress.tick()
    return result
  }
  try {
    const first = await pMap(items.slice(0, 1), handleAndTick)
    return [...first, ...(await pMap(items.slice(1), handleAndTick, { concurrency: CONCURRENCY }))]
  } finally {
    progress.stop()
  }
}

/** Returns the files that `--only` selects, and those without an id. Unless `acceptUnmatched`, each glob must match. */
export const selectFiles = (
  { drafts, invalid }: Omit<CardFiles, 'skipped'>,
  only: readonly string[] | undefined,
  acceptUnmatched = false,
) => {
  const matches = createFilter(only)
  const ids = [...drafts, ...invalid].flatMap(({ id }) => id ?? [])
  if (!acceptUnmatched && invalid.every(({ id }) => id !== undefined)) rejectUnmatchedGlobs(only, ids)
  return {
    drafts: drafts.filter(({ id }) => matches(id)),
    invalid: invalid.filter(({ id }) => id === undefined || matches(id)),
  }
}

/** Returns a function that checks whether one of the globs matches an id. Without globs, every id matches. */
export const createFilter = (globs: readonly string[] = []): ((id: string) => boolean) =>
  globs.length === 0 ? () => true : id => globs.some(glob => matchesGlob(glob, id))

/** Throws a UsageError for a glob that matches none of the ids, and suggests one that does. */
export const rejectUnmatchedGlobs = (globs: readonly string[] = [], ids: readonly string[]): void => {
  const isMatched = (glob: string): boolean => ids.some(id => matchesGlob(glob, id))
  const glob = globs.find(each => !isMatched(each))
  if (glob === undefined) return
  const similar = similarGlobs(glob, ids).filter(isMatched)
  throw new UsageError(`--only ${glob} matches no agent.${didYouMean(glob, similar)}`)
}

/** Returns the glob with its beginning replaced by those of the ids, up to a letter longer or shorter. */
const similarGlobs = (glob: string, ids: readonly string[]): string[] => {
  const [start = '', ...rest] = glob.split('*')
  if (rest.length === 0) return [...ids]
  const ends = [start.length - 1, start.length, start.length + 1]
  return ids.flatMap(id => ends.map(end => [id.slice(0, Math.max(0, end)), ...rest].join('*')))
}
