import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findCommit } from '../tools/commits.ts'
import { buildHost, buildHostOf } from './bundle.ts'
import type { Setting } from './compare.ts'
import type { BenchOptions, ScenarioName } from './options.ts'
import { calls } from './scenarios/calls.ts'
import { toolCalls } from './scenarios/mcp.ts'
import { alternatives, manyAgents, oneAgent } from './scenarios/reads.ts'
import { registry } from './scenarios/registry.ts'
import { starts } from './scenarios/starts.ts'
import { registrations } from './scenarios/writes.ts'
import { canPin, cores, pinSelf } from './servers.ts'
import { type Baseline, type Figure, judge } from './stats.ts'
import { formatTable } from './table.ts'

/** Measures the chosen scenarios, and prints the figures. Returns the exit code. */
export const measure = async (options: BenchOptions): Promise<number> => {
  const tenThousand = { agents: 10_000, sweep: 10_000, settle: options.quick ? 1_000 : 3_000 }
  const hundredThousand = { agents: 100_000, sweep: 50_000, settle: options.quick ? 2_000 : 15_000 }
  /** The scenarios by name, each with its rounds. */
  const scenarios: Record<ScenarioName, [rounds: number, run: (setting: Setting) => Promise<Figure[]>]> = {
    starts: [60, starts],
    'one-agent': [150, oneAgent],
    alternatives: [40, alternatives],
    '10000-agents': [150, setting => manyAgents(setting, tenThousand)],
    '100000-agents': [200, setting => manyAgents(setting, hundredThousand)],
    calls: [80, calls],
    mcp: [80, toolCalls],
    writes: [80, registrations],
    registry: [40, setting => registry(setting, options.quick ? options.agents / 10 : options.agents)],
  }

  const commit = findCommit(options.beside)
  if (options.beside !== '' && commit === undefined) {
    console.error(`This clone has no commit "${options.beside}".`)
    return 2
  }
  const directories: string[] = []
  const directory = (): string => {
    const path = mkdtempSync(join(tmpdir(), 'calling-card-bench-'))
    directories.push(path)
    return path
  }

  // The exit handler kills the servers; it does not run where a signal ends the process.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  pinSelf(cores.load)
  if (!canPin)
    console.error('No taskset or only one core: servers share it with the load, which draws ratios towards 1.')
  console.error('Building the host …')
  const bundle = await buildHost(directory())
  const builds = { bundle, directory, ...(commit !== undefined && { other: buildHostOf(commit) }) }

  const baselineFile = join(import.meta.dirname, 'baseline.json')
  const baseline = JSON.parse(readFileSync(baselineFile, 'utf8')) as Baseline
  const figures: Figure[] = []
  for (const name of options.scenarios) {
    console.error(`Measuring ${name} …`)
    const [rounds, run] = scenarios[name]
    const effort = {
      rounds: options.quick ? Math.ceil(rounds / 6) : rounds,
      milliseconds: 100,
      warmUp: options.quick ? 500 : 1_500,
      only: options.only,
    }
    for (const figure of await run({ ...builds, effort })) figures.push(judge(figure, baseline))
  }
  for (const path of directories) rmSync(path, { recursive: true, force: true })

  if (figures.length === 0) {
    console.error(`No figure has "${options.only}" in its name.`)
    return 2
  }
  console.log(options.json ? JSON.stringify(figures, null, 2) : formatTable(figures))
  if (options.accept) {
    for (const { name, better, value } of figures) if (better) baseline[name] = Number(value.median.toPrecision(4))
    writeFileSync(baselineFile, `${JSON.stringify(baseline, null, 2)}\n`)
  }
  return !options.accept && figures.some(({ verdict }) => verdict === 'fail') ? 1 : 0
}
