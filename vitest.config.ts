import { defineConfig } from 'vitest/config'
import { isNightly } from './test/support/matrix.ts'

/** The projects whose files carry their name, as in `calls.host.test.ts`. All other files are unit tests. */
const named = ['host', 'process', 'browser', 'nightly']

const setup = 'test/support/setup.ts'

export default defineConfig({
  resolve: {
    alias: { 'cloudflare:workers': `${import.meta.dirname}/test/support/workers/cloudflare-workers.ts` },
  },
  // tools/build.ts defines it: a test reads no assets.
  define: { ASSET_PATHS: '{}' },
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // Files run one after another in a few processes and share their modules; what a file replaces, setup.ts restores.
    isolate: false,
    // A small machine has two cores, and some files mostly wait.
    maxWorkers: 4,
    // A busy machine takes long; a nightly run has many more cases of each property.
    testTimeout: isNightly ? 120_000 : 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: named.map(name => `test/**/*.${name}.test.ts`),
          setupFiles: setup,
        },
      },
      ...named.map(name => ({
        extends: true as const,
        test: {
          name,
          include: [`test/**/*.${name}.test.ts`],
          setupFiles: name === 'host' || name === 'browser' ? [setup, 'test/support/host-setup.ts'] : setup,
        },
      })),
    ],
  },
})
