import { defineConfig } from 'vitest/config'

/** Tests that look at what a module remembers, or change it: each of these files starts from nothing. */
const remembering = [
  ...['auth', 'bridge', 'http', 'mcp', 'registry', 'sources'].map(name => `test/${name}/**/*.test.ts`),
  // It puts another module into the place of one.
  'test/routes/card-from-elsewhere.test.ts',
]

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
      { extends: true, test: { name: 'remembering', include: remembering } },
      { extends: true, test: { name: 'others', include: ['test/**/*.test.ts'], exclude: remembering, isolate: false } },
    ],
  },
})
