import { parseArgs } from 'node:util'

/** What each scenario measures, in the order in which they run. */
export const SCENARIOS = {
  starts: 'sizes of the host, and its start beside an empty Worker',
  'one-agent': 'reads of one card in memory (200 and 304), beside a Worker that sends a constant',
  alternatives: 'what one would write instead of a host: itty, and the A2A SDK on Express',
  '10000-agents': 'reads of 10,000 cards by popularity: all of them fit into memory',
  '100000-agents': 'reads of 100,000 cards, some of which are read from KV',
  calls: 'refused and forwarded calls, streams and other gateways',
  mcp: 'calls of a tool by MCP clients, beside the same A2A calls',
  writes: 'CPU time of registrations',
  registry: 'searches, lists, writes and exports inside a Registry with 100,000 agents',
} as const satisfies Record<string, string>

/** The name of a scenario. */
export type ScenarioName = keyof typeof SCENARIOS

const OPTIONS = {
  quick: { type: 'boolean', default: false, help: 'a sixth of the rounds: three minutes, too wide for a verdict' },
  json: { type: 'boolean', default: false, help: 'print the figures as JSON' },
  agents: {
    type: 'string',
    default: '100000',
    help: 'agents in the scenario registry (100000); a tenth of them with --quick',
  },
  only: {
    type: 'string',
    default: '',
    help: 'measure only the figures of calls whose name contains this text',
  },
  beside: {
    type: 'string',
    default: '',
    help: 'measure the build of this git ref in the same rounds, too, and the ratios of the two builds',
  },
  accept: {
    type: 'boolean',
    default: false,
    help: 'make the figures the bounds of the next runs (bench/baseline.json)',
  },
  help: { type: 'boolean', short: 'h', default: false, help: 'print this text' },
} as const

const NAME_WIDTH = 16

const list = (entries: [name: string, text: string][]): string =>
  entries.map(([name, text]) => `  ${name.padEnd(NAME_WIDTH)}${text}`).join('\n')

/** What `npm run bench -- --help` prints. */
export const HELP = `Usage: npm run bench -- [options] [scenario …]

Compares the host with smaller Workers and other servers on this machine. Without a scenario it runs all of
them, which takes about fifteen minutes. docs/design/bench.md explains the figures.

Scenarios:
${list(Object.entries(SCENARIOS))}

Options:
${list(Object.entries(OPTIONS).map(([name, option]) => [`${'short' in option ? `-${option.short}, ` : ''}--${name}`, option.help]))}

Exit codes:
${list([
  ['0', 'no figure is worse than its bound'],
  ['1', 'a figure is more than a tenth worse than its bound, or the run was interrupted'],
  ['2', 'an option or scenario does not exist'],
])}`

/** What to run. */
export type BenchOptions = {
  scenarios: ScenarioName[]
  agents: number
  /** Part of the names of the figures of calls to measure; empty for all of them. */
  only: string
  /** A git ref whose build is measured, too; empty for none. */
  beside: string
  quick: boolean
  json: boolean
  accept: boolean
}

/** Parses the arguments of the command. Returns a text to print for `--help`, or what is wrong with them. */
export const parseOptions = (args: readonly string[]): BenchOptions | { help: string } | { error: string } => {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
    if (values.help) return { help: HELP }
    const unknown = positionals.find(name => !isScenario(name))
    if (unknown !== undefined)
      return { error: `Unknown scenario "${unknown}". Scenarios: ${Object.keys(SCENARIOS).join(', ')}.` }
    const chosen = positionals.filter(isScenario)
    const { quick, json, accept, only, beside } = values
    const agents = Number(values.agents)
    if (!/^[1-9]\d{3,6}$/.test(values.agents)) return { error: '--agents must be a number from 1000 to 9999999.' }
    if (only !== '' && chosen.some(name => name !== 'calls'))
      return { error: '--only chooses figures of the scenario calls: leave out the others.' }
    const all = Object.keys(SCENARIOS).filter(isScenario)
    const scenarios: ScenarioName[] = only !== '' ? ['calls'] : chosen.length > 0 ? chosen : all
    return { scenarios, agents, only, beside, quick, json, accept }
  } catch (error) {
    return { error: `${(error as Error).message.split('. ')[0]}. See npm run bench -- --help.` }
  }
}

const isScenario = (name: string): name is ScenarioName => Object.hasOwn(SCENARIOS, name)
