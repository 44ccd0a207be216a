import { globSync } from 'node:fs'
import pMap from 'p-map'
import { orderTests } from './groups.ts'
import { NO_MUTANT, type SampledMutant } from './plugin.ts'
import { type Failure, TestProcess } from './test-process.ts'

export type Result = 'killed' | 'survived' | 'not reached'

/** What the tests notice: the file that fails first with the mutant, and why. */
export type Measured = { result: Result; killedBy?: string; error?: string }

const PROCESSES = 2

/** How many test files run in one process without a mutant. */
const BATCH = 12

/** A file may take this many times as long as without a mutant, and longer on a busy machine. */
const SLOWER = 5
const MARGIN_MS = 15_000
const UNCHANGED_LIMIT_MS = 180_000

/** What a test file does without a mutant. */
type TestFile = { reached: ReadonlySet<number>; milliseconds: number }

const isHostTest = (file: string): boolean => file.endsWith('.host.test.ts')

/** Runs the tests on each mutant. The processes that run them find the mutants in `env`. */
export const createMeasurement = (root: string, env: NodeJS.ProcessEnv) => {
  const processes = Array.from({ length: PROCESSES }, () => new TestProcess(env))
  const idle = [...processes]
  const files = new Map<string, TestFile>()

  /** Runs a function for each item, as many at once as there are processes. */
  const inProcesses = <Item>(items: readonly Item[], run: (item: Item, tests: TestProcess) => Promise<void>) =>
    pMap(
      items,
      async item => {
        const tests = idle.pop() as TestProcess
        await run(item, tests)
        idle.push(tests)
      },
      { concurrency: PROCESSES },
    )

  /** Runs every test file without a mutant, to record what each reaches. Returns those that fail, which are left out from now on. */
  const record = async (): Promise<Failure[]> => {
    const found = globSync('test/**/*.test.ts', { cwd: root }).sort()
    const used = found.filter(file => isHostTest(file) || /\/[^/.]*\.test\.ts$/.test(file))
    const batches = [used.filter(isHostTest), used.filter(file => !isHostTest(file))].flatMap(toBatches)
    const failures: Failure[] = []
    await inProcesses(batches, async (batch, tests) => {
      const onPassed = (file: string, reached: number[], milliseconds: number) =>
        void files.set(file, { reached: new Set(reached), milliseconds })
      let left = batch
      while (left.length > 0) {
        const failure = await tests.run(
          { mutant: NO_MUTANT, files: left },
          { limitMs: () => UNCHANGED_LIMIT_MS, onPassed },
        )
        if (failure) failures.push(failure)
        left = failure ? left.slice(left.indexOf(failure.file) + 1) : []
      }
    })
    return failures
  }

  const limitMs = (file: string): number => SLOWER * (files.get(file)?.milliseconds ?? 0) + MARGIN_MS

  /**
   * Returns the first failure of test files. One that the files before it or a busy machine may explain must repeat alone.
   */
  const findFailure = async (mutant: number, given: string[], tests: TestProcess): Promise<Failure | undefined> => {
    let left = given
    while (left.length > 0) {
      const failure = await tests.run({ mutant, files: left }, { limitMs })
      if (!failure || (failure.file === left[0] && !failure.error.includes('timed out'))) return failure
      const repeated = await tests.run({ mutant, files: [failure.file] }, { limitMs })
      if (repeated) return repeated
      left = left.slice(left.indexOf(failure.file) + 1)
    }
    return undefined
  }

  /** Runs the test files that reach a mutant, unit tests first, as they start sooner. */
  const measure = async ({ id, path }: SampledMutant, tests: TestProcess): Promise<Measured> => {
    const reaching = [...files].flatMap(([file, { reached }]) => (reached.has(id) ? [file] : []))
    if (reaching.length === 0) return { result: 'not reached' }
    const ordered = orderTests(path, reaching, file => files.get(file)?.reached.size ?? 0)
    const unit = ordered.filter(file => !isHostTest(file))
    const host = ordered.filter(isHostTest)
    const failure = (await findFailure(id, unit, tests)) ?? (await findFailure(id, host, tests))
    return failure ? { result: 'killed', killedBy: failure.file, error: failure.error } : { result: 'survived' }
  }

  return {
    record,
    measureAll: <Mutant extends SampledMutant>(
      mutants: readonly Mutant[],
      onMeasured: (mutant: Mutant, measured: Measured) => void,
    ) => inProcesses(mutants, async (mutant, tests) => onMeasured(mutant, await measure(mutant, tests))),
    stop: () => {
      for (const tests of processes) tests.stop()
    },
  }
}

const toBatches = (files: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(files.length / BATCH) }, (_, index) => files.slice(index * BATCH, (index + 1) * BATCH))
