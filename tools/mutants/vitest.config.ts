import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defineConfig, type UserWorkspaceConfig } from 'vitest/config'
import base from '../../vitest.config.ts'
import { instrumentModules, type SampledMutant } from './plugin.ts'

const root = join(import.meta.dirname, '../..')
const { MUTANTS_FILE = '' } = process.env
const mutants: SampledMutant[] = JSON.parse(readFileSync(MUTANTS_FILE, 'utf8'))

/** Keeps the order in which files are given, and what failed before out of it. */
class GivenOrder {
  sort = <Specifications>(files: Specifications): Specifications => files
  shard = this.sort
}

/** The unit and host tests, with mutants in the modules that they load. */
// biome-ignore lint/style/noDefaultExport: Vitest reads it.
export default defineConfig({
  ...base,
  root,
  plugins: [instrumentModules(root, mutants)],
  test: {
    ...base.test,
    globalSetup: [],
    maxWorkers: 1,
    bail: 1,
    cache: false,
    // The cache of other runs has modules with other mutants.
    fsModuleCachePath: join(dirname(MUTANTS_FILE), 'cache'),
    sequence: { setupFiles: 'list', sequencer: GivenOrder },
    projects: (base.test?.projects ?? []).flatMap(project => {
      const { test } = project as UserWorkspaceConfig
      const ofMutants = {
        unit: { setupFiles: ['tools/mutants/setup.ts'], env: {} },
        host: { setupFiles: ['tools/mutants/setup.ts', 'tools/mutants/host-setup.ts'], env: { SHARED_MODULES: 'yes' } },
      }[`${test?.name}`]
      if (!ofMutants) return []
      const setupFiles = [...ofMutants.setupFiles, ...[test?.setupFiles ?? []].flat()]
      return [{ extends: true, test: { ...test, ...ofMutants, setupFiles } }]
    }),
  },
})
