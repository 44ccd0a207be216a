import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pMap from 'p-map'
import { buildWorker } from '../../build.ts'
import { equivalentMutants } from './equivalent.ts'
import { findGroupMutants, groups, orderTests } from './groups.ts'
import { instrumentModules, NO_MUTANT, recordReached, type SampledMutant } from './plugin.ts'
import { pickSample } from './sample.ts'
import { TestProcess } from './test-process.ts'

const cpu = () =>
  processes.map(p => {
    try {
      const f = readFileSync(`/proc/${p.pid}/stat`, 'utf8').split(') ')[1].split(' ')
      return [11, 12, 13, 14].map(i => Number(f[i]) / 100).reduce((a, b) => a + b)
    } catch {
      return 0
    }
  })
// `npm run mutants`: makes small changes to the source, and lists those that no test notices.

const MIN_SCORE = 0.94
const PROCESSES = 2
/** A test file may take this many times as long as without a mutant: what takes longer never ends. */
const SLOWER = 5
const MARGIN_MS = 5000
const FIRST_LIMIT_MS = 180_000
/** How many test files without a mutant run in one process, and how many with one, the nearest first. */
const BATCH = 12
const MAX_FILES = 25

type Result = 'killed' | 'survived' | 'not reached' | 'equivalent'
type Mutant = SampledMutant & { group: string; result?: Result; killedBy?: string }

const { values } = parseArgs({
  options: {
    folder: { type: 'string', multiple: true },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    json: { type: 'string' },
    only: { type: 'string' },
  },
})
const [seed, count, names] = [Number(values.seed), Number(values.count), values.folder ?? Object.keys(groups)]
const unknown = names.find(name => !(name in groups))
if (unknown !== undefined || !Number.isInteger(seed) || !(count > 0)) {
  console.error('Usage: npm run mutants [-- --folder card --seed 1 --count 40 --json FILE --only FILE]')
  console.error(`Folders: ${Object.keys(groups).join(', ')}.`)
  process.exit(2)
}

const root = join(import.meta.dirname, '../..')

const keyOf = ({ path, start, kind, replacement }: Pick<Mutant, 'path' | 'start' | 'kind' | 'replacement'>) =>
  JSON.stringify([path, start, kind, replacement])

/** Picks the sample, or finds that of `--only` again. */
const chooseMutants = (): Mutant[] => {
  const wanted: Mutant[] | undefined = values.only && JSON.parse(readFileSync(values.only, 'utf8'))
  const keys = new Set(wanted?.map(keyOf))
  const chosen = names.flatMap(group => {
    const found = findGroupMutants(root, group)
    const sample = wanted ? found.filter(mutant => keys.delete(keyOf(mutant))) : pickSample(found, { count, seed })
    return sample.map(mutant => ({ ...mutant, group }))
  })
  if (keys.size > 0 && !values.folder) throw new Error(`The source has changed: it no longer has ${[...keys][0]}`)
  return chosen.map((mutant, id) => ({ ...mutant, id }))
}

const mutants = chooseMutants()
const directory = mkdtempSync(join(tmpdir(), 'mutants-'))
const mutantsFile = join(directory, 'mutants.json')
writeFileSync(mutantsFile, JSON.stringify(mutants))
const hostDirectory = join(directory, 'out')
await buildWorker(hostDirectory, [instrumentModules(root, mutants), recordReached(root)])

const env = { ...process.env, MUTANTS_FILE: mutantsFile, HOST_DIRECTORY: hostDirectory }
const processes = Array.from({ length: PROCESSES }, () => new TestProcess(env))
const idle = [...processes]
process.on('exit', () => {
  for (const each of processes) each.stop()
  rmSync(directory, { recursive: true })
})
process.on('SIGINT', () => process.exit(130))

/** Runs a function for each item, in as many processes as there are. */
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

/** The mutants that each test file reaches, and how long it takes. */
const reached = new Map<string, Set<number>>()
const times = new Map<string, number>()
const isHostTest = (file: string) => file.endsWith('.host.test.ts')

/** Runs test files without a mutant. */
const recordTests = async (files: readonly string[], tests: TestProcess): Promise<void> => {
  let left = files
  while (left.length > 0) {
    const failed = await tests.run(
      { mutant: NO_MUTANT, files: [...left] },
      {
        limitMs: () => FIRST_LIMIT_MS,
        onFile: (file, ids, milliseconds) => {
          reached.set(file, new Set(ids))
          times.set(file, milliseconds)
        },
      },
    )
    if (failed !== undefined) console.log(`left out, because it fails without a mutant: ${failed}`)
    left = failed === undefined ? [] : left.slice(left.indexOf(failed) + 1)
  }
}

const chunk = (files: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(files.length / BATCH) }, (_, index) => files.slice(index * BATCH, (index + 1) * BATCH))

const testFiles = globSync('test/**/*.test.ts', { cwd: root })
  .filter(file => !/\.(process|browser|nightly)\./.test(file))
  .sort()
const parts = [testFiles.filter(isHostTest), testFiles.filter(file => !isHostTest(file))]
await inProcesses(parts.flatMap(chunk), recordTests)
console.error((performance.now() / 1000).toFixed(0), 's, CPU', cpu())

const shorten = (text: string): string => {
  const line = text.replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

const isEquivalent = ({ path, original, replacement }: Mutant) =>
  equivalentMutants.some(
    known => known.path === path && known.original === original && known.replacement === replacement,
  )

/** Runs the tests that reach a mutant until one fails: unit tests first, as they start sooner. */
const testMutant = async (mutant: Mutant, tests: TestProcess): Promise<void> => {
  const reaching = [...reached].flatMap(([file, ids]) => (ids.has(mutant.id) ? [file] : []))
  const files = orderTests(mutant.path, reaching, file => reached.get(file)?.size ?? 0)
  mutant.result = isEquivalent(mutant) ? 'equivalent' : files.length > 0 ? 'survived' : 'not reached'
  if (mutant.result !== 'survived') return
  const limitMs = (file: string) => SLOWER * (times.get(file) ?? 0) + MARGIN_MS
  for (const part of [files.filter(file => !isHostTest(file)), files.filter(isHostTest)]) {
    if (part.length === 0) continue
    const failed = await tests.run({ mutant: mutant.id, files: part.slice(0, MAX_FILES) }, { limitMs })
    if (failed === undefined) continue
    Object.assign(mutant, { result: 'killed', killedBy: failed } satisfies Partial<Mutant>)
    return
  }
}

let tested = 0
await inProcesses(mutants, async (mutant, tests) => {
  const started = performance.now()
  await testMutant(mutant, tests)
  console.error(
    ++tested,
    mutant.result,
    mutant.path,
    mutant.line,
    mutant.killedBy,
    Math.round(performance.now() - started),
    cpu(),
  )
})

if (values.json) writeFileSync(values.json, JSON.stringify(mutants, undefined, 2))
for (const { path, line, original, replacement, result } of mutants)
  if (result === 'survived' || result === 'not reached')
    console.log(`${path}:${line} ${result}: ${shorten(original)} → ${shorten(replacement)}`)

const rows = names.map(group => {
  const counted = mutants.filter(mutant => mutant.group === group && mutant.result !== 'equivalent')
  const countOf = (result: Result) => counted.filter(mutant => mutant.result === result).length
  return {
    group,
    mutants: counted.length,
    killed: countOf('killed'),
    survived: countOf('survived'),
    'not reached': countOf('not reached'),
    score: counted.length === 0 ? 1 : countOf('killed') / counted.length,
  }
})
console.table(rows.map(({ score, ...row }) => ({ ...row, score: `${Math.floor(100 * score)} %` })))
process.exit(rows.some(({ score }) => score < MIN_SCORE) ? 1 : 0)
