import fc from 'fast-check'
import { afterAll, beforeAll, inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** The mutant that the tests must notice; -1 for none. */
    mutant: number
  }
  interface TaskMeta {
    /** The mutants that a file has reached. */
    reached?: number[]
  }
}

const active = inject('mutant')
const reached = new Set<number>()

/** What instrumented modules call. Test files share a process, and each begins with a new record. */
Object.assign(globalThis, { __mutant: (id: number) => reached.add(id) && id === active })

// The same cases for each mutant.
beforeAll(() => fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 }))

afterAll(({}, { file }) => {
  file.meta.reached = [...reached]
})
