import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: {
    alias: { 'cloudflare:workers': `${import.meta.dirname}/test/stand-ins/cloudflare-workers.ts` },
  },
  test: {
    include: ['test/**/*.test.ts'],
    // The Worker's tests start a runtime each; two cores are what a small machine has.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
