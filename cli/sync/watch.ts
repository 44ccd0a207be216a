import { pathsToWatch } from '../manifests/index.ts'
import { type Action, type AgentResult, nameOf, type SyncResult } from './result.ts'

/** Runs `work` once, and again whenever the files change, one run at a time, until the signal. No change is missed. */
export const watchCards = async (
  { named, cwd }: { named: readonly string[]; cwd: string },
  work: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> => {
  const { watch } = await import('chokidar')
  const { paths, isIgnored } = pathsToWatch(named, cwd)
  const watcher = watch(paths, {
    ignored: path => isIgnored(path),
    ignoreInitial: true,
    awaitWriteFinish: { stabilityThreshold: 100, pollInterval: 25 },
  })
  let hasChanged = false
  let wake = (): void => {}
  const notify = (): void => {
    hasChanged = true
    wake()
  }
  watcher.on('all', notify)
  signal.addEventListener('abort', notify, { once: true })
  await new Promise<void>(resolve => watcher.once('ready', () => resolve()))
  try {
    while (!signal.aborted) {
      await work()
      if (!hasChanged)
        await new Promise<void>(resolve => {
          wake = resolve
        })
      hasChanged = false
    }
  } finally {
    await watcher.close()
  }
}

/** Actions after which a file and the host are equal. */
const IN_SYNC: readonly Action[] = ['unchanged', 'created', 'updated']

/** Compares each synchronization with the previous one. */
export class ChangeTracker {
  #last = new Map<string, { action: Action; text: string }>()
  /** The ids under which the files of the last synchronization are registered. */
  readonly #registered = new Map<string, string>()

  /** Returns the results that differ from the last ones; all of them the first time. */
  newResults({ results }: SyncResult): AgentResult[] {
    const last = this.#last
    this.#last = new Map(
      results.map(result => [nameOf(result), { action: result.action, text: JSON.stringify(result) }]),
    )
    if (last.size === 0) return results
    return results.filter(result => {
      const before = last.get(nameOf(result))
      // An agent that was just pushed is unchanged now, which is not news.
      if (result.action === 'unchanged') return before === undefined || !IN_SYNC.includes(before.action)
      return IN_SYNC.includes(result.action) || before?.text !== JSON.stringify(result)
    })
  }

  /** Returns the agents that are still registered although their files are gone. */
  removedFiles(results: readonly AgentResult[]): { file: string; id: string }[] {
    const files = new Set(results.map(({ file }) => file))
    const ids = new Set(results.map(({ id }) => id))
    const gone = [...this.#registered].flatMap(([file, id]) => (files.has(file) ? [] : [{ file, id }]))
    for (const { file } of gone) this.#registered.delete(file)
    for (const { file, id, action } of results)
      if (file !== undefined && id !== undefined && IN_SYNC.includes(action)) this.#registered.set(file, id)
    // The file may have been renamed, or its agent just deleted: then there is a result for it.
    return gone.filter(({ id }) => !ids.has(id))
  }
}
