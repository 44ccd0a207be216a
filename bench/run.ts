import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipBytes, hostBundle, startBundle } from './bundle.ts'
import { calls } from './calls.ts'
import { manyAgents, oneAgent, rivals, type Setting } from './card-reads.ts'
import { exact, type Figure, judged } from './figure.ts'
import { canPin, cores, pinSelf } from './pinning.ts'
import { registrations } from './registrations.ts'
import { table } from './table.ts'

const { values: options } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
})

const effort = (rounds: number) => ({
  rounds: options.quick ? Math.ceil(rounds / 6) : rounds,
  milliseconds: 100,
  warmUp: options.quick ? 500 : 1_500,
})

const directories: string[] = []
const directory = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'calling-card-bench-'))
  directories.push(made)
  return made
}

const say = (text: string): void => {
  if (!options.json) console.error(text)
}

// Servers die with this process, but only where it ends by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
pinSelf(cores.load)
if (!canPin) say('No taskset, or one core only: server and load share what there is, and ratios draw towards 1.')
say('Building the host …')
const bundle = await hostBundle(directory())
const setting = (rounds: number): Setting => ({ bundle, directory, effort: effort(rounds) })

const figures: Figure[] = [
  judged({
    name: 'bundle that every start evaluates, minified, gzip',
    unit: 'bytes',
    value: exact(gzipBytes(await startBundle())),
    bound: { most: 30 * 1024 },
  }),
  judged({
    name: 'bundle as uploaded, minified, gzip',
    unit: 'bytes',
    value: exact(gzipBytes(bundle)),
    bound: { most: 256 * 1024 },
  }),
]
const tenThousand = { agents: 10_000, sweep: 10_000, settle: options.quick ? 1_000 : 3_000 }
const hundredThousand = { agents: 100_000, sweep: 50_000, settle: options.quick ? 2_000 : 15_000 }
const parts: [string, () => Promise<Figure[]>][] = [
  ['One agent', () => oneAgent(setting(150))],
  ['The alternatives', () => rivals(setting(40))],
  ['10,000 agents', () => manyAgents(setting(150), tenThousand)],
  ['100,000 agents', () => manyAgents(setting(200), hundredThousand)],
  ['Calls', () => calls(setting(80))],
  ['Registrations', () => registrations(setting(80))],
]
for (const [name, measure] of parts) {
  say(`${name} …`)
  figures.push(...(await measure()))
}
for (const made of directories) rmSync(made, { recursive: true, force: true })
console.log(options.json ? JSON.stringify(figures, null, 2) : table(figures))
process.exit(figures.some(({ verdict }) => verdict === 'fail') ? 1 : 0)
