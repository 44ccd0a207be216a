import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: { 'cloudflare:workers': `${import.meta.dirname}/test/support/workers/cloudflare-workers.ts` },
  },
  // build.ts defines it: a test reads no assets.
  define: { ASSET_PATHS: '{}' },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: 'test/support/setup.ts',
    // Files run one after another in three processes; what a file replaces, setup.ts restores.
    isolate: false,
    // A small machine has two cores, and some files mostly wait for timeouts.
    maxWorkers: 3,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
