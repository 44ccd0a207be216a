import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { findCommit } from '../commits.ts'
import { testedAgents } from './agents.ts'
import { configOfCommit, configOfWorkingTree } from './builds.ts'
import { type Case, makeCase } from './cases.ts'
import { type Difference, describeDifference } from './compare.ts'
import { Comparison, toSequence } from './comparison.ts'
import { type ExpectedDifference, expectedDifferences } from './expected.ts'
import { record } from './record.ts'
import type { Exchange } from './scripted-agent.ts'

// `npm run diff -- <git ref>`: sends the same calls to two builds of the Worker, and reports every difference.

const USAGE = `Usage: npm run diff -- <git ref> [<other git ref>] [--count 2000] [--seed 1] [--first 0] [--only <kind>]
                [--case N] [--show 10] [--expect FILE]
       npm run diff -- <git ref> --record FILE

Builds the Worker of the ref, and that of the working tree or of the other ref. Sends the same mutated calls to both,
behind which agents send the same scripted responses. Compares the requests that the agents receive, the responses, the
log and the observations. Exits with 1 if something differs that --expect (tools/diff/expected.ts) does not explain.`

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    first: { type: 'string', default: '0' },
    only: { type: 'string' },
    case: { type: 'string' },
    expect: { type: 'string' },
    record: { type: 'string' },
    show: { type: 'string', default: '10' },
    help: { type: 'boolean', default: false },
  },
})
const [seed, first, count, shown] = [
  options.seed,
  options.case ?? options.first,
  options.case ? '1' : options.count,
  options.show,
].map(Number) as [number, number, number, number]
const [ref, otherRef] = positionals
const agents = testedAgents.filter(({ kind }) => options.only === undefined || kind === options.only)
if (options.help || !ref || ![seed, first, count].every(Number.isInteger) || agents.length === 0) {
  console.error(USAGE)
  process.exit(options.help ? 0 : 2)
}

const commitOf = (name: string): string => {
  const commit = findCommit(name)
  if (commit !== undefined) return commit
  console.error(`This clone has no commit "${name}".`)
  process.exit(2)
}

const expected: readonly ExpectedDifference[] = options.expect
  ? (await import(pathToFileURL(resolve(options.expect)).href)).expectedDifferences
  : expectedDifferences

const start = performance.now()
const seconds = (since = start): string => `${((performance.now() - since) / 1000).toFixed(1)} s`
if (options.record !== undefined) {
  const recorded = await record(options.record, configOfCommit(commitOf(ref)), { seed, count })
  console.log(`${recorded} cases recorded (${seconds()})`)
  process.exit(0)
}
const other = otherRef ? configOfCommit(commitOf(otherRef)) : await configOfWorkingTree()
const configs = [configOfCommit(commitOf(ref)), other]
const needed = options.case === undefined ? agents : [makeCase(seed, first).agent]
const comparison = await Comparison.start(configs, needed)
console.error(`Built and started after ${seconds()}; seed ${seed}`)

let [ran, different, explained, shownCount] = [0, 0, 0, 0]
const running = performance.now()

/** Reports differences, unless they are expected. */
const report = (title: string, found: readonly Difference[], testCase?: Case): void => {
  const differences = found.filter(each => !expected.some(({ matches }) => matches(each, testCase)))
  explained += found.length - differences.length
  if (differences.length === 0) return
  different++
  if (shownCount++ < shown) console.log(`${title}\n${differences.slice(0, 3).map(describeDifference).join('\n')}\n`)
}

const titleOf = ({ number, agent, steps }: Case): string =>
  [
    `Case ${number} (${agent.kind}): --seed ${seed} --case ${number}`,
    ...steps.map(({ method, path }) => `  ${method} ${path}`),
  ].join('\n')

/** Describes the whole of one case: each request, and each exchange with the agent of the first build. */
const describeCase = ({ steps }: Case, exchanges: readonly Exchange[]): string => {
  const show = (parts: object): string => JSON.stringify(parts).slice(0, 5000)
  const requests = steps.map(({ script: _, ...request }) => `request  ${show(request)}`)
  const agent = exchanges.map(({ request, response }) => `to agent ${show(request)}\nagent    ${show(response)}`)
  return `${[...requests, ...agent].join('\n')}\n`
}

const isKind = new Set(agents.map(({ id }) => id))

/** The cases of each batch since the last comparison of observations. */
let unobserved: Case[] = []
const compareObserved = async (): Promise<void> => {
  const found = await comparison.compareObserved(needed)
  for (const [id, before, after] of found) {
    const numbers = unobserved.filter(({ agent }) => agent.id === id).map(({ number }) => number)
    report(`Observations of ${id}, after the cases ${numbers.join(', ')}`, [
      { part: 'observed', index: 0, before, after },
    ])
  }
  unobserved = []
}

const OBSERVED_EVERY = 20
let next = first
for (let batch = 1; ran < count; batch++) {
  const cases: Case[] = []
  while (
    cases.length < testedAgents.length &&
    ran + cases.length < count &&
    !(cases.length > 0 && next % testedAgents.length === 0)
  ) {
    if (isKind.has(testedAgents[next % testedAgents.length]?.id ?? '')) cases.push(makeCase(seed, next))
    next++
  }
  const { results, others } = await comparison.runBatch(cases.map(toSequence))
  ran += cases.length
  unobserved.push(...cases)
  for (const [index, { differences, exchanges }] of results.entries()) {
    const testCase = cases[index] as Case
    if (options.case !== undefined) console.log(describeCase(testCase, exchanges))
    report(titleOf(testCase), differences, testCase)
  }
  report(`Log lines without an agent, of the cases ${cases[0]?.number} to ${cases.at(-1)?.number}`, others)
  if (batch % OBSERVED_EVERY === 0) await compareObserved()
}
await compareObserved()
const perSecond = (ran / ((performance.now() - running) / 1000)).toFixed(0)
const explanation = explained > 0 ? `, ${explained} explained differences` : ''
console.log(
  `${ran} cases, ${different} different${explanation} (${seconds()}, ${perSecond} cases a second, seed ${seed})`,
)
await comparison.close()
process.exit(different > 0 ? 1 : 0)
