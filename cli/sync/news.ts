import type { Action } from './actions.ts'
import type { Outcome, Result } from './outcome.ts'

/** After these, a file and the host say the same. */
const settled: readonly Action[] = ['unchanged', 'created', 'updated']

/** What is new since the last synchronisation, for who watches: everything, the first time. */
export class News {
  #last = new Map<string, { action: Action; text: string }>()
  /** The agents that the files of the last time are registered as, by file. */
  #registered = new Map<string, string>()

  /** The results that differ from the last ones. What was pushed then, and stayed so, is no news. */
  of({ results }: Outcome): Result[] {
    const before = this.#last
    this.#last = new Map(
      results.map(result => [nameOf(result), { action: result.action, text: JSON.stringify(result) }]),
    )
    if (before.size === 0) return results
    return results.filter(result => {
      const last = before.get(nameOf(result))
      if (result.action === 'unchanged') return last === undefined || !settled.includes(last.action)
      return settled.includes(result.action) || last?.text !== JSON.stringify(result)
    })
  }

  /** The agents that are still registered, although their files are gone. */
  removed(results: readonly Result[]): { file: string; id: string }[] {
    const files = new Set(results.map(({ file }) => file))
    const ids = new Set(results.map(({ id }) => id))
    const gone = [...this.#registered].flatMap(([file, id]) => (files.has(file) ? [] : [{ file, id }]))
    for (const { file } of gone) this.#registered.delete(file)
    for (const { file, id, action } of results)
      if (file !== undefined && id !== undefined && settled.includes(action)) this.#registered.set(file, id)
    // One that was renamed, or just deleted, is told as what it is.
    return gone.filter(({ id }) => !ids.has(id))
  }
}

const nameOf = ({ file, id }: Result): string => file ?? id ?? ''
