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

/** What a file reaches: while its modules are loaded, which is once if files share them, and in tests. */
export type Reached = { loading: number; loaded: Set<number>; called: Set<number> }

const scope = globalThis as typeof globalThis & { __mutants?: Reached; __mutant?: (id: number) => boolean }
const active = inject('mutant')
const sharesModules = process.env.SHARED_MODULES === 'yes'
// The run that records what is reached takes time for it.
if (active === NO_MUTANT && !sharesModules) vi.resetModules()
const loaded = (sharesModules && scope.__mutants?.loaded) || new Set<number>()
const reached: Reached = { loading: 0, loaded, called: new Set() }
scope.__mutants = reached
scope.__mutant = id => (reached.loading > 0 ? reached.loaded : reached.called).add(id) && id === active

// The same cases for each mutant.
beforeAll(() => fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 }))

// biome-ignore lint/correctness/noEmptyPattern: Vitest requires a pattern here.
afterAll(({}, { file }) => {
  file.meta.reached = [...reached.loaded, ...reached.called]
})
