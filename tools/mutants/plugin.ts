import { join, relative } from 'node:path'
import type { Plugin } from 'rolldown'
import { instrument, type NumberedMutant } from './instrument.ts'
import type { LocatedMutant } from './sample.ts'

export type SampledMutant = LocatedMutant & NumberedMutant

/** The id of no mutant. */
export const NO_MUTANT = -1

/** The path at which an instrumented host lists the mutants that it has reached, and a header of the list. */
export const REACHED_PATH = '/__mutants'
export const REACHED_HEADER = 'Reached-Mutants'

/**
 * Instruments the modules of a sample. It has the form of plugins of Vite, for Vitest, and of Rolldown, for the Worker. What a module
 * reaches while it is loaded, it reaches once, for every test that follows.
 */
export const instrumentModules = (root: string, mutants: readonly SampledMutant[]) => {
  const byPath = Map.groupBy(mutants, ({ path }) => path)
  return {
    name: 'mutants',
    enforce: 'pre' as const,
    transform: (code: string, id: string) => {
      const found = byPath.get(relative(root, id.replace(/\?.*/, '')))
      const instrumented = found && instrument(code, found).replace(/^#!.*/, '')
      return found && { code: `__mutants.loading++\n${instrumented}\n__mutants.loading--`, map: null }
    },
  }
}

/** The module of an instrumented Worker that has the id of the active mutant. */
export const ACTIVE_MODULE = 'active-mutant.js'

/** What begins every chunk of the Worker. */
const record = `import active from './${ACTIVE_MODULE}'
globalThis.__mutants ??= { loading: 0, loaded: new Set(), called: new Set() }
globalThis.__mutant ??= id => (__mutants.loading > 0 ? __mutants.loaded : __mutants.called).add(id) && id === active`

/** The entry of the Worker: lists what was reached since it was asked before, and leaves the rest to the host. */
const entry = (path: string) => `import worker from '${path}'
export * from '${path}'
const list = () => {
  const reached = [...__mutants.loaded, ...__mutants.called]
  __mutants.called.clear()
  return Response.json(reached, { headers: { '${REACHED_HEADER}': 'yes' } })
}
const fetch = (request, ...rest) => request.url.endsWith('${REACHED_PATH}') ? list() : worker.fetch(request, ...rest)
export default { fetch }`

/** Adds to the Worker what instrumented modules use. */
export const recordReached = (root: string): Plugin => ({
  name: 'reached-mutants',
  banner: record,
  resolveId: (id, importer) => (importer === undefined && id === 'src/index.ts' ? '\0entry' : null),
  load: id => (id === '\0entry' ? entry(join(root, 'src/index.ts')) : null),
})
