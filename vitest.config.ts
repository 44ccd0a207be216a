import { defineConfig } from 'vitest/config'

/** Tests of pure code, of which no file can tell what another did: they share a process. */
const pure = ['test/card/**/*.test.ts']

export default defineConfig({
  resolve: {
    alias: { 'cloudflare:workers': `${import.meta.dirname}/test/stand-ins/cloudflare-workers.ts` },
  },
  test: {
    // The Worker's tests start a runtime each; two cores are what a small machine has.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    projects: [
      { extends: true, test: { name: 'pure', include: pure, isolate: false } },
      { extends: true, test: { name: 'others', include: ['test/**/*.test.ts'], exclude: pure } },
    ],
  },
})
