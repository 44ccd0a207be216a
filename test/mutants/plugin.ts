import { relative } from 'node:path'
import { instrument, type NumberedMutant } from './instrument.ts'
import type { LocatedMutant } from './sample.ts'

export type SampledMutant = LocatedMutant & NumberedMutant

/** Instruments the modules of a sample, in Vitest and in the build of the Worker: plugins of Vite and Rolldown have one form. */
export const instrumentModules = (root: string, mutants: readonly SampledMutant[]) => {
  const byPath = Map.groupBy(mutants, ({ path }) => path)
  return {
    name: 'mutants',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => {
      const found = byPath.get(relative(root, id.replace(/\?.*/, '')))
      return found && { code: instrument(code, found), map: null }
    },
  }
}
