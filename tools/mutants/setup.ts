import fc from 'fast-check'
import { afterAll, beforeAll, inject, vi } from 'vitest'
import { NO_MUTANT } from './plugin.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The mutant that the tests must notice. */
    mutant: number
  }
  interface TaskMeta {
    /** The mutants that a file has reached. */
    reached?: number[]
  }
}

/** What was reached while modules were loaded, which is once where files share them, and since. */
type Reached = { loading: number; loaded: Set<number>; called: Set<number> }

const scope = globalThis as typeof globalThis & { __mutants?: Reached; __mutant?: (id: number) => boolean }
const active = inject('mutant')
const sharesModules = process.env.SHARED_MODULES === 'yes'
// Host tests share their runtime, which is a module. Only the run that records what is reached takes the time for this.
if (active === NO_MUTANT && !sharesModules) vi.resetModules()
const loaded = (sharesModules && scope.__mutants?.loaded) || new Set<number>()
const reached: Reached = { loading: 0, loaded, called: new Set() }
scope.__mutants = reached
scope.__mutant = id => (reached.loading > 0 ? reached.loaded : reached.called).add(id) && id === active

/** Adds what the hosts of a file have reached. */
export const addReached = (ids: readonly number[]): void => {
  for (const id of ids) reached.called.add(id)
}

// The same cases for each mutant.
beforeAll(() => fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 }))

// biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern here.
afterAll(({}, { file }) => {
  file.meta.reached = [...reached.loaded, ...reached.called]
})
