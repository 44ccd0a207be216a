import type { HostBundle } from './bundle.ts'
import { Load, type Requests } from './load.ts'
import { cpuMilliseconds, portOf, type Server } from './servers.ts'
import { exact, type Figure, interval, median, seededRandom } from './stats.ts'

/**
 * How long to measure: rounds, the milliseconds of a slice, and the milliseconds of load before the first round; and
 * what: `only` is part of the names of the figures of calls.
 */
export type Effort = { rounds: number; milliseconds: number; warmUp: number; only?: string }

/** Checks whether the figure of a call with this name is to be measured. */
export const isMeasured = (name: string, { only = '' }: Effort): boolean => name.includes(only)

/** What every scenario needs: the host, and a function that makes an empty directory. */
export type Setting = { bundle: HostBundle; directory: () => string; effort: Effort }

/** A server in a comparison, and the requests sent to it. */
export type Entrant = { name: string; server: Server; requests: Requests } & Pick<Figure, 'better' | 'note'>

/** One slice: responses per second, CPU milliseconds for each, and the share of its core that the server was busy. */
type Slice = { rate: number; cpu: number; busy: number }

/**
 * Compares servers with a baseline. Loads one server at a time in short slices, each of them once a round and in another order
 * each time: what disturbs one slice disturbs its neighbours, so ratios within a round are stable where absolute figures are not.
 */
export const compare = async (baseline: Entrant, others: readonly Entrant[], effort: Effort): Promise<Figure[]> => {
  const entrants = [baseline, ...others]
  const loads: Load[] = []
  for (const { server, requests } of entrants) {
    const load = await Load.open(portOf(server), requests)
    await load.run(effort.warmUp)
    loads.push(load)
  }
  const random = seededRandom(effort.rounds)
  const slices: Slice[][] = entrants.map(() => [])
  for (let round = 0; round < effort.rounds; round++)
    for (const index of shuffle(entrants.keys(), random)) {
      const [load, entrant] = [loads[index], entrants[index]]
      if (load && entrant) slices[index]?.push(await measure(load, entrant.server.pid, effort.milliseconds))
    }
  for (const load of loads) load.close()
  const base = slices[0] ?? []
  return entrants.map(({ name, better, note }, index) => {
    const own = slices[index] ?? []
    const ratios = (ratio: (own: Slice, base: Slice) => number) =>
      interval(own.map((slice, round) => ratio(slice, base[round] ?? slice)))
    return {
      name,
      unit: 'ratio',
      value: index === 0 ? exact(1) : ratios((slice, base) => slice.rate / base.rate),
      ...(index > 0 && { cpu: ratios((slice, base) => base.cpu / slice.cpu) }),
      rate: median(own.map(({ rate }) => rate)),
      busy: median(own.map(({ busy }) => busy)),
      ...(better && { better }),
      ...(note !== undefined && { note }),
    }
  })
}

/** Loads a server for a time in milliseconds, before anything is measured. */
export const warmUp = async (server: Server, requests: Requests, milliseconds: number): Promise<void> => {
  const load = await Load.open(portOf(server), requests)
  await load.run(milliseconds)
  load.close()
}

const shuffle = (items: Iterable<number>, random: () => number): number[] =>
  [...items]
    .map(item => ({ item, place: random() }))
    .sort((left, right) => left.place - right.place)
    .map(({ item }) => item)

const measure = async (load: Load, pid: number, milliseconds: number): Promise<Slice> => {
  const before = cpuMilliseconds(pid)
  const { responses, seconds } = await load.run(milliseconds)
  const spent = cpuMilliseconds(pid) - before
  return { rate: responses / seconds, cpu: spent / responses, busy: spent / (seconds * 1000) }
}
