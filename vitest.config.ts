import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const include = ['test/**/*.test.ts']

/** What puts something in another's place, or loads it anew. */
const replaces = /\bvi\.(mock|doMock|hoisted|resetModules|spyOn|stub\w+|useFakeTimers|setSystemTime)\b/

/** Tests that replace a module, a clock or a function: each has a process of its own. All others share one for each core. */
const alone = globSync(include, { cwd: import.meta.dirname }).filter(file =>
  replaces.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
)

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
      { extends: true, test: { name: 'alone', include: alone } },
      { extends: true, test: { name: 'together', include, exclude: alone, isolate: false } },
    ],
  },
})
