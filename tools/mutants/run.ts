import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildWorker } from '../build.ts'
import { equivalentMutants } from './equivalent.ts'
import { findGroupMutants, groups } from './groups.ts'
import { createMeasurement, type Measured } from './measure.ts'
import { instrumentModules, recordReached, type SampledMutant } from './plugin.ts'
import { type LocatedMutant, pickSample } from './sample.ts'

// `npm run mutants`: makes small changes to the source, and lists those that no test notices.

const MIN_SCORE = 0.94

const { values } = parseArgs({
  options: {
    folder: { type: 'string', multiple: true, default: Object.keys(groups) },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '40' },
    json: { type: 'string' },
    only: { type: 'string' },
  },
})
const { folder: names } = values
const [seed, count] = [Number(values.seed), Number(values.count)]
if (!names.every(name => name in groups) || !Number.isInteger(seed) || !(count > 0)) {
  console.error('Usage: npm run mutants [-- --folder card --seed 1 --count 40 --json FILE --only FILE]')
  console.error(`Folders: ${Object.keys(groups).join(', ')}.`)
  process.exit(2)
}

const root = join(import.meta.dirname, '../..')

const keyOf = ({ path, start, kind, original, replacement }: LocatedMutant): string =>
  JSON.stringify([path, start, kind, original, replacement])

/** Picks the sample, or finds the one in the file of `--only` again. */
const chooseMutants = () => {
  const wanted: LocatedMutant[] | undefined = values.only && JSON.parse(readFileSync(values.only, 'utf8'))
  const keys = new Set(wanted?.map(keyOf))
  const chosen = names.flatMap(group => {
    const found = findGroupMutants(root, group)
    const sample = wanted ? found.filter(mutant => keys.has(keyOf(mutant))) : pickSample(found, { count, seed })
    return sample.map(mutant => ({ ...mutant, group }))
  })
  return chosen.map((mutant, id) => ({ ...mutant, id }))
}

const lineOf = ({ path, line }: LocatedMutant): string =>
  readFileSync(join(root, path), 'utf8').split('\n', line).at(-1) ?? ''

const isEquivalent = (mutant: LocatedMutant): boolean =>
  equivalentMutants.some(
    ({ path, original, replacement, line = '' }) =>
      mutant.path === path &&
      mutant.original === original &&
      mutant.replacement === replacement &&
      lineOf(mutant).includes(line),
  )

const chosen = chooseMutants()
const mutants = chosen.filter(mutant => !isEquivalent(mutant))
const directory = mkdtempSync(join(tmpdir(), 'mutants-'))
const [mutantsFile, hostDirectory] = [join(directory, 'mutants.json'), join(directory, 'host')]
writeFileSync(mutantsFile, JSON.stringify(mutants))
await buildWorker(hostDirectory, [instrumentModules(root, mutants), recordReached(root)])

const measurement = createMeasurement(root, {
  ...process.env,
  MUTANTS_FILE: mutantsFile,
  HOST_DIRECTORY: hostDirectory,
})
process.on('SIGINT', () => process.exit(130))
process.on('exit', () => {
  measurement.stop()
  rmSync(directory, { recursive: true, force: true })
})

const seconds = () => `${(performance.now() / 1000).toFixed()} s`

/** Shows a change from shortly before its first difference. */
const describe = ({ path, line, original, replacement }: SampledMutant): string => {
  const texts = [original, replacement].map(text => text.replace(/\s+/g, ' '))
  const [before = '', after = ''] = texts
  const same = [...before].findIndex((character, index) => character !== after[index])
  const from = before.length > 70 ? Math.max(0, same - 30) : 0
  const [shown, changed] = texts.map(text => `${from > 0 ? '…' : ''}${text.slice(from, from + 70)}`)
  return `${path}:${line} ${shown} → ${changed === '' ? '(removed)' : changed}`
}

for (const { file, error } of await measurement.record())
  console.log(`left out, as it fails by itself: ${file}: ${error}`)
console.log(`${mutants.length} mutants, after ${seconds()}\n`)

const results: (SampledMutant & Measured & { group: string })[] = []
await measurement.measureAll(mutants, (mutant, measured) => {
  results.push({ ...mutant, ...measured })
  if (measured.result !== 'killed') console.log(`${measured.result}: ${describe(mutant)}`)
})
if (values.json) writeFileSync(values.json, JSON.stringify(results, undefined, 2))

const printRow = (...cells: (string | number)[]): void =>
  console.log(cells.map(cell => String(cell).padEnd(12)).join(''))

console.log()
printRow('group', 'mutants', 'killed', 'survived', 'not reached', 'score')
const scores = names.map(group => {
  const ofGroup = results.filter(mutant => mutant.group === group)
  const countOf = (result: Measured['result']) => ofGroup.filter(mutant => mutant.result === result).length
  const [killed, survived, notReached] = [countOf('killed'), countOf('survived'), countOf('not reached')]
  const score = ofGroup.length === 0 ? 1 : killed / ofGroup.length
  printRow(group, ofGroup.length, killed, survived, notReached, `${Math.floor(100 * score)} %`)
  return score
})
console.log(seconds())
process.exit(scores.some(score => score < MIN_SCORE) ? 1 : 0)
