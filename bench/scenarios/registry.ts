import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type HostBundle, workerBundle } from '../bundle.ts'
import { type Setting, sampleInTurn } from '../compare.ts'
import { numberedId } from '../registry-agents.ts'
import { cardOfSize } from '../requests.ts'
import { buildsOf, cpuMilliseconds, type Host, originOf, registerAt, startHost } from '../servers.ts'
import {
  column,
  compareBuilds,
  describeRatio,
  exact,
  type Figure,
  IN_OTHER,
  median,
  ratios,
  speedFigures,
  timeFigures,
} from '../stats.ts'
import { SEARCHES } from './searches.ts'
import { simulatedRegistry } from './simulated-registry.ts'
import { throughput } from './throughput.ts'

/** Bounds of what the Registry does, in ms, and of a write beside the same without the index. */
const [SEARCH_MS, LIST_MS, WRITE_RATIO] = [15, 10, 1.5]

/** More agents than these are simulated: a Durable Object has no room for them. */
const MAX_AGENTS = 200_000

const MAX_AGENTS_PER_REQUEST = 2_000
const WRITES_PER_BATCH = 200
const EXPORTED_PAGES = 20
const EXPORTS = 5

/** CPU time of searches, lists, exports and writes inside a Registry with many agents, on disk. */
export const registry = async (setting: Setting, agents: number): Promise<Figure[]> => {
  if (agents > MAX_AGENTS) return nameSize(simulatedRegistry(setting, agents), agents)
  return [...nameSize(await wholeRegistry(setting, agents), agents), ...(await throughput(setting))]
}

const nameSize = (figures: readonly Figure[], agents: number): Figure[] =>
  figures.map(figure => ({ ...figure, name: `${figure.name}, ${agents.toLocaleString('en')} agents` }))

const wholeRegistry = async (setting: Setting, agents: number): Promise<Figure[]> => {
  const { rounds } = setting.effort
  const main = { 'registry.js': await workerBundle('registry') }
  const measured = (bundle: HostBundle): HostBundle => ({ ...bundle, modules: { ...main, ...bundle.modules } })
  const { bundle, other, directory } = setting
  const host = await startHost({ bundle: measured(bundle), directory, ...(other && { other: measured(other) }) })
  await registerAt(host, 'template', cardOfSize(2_000, '1.0.0'))
  const registration = await fill(host, agents)
  const figures = [
    ...(await searches(host, rounds)),
    ...(await list(host, agents, rounds)),
    ...(await writes(host, agents, rounds)),
    ...registration,
    ...(await exports(host)),
  ]
  await host.stop()
  return [
    ...figures,
    ...buildsOf(host).map(({ storage }, index) => sizeOf(storage, agents, index === 0 ? '' : IN_OTHER)),
  ]
}

/** Calls the Registry that is measured. Returns its answer and the CPU time of the process. */
const measure = async (host: Host, method: string, argument: object): Promise<{ result: number; ms: number }> => {
  const before = cpuMilliseconds(host.pid)
  const response = await fetch(`${originOf(host)}/measure/${method}`, {
    method: 'POST',
    body: JSON.stringify(argument),
  })
  if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`)
  const result = (await response.json()) as number
  return { result, ms: cpuMilliseconds(host.pid) - before }
}

const fill = async (host: Host, agents: number): Promise<Figure[]> => {
  const size = Math.min(MAX_AGENTS_PER_REQUEST, agents / 10)
  const [samples = []] = await sampleInTurn([host], Math.ceil(agents / size), async (build, round) => {
    const from = Math.floor(round * size)
    const to = Math.min(agents, Math.floor((round + 1) * size))
    return (await measure(build, 'fill', { from, to })).ms / (to - from)
  })
  return speedFigures('registration of a new agent', samples)
}

const repeat = async (host: Host, method: string, argument: object, times: number): Promise<number> =>
  (await measure(host, 'repeat', { method, argument, times })).ms / times

/** The median over the mix of each round, and the slowest search by itself. */
const searches = async (host: Host, rounds: number): Promise<Figure[]> => {
  const queries = Object.values(SEARCHES)
  for (const build of buildsOf(host)) for (const query of queries) await repeat(build, 'search', query, 2)
  const [builds = []] = await sampleInTurn([host], rounds, async build => {
    const spent: number[] = []
    for (const query of queries) spent.push(await repeat(build, 'search', query, 5))
    return spent
  })
  const medians = queries.map((_, index) => median((builds[0] ?? []).map(spent => spent[index] ?? Number.NaN)))
  const names = Object.keys(SEARCHES)
  const slowest = medians.indexOf(Math.max(...medians))
  const note = names.map((name, index) => `${name} ${medians[index]?.toFixed(2)} ms`).join('; ')
  return [
    ...timeFigures(
      { name: 'search, median of a mix', bound: { max: SEARCH_MS }, note },
      builds.map(samples => samples.map(median)),
    ),
    ...timeFigures(
      { name: 'search, the slowest of the mix', note: names[slowest] ?? '' },
      builds.map(samples => samples.map(spent => spent[slowest] ?? Number.NaN)),
    ),
  ]
}

const list = async (host: Host, agents: number, rounds: number): Promise<Figure[]> => {
  const [samples = []] = await sampleInTurn([host], rounds, (build, round) => {
    const after = numberedId(Math.floor((agents * round) / rounds))
    return repeat(build, 'list', { after, limit: 101, covered: [] }, 5)
  })
  return timeFigures({ name: 'page of a list', bound: { max: LIST_MS } }, samples)
}

/** New revisions of agents all over the registry, in turn with and without the statements that write the index. */
const writes = async (host: Host, agents: number, rounds: number): Promise<Figure[]> => {
  const [samples = []] = await sampleInTurn([host], rounds, async (build, round) => {
    const from = Math.floor((agents * ((round * 7) % rounds)) / rounds)
    const to = Math.min(agents, from + WRITES_PER_BATCH)
    const spent = { own: 0, base: 0 }
    for (const isIndexed of round % 2 === 0 ? [true, false] : [false, true]) {
      const version = 2 * round + (isIndexed ? 1 : 2)
      const { ms } = await measure(build, 'fill', { from, to, version, isIndexed })
      spent[isIndexed ? 'own' : 'base'] = ms / (to - from)
    }
    return spent
  })
  const builds = samples.map(each => column(each, 'own'))
  const base = column(samples[0], 'base')
  return [
    {
      name: 'write of a new revision, beside the same without the index',
      unit: 'ratio',
      value: ratios(builds[0], base),
      bound: { max: WRITE_RATIO },
      note: describeRatio(builds[0], base),
    },
    ...compareBuilds('write of a new revision', builds),
  ]
}

/** An export has all revisions, then what is registered now. */
const exports = async (host: Host): Promise<Figure[]> => {
  const parts = [
    { table: 'revisions', cursor: { phase: 'revisions', id: '', seq: 0, since: 0 } },
    { table: 'agents', cursor: { phase: 'agents', id: '', since: 0 } },
  ]
  const [samples = []] = await sampleInTurn([host], EXPORTS, async build => {
    let sum = 0
    for (const part of parts) {
      const { result, ms } = await measure(build, 'export', { ...part, pages: EXPORTED_PAGES })
      sum += ms / result
    }
    return sum
  })
  return speedFigures('export of an agent and a revision', samples)
}

/** Reads the file of the largest object, which is the measured one. */
const sizeOf = (storage: string, agents: number, suffix: string): Figure => {
  const tables = globSync(join(storage, '**/*.sqlite')).map(file => {
    const database = new DatabaseSync(file, { readOnly: true })
    const rows = database.prepare('SELECT name, SUM(pgsize) AS bytes FROM dbstat GROUP BY name').all()
    database.close()
    return rows.map(({ name, bytes }) => ({ name: String(name), bytes: Number(bytes) }))
  })
  const total = (rows: { bytes: number }[]): number => rows.reduce((sum, { bytes }) => sum + bytes, 0)
  const [largest = []] = tables.toSorted((one, other) => total(other) - total(one))
  const note = largest
    .toSorted((one, other) => other.bytes - one.bytes)
    .slice(0, 12)
    .map(({ name, bytes }) => `${name} ${Math.round(bytes / agents).toLocaleString('en')}`)
    .join(', ')
  return { name: `bytes of an agent${suffix}`, unit: 'bytes', value: exact(total(largest) / agents), note }
}
