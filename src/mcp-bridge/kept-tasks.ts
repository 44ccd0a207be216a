import type { Principal } from './shares.ts'

/** What of a task says whether it is kept. */
export type KeptTask = { id: string; account: Principal; changed: number; length: number; open: boolean }

/** How many tasks that have ended are kept, for how long in ms, and how much text of all. */
const most = 200
export const longestKept = 24 * 60 * 60 * 1000
const mostText = 64 * 1024 * 1024

/**
 * Which tasks are forgotten: those that are too old, and, where there are too many, the oldest of whoever has most: nobody's are
 * forgotten for somebody who has more. Callers that the host does not know count as one beside the known ones, and each of their
 * addresses as one among them. Tasks that have not ended stay: they are few. The newest task is the first.
 */
export const selectEvictions = (tasks: readonly KeptTask[], now: number): string[] => {
  const isOld = (task: KeptTask) => !task.open && task.changed <= now - longestKept
  const forgotten = tasks.filter(isOld)
  let kept = tasks.filter(task => !isOld(task))
  for (;;) {
    const ended = kept.filter(({ open }) => !open)
    const tooMany = ended.length > most
    if (!tooMany && sumOf(kept, lengthOf) <= mostText) break
    const victim = oldestOfLargest(ended, tooMany ? one : lengthOf)
    if (victim === undefined) break
    forgotten.push(victim)
    kept = kept.filter(task => task !== victim)
  }
  return forgotten.map(({ id }) => id)
}

type Measure = (task: KeptTask) => number

const one: Measure = () => 1

const lengthOf: Measure = ({ length }) => length

const sumOf = (tasks: readonly KeptTask[], measure: Measure): number =>
  tasks.reduce((sum, task) => sum + measure(task), 0)

const oldestOfLargest = (tasks: readonly KeptTask[], measure: Measure): KeptTask | undefined => {
  const party = largest(tasks, ({ account }) => (account.known ? account.name : ''), measure)
  return largest(party, ({ account }) => account.name, measure).at(-1)
}

/** The tasks of whoever has most; of several, of whoever was active last. */
const largest = (
  tasks: readonly KeptTask[],
  keyOf: (task: KeptTask) => string,
  measure: Measure,
): readonly KeptTask[] => {
  const groups = [...Map.groupBy(tasks, keyOf).values()]
  return groups.reduce((most, each) => (sumOf(each, measure) > sumOf(most, measure) ? each : most), groups[0] ?? [])
}
