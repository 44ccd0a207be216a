import { globSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { workerBundle } from '../bundle.ts'
import type { Setting } from '../compare.ts'
import { numberedId } from '../registry-agents.ts'
import { cardOfSize } from '../requests.ts'
import {
  cpuMilliseconds,
  hostWorker,
  originOf,
  portOf,
  register,
  type Server,
  startKv,
  startWorkerd,
} from '../servers.ts'
import { exact, type Figure, interval, median } from '../stats.ts'
import { SEARCHES } from './searches.ts'
import { simulatedRegistry } from './simulated-registry.ts'
import { throughput } from './throughput.ts'

/** Bounds of what the Registry does, in ms, and of a write beside the same without the index. */
const [SEARCH_MS, LIST_MS, WRITE_RATIO] = [15, 10, 1.5]

/** More agents than these are simulated: a Durable Object has no room for them. */
const MAX_AGENTS = 200_000

const AGENTS_PER_REQUEST = 2_000
const WRITES_PER_BATCH = 200
const EXPORTED_PAGES = 20

/** CPU time of searches, lists, exports and writes inside a Registry with many agents, on disk. */
export const registry = async (setting: Setting, agents: number): Promise<Figure[]> => {
  if (agents > MAX_AGENTS) return nameSize(simulatedRegistry(setting, agents), agents)
  return [...nameSize(await wholeRegistry(setting, agents), agents), ...(await throughput(setting))]
}

const nameSize = (figures: readonly Figure[], agents: number): Figure[] =>
  figures.map(figure => ({ ...figure, name: `${figure.name}, ${agents.toLocaleString('en')} agents` }))

const wholeRegistry = async ({ bundle, directory, effort }: Setting, agents: number): Promise<Figure[]> => {
  const kv = await startKv(0)
  const storage = directory()
  const modules = { 'registry.js': await workerBundle('registry'), ...bundle.modules }
  const host = await startWorkerd({
    services: {
      host: hostWorker({ ...bundle, modules }),
      kv: { port: portOf(kv) },
      disk: { directory: storage },
    },
    sockets: ['host'],
  })
  await register(portOf(host), 'template', cardOfSize(2_000, '1.0.0'))
  const registration = await fill(host, agents)
  const figures = [
    ...(await searches(host, effort.rounds)),
    await list(host, agents, effort.rounds),
    await writes(host, agents, effort.rounds),
    registration,
    await exports(host),
  ]
  await Promise.all([host, kv].map(server => server.stop()))
  return [...figures, sizeOf(storage, agents)]
}

/** Calls the Registry that is measured. Returns its answer and the CPU time of the process. */
const measure = async (host: Server, method: string, argument: object): Promise<{ result: number; ms: number }> => {
  const before = cpuMilliseconds(host.pid)
  const response = await fetch(`${originOf(host)}/measure/${method}`, {
    method: 'POST',
    body: JSON.stringify(argument),
  })
  if (!response.ok) throw new Error(`${method}: ${response.status} ${await response.text()}`)
  const result = (await response.json()) as number
  return { result, ms: cpuMilliseconds(host.pid) - before }
}

const fill = async (host: Server, agents: number): Promise<Figure> => {
  const samples: number[] = []
  for (let from = 0; from < agents; from += AGENTS_PER_REQUEST) {
    const to = Math.min(agents, from + AGENTS_PER_REQUEST)
    samples.push((await measure(host, 'fill', { from, to })).ms / (to - from))
  }
  return { name: 'registration of a new agent', unit: 'ms', value: interval(samples), rate: 1000 / median(samples) }
}

const repeat = async (host: Server, method: string, argument: object, times: number): Promise<number> =>
  (await measure(host, 'repeat', { method, argument, times })).ms / times

/** The median over the mix of each round, and the slowest search by itself. */
const searches = async (host: Server, rounds: number): Promise<Figure[]> => {
  const names = Object.keys(SEARCHES)
  const samples = new Map<string, number[]>(names.map(name => [name, []]))
  for (const search of Object.values(SEARCHES)) await repeat(host, 'search', search, 2)
  for (let round = 0; round < rounds; round++)
    for (const [name, search] of Object.entries(SEARCHES))
      samples.get(name)?.push(await repeat(host, 'search', search, 5))
  const perRound = Array.from({ length: rounds }, (_, round) =>
    median([...samples.values()].map(each => each[round] ?? Number.NaN)),
  )
  const medians = [...samples].map(([name, each]): [string, number] => [name, median(each)])
  const [slowest = ''] = medians.toSorted(([, one], [, other]) => other - one)[0] ?? []
  const note = medians.map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`).join('; ')
  return [
    { name: 'search, median of a mix', unit: 'ms', value: interval(perRound), bound: { max: SEARCH_MS }, note },
    { name: 'search, the slowest of the mix', unit: 'ms', value: interval(samples.get(slowest) ?? []), note: slowest },
  ]
}

const list = async (host: Server, agents: number, rounds: number): Promise<Figure> => {
  const samples: number[] = []
  for (let round = 0; round < rounds; round++) {
    const after = numberedId(Math.floor((agents * round) / rounds))
    samples.push(await repeat(host, 'list', { after, limit: 101, covered: [] }, 5))
  }
  return { name: 'page of a list', unit: 'ms', value: interval(samples), bound: { max: LIST_MS } }
}

/** New revisions of agents all over the registry, in turn with and without the statements that write the index. */
const writes = async (host: Server, agents: number, rounds: number): Promise<Figure> => {
  const [own, base]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    const from = Math.floor((agents * ((round * 7) % rounds)) / rounds)
    const to = Math.min(agents, from + WRITES_PER_BATCH)
    for (const isIndexed of round % 2 === 0 ? [true, false] : [false, true]) {
      const version = 2 * round + (isIndexed ? 1 : 2)
      const { ms } = await measure(host, 'fill', { from, to, version, isIndexed })
      ;(isIndexed ? own : base).push(ms / (to - from))
    }
  }
  return {
    name: 'write of a new revision, beside the same without the index',
    unit: 'ratio',
    value: interval(own.map((ms, round) => ms / (base[round] ?? ms))),
    bound: { max: WRITE_RATIO },
    note: `${median(own).toFixed(2)} ms beside ${median(base).toFixed(2)} ms`,
  }
}

/** An export has all revisions, then what is registered now. */
const exports = async (host: Server): Promise<Figure> => {
  const parts = [
    { table: 'revisions', cursor: { phase: 'revisions', id: '', seq: 0, since: 0 } },
    { table: 'agents', cursor: { phase: 'agents', id: '', since: 0 } },
  ]
  let sum = 0
  for (const part of parts) {
    const { result, ms } = await measure(host, 'export', { ...part, pages: EXPORTED_PAGES })
    sum += ms / result
  }
  return { name: 'export of an agent and a revision', unit: 'ms', value: exact(sum), rate: 1000 / sum }
}

/** Reads the file of the largest object, which is the measured one. */
const sizeOf = (storage: string, agents: number): Figure => {
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
  return { name: 'bytes of an agent', unit: 'bytes', value: exact(total(largest) / agents), note }
}
